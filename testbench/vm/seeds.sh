# SPDX-License-Identifier: Apache-2.0
# The seeded bugs of make vm-test: builds mlx4_core and mlx4_ib from Debian's linux-source, unchanged and with one bug of seeds/ at a time.
# The device must report each bug by its rule, and nothing for the unchanged driver. Sourced by bash, after checks.sh.
# A seed is a sed script. Its second line describes the bug. Its first line names the file that it changes, what tells of the bug, and when:
#   RULE      a guest error
#   stall:X   no rule is broken, but the driver hangs, fails or loses time: what waits meanwhile has the word X, as it has not for the unchanged driver
#   objects   as objects are made and destroyed
#   traffic   with traffic between the devices
#   accesses  with traffic, and only who sees each load and store of the driver can tell: in a guest in simulated time (CHECK=1 TIME=simulated)
#
# The guest of the others has an IOMMU, and its driver is watched (CHECK=1). One guest tries seed after seed, until one of them leaves it in trouble.
seed_dirs="drivers/net/ethernet/mellanox/mlx4 drivers/infiniband/hw/mlx4"

# module_source NAME DIR...: these folders of Linux's source, and build tools; in $tree, as seen from $seed_root, which is on top of the sets $seed_sets
module_source()
{
	local name=$1 version deb settings build_sets build_lists; shift
	version=$(ls "$guest_made/kernel/lib/modules")
	settings=$("$vm_src/prepare.sh" --build) || return
	eval "$settings"
	seed_sets=$build_sets
	seed_root=${build_sets%%:*}/root
	tree=/build/$name-$version
	detail="$name as Debian has it in Linux $version"
	[ -d "$seed_root$tree" ] && return
	say "source of $name from linux-source"
	LISTS=$build_lists timeout 900 "$vm_src/in_layers.sh" "$seed_sets" sh -ec 'cd /tmp; apt-get download -qq linux-source-${1%.*-*}' sh "${version%%-*}-" ||
		return 77
	deb=$(ls "$seed_root"/tmp/linux-source-*.deb)
	rm -rf "$seed_root$tree.part"; mkdir -p "$seed_root$tree.part"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards '*/linux-source-*.tar.xz' | xz -dc |
		tar -x -C "$seed_root$tree.part" --strip-components 1 --wildcards $(printf '*/%s ' "$@") || return
	rm -f "$deb"
	printf 'obj-m += %s/\n' "$@" >"$seed_root$tree.part/Kbuild"
	mv "$seed_root$tree.part" "$seed_root$tree"
}

# modules_build SETTING...: builds what is in $tree for the guests' kernel
modules_build()
{
	timeout 900 "$vm_src/in_layers.sh" "$seed_sets" make -s -j2 -C "/usr/src/linux-headers-$(ls "$guest_made/kernel/lib/modules")" \
		ARCH=$linux_arch CROSS_COMPILE=$cross M="$tree" "$@" modules
}

seed_source() { module_source mlx4 $seed_dirs; }

# seed_build NAME [FOLDER]: builds the modules with this seed of FOLDER (default: seeds) into $VM_DIR/seed/NAME and restores the tree. The seed `plain` changes nothing.
seed_build()
{
	local name=$1 file= sed=$vm_src/${2:-seeds}/$1.sed status left
	# a run that was killed leaves its seed
	for left in $(find "$seed_root$tree" -name '*.orig'); do
		mv "$left" "${left%.orig}"
		touch "${left%.orig}"
	done
	if [ $name != plain ]; then
		file=$seed_root$tree/$(awk '{ print $2; exit }' "$sed")
		cp "$file" "$file.orig"
		sed -i -f "$sed" "$file"
		if cmp -s "$file" "$file.orig"; then
			detail="seed $name does not fit the source"
			return 1
		fi
		diff -U1 "$file.orig" "$file"
	fi
	modules_build CONFIG_MLX4_EN=
	status=$?
	[ -z "$file" ] || mv "$file.orig" "$file"
	[ -z "$file" ] || touch "$file"
	[ $status -eq 0 ] || { detail="seed $name does not compile"; return 1; }
	rm -rf "$VM_DIR/seed/$name"; mkdir -p "$VM_DIR/seed/$name"
	find "$seed_root$tree" -name 'mlx4_*.ko' -exec cp -t "$VM_DIR/seed/$name" {} +
}

# seed_told NAME WORD: a word of the first line of a seed: 3 what tells, 4 when
seed_told() { [ "$1" = plain ] || awk -v word="$2" '{ print $word; exit }' "$vm_src/seeds/$1.sed"; }

seed_guest_up()
{
	[ -z "${guest_pid[a]:-}" ] || return 0
	names=(a)
	rm -rf "$share"; mkdir -p "$share"
	echo a >"$share/guests"
	IOMMU=1 CHECK=1 GUEST_WAIT=${SEED_PATIENCE:-300} SERVE= guests_up a=a,b || { guests_kill; return 1; }
	cp "$vm_src/seed_guest.sh" "$share/"
}

# seed_try NAME: ordinary use of both devices in one guest, with these modules. $seed_status: of the guest's script, 124 when it hangs;
# $seed_rules: the rules that the device reported; $seed_waits: what waited meanwhile, for two looks at least
seed_try()
{
	local id end now last='' before=0 patience=${SEED_PATIENCE:-300}
	seed_guest_up || return
	seed_waits=
	before=$(wc -l <"$VM_DIR/serve.log")
	rm -rf "$share/seed"; cp -r "$VM_DIR/seed/$1" "$share/seed"
	on_start a $patience ". /share/seed_guest.sh; seed_work /share/seed $(seed_told "$1" 4)"
	id=$on_id end=$((SECONDS + patience))
	while [ -z "${on_done[a.$id]:-}" ] && [ $SECONDS -lt $end ]; do
		answer a 2 && continue
		now=$(device_waits | sort)
		seed_waits+=$'\n'$(comm -12 <(echo "$last") <(echo "$now"))
		last=$now
	done
	seed_status=${on_done[a.$id]:-124}
	cat "$share/out/$id"; echo "status $seed_status"
	sed "1,${before}d" "$VM_DIR/serve.log"
	seed_rules=$(sed "1,${before}d" "$VM_DIR/serve.log" | grep -oE ' guest error [a-z_0-9]+' | awk '{ print $3 }' | sort | uniq -c | awk '{ print $2 }' | tr '\n' ' ')
	echo "what waited, seen every two seconds:"; echo "$seed_waits"
	# serve prints a limited number of guest errors
	[ "$seed_status" -eq 0 ] && [ "$(grep -c ' guest error ' "$VM_DIR/serve.log")" -lt 64 ] || guests_kill
}

# seed_watch NAME: traffic between both devices in a guest in simulated time, with these modules. $seed_status: of the run; $seed_rules: the rules that
# were broken; $seed_place: what the first report of the seed's rule says
seed_watch()
{
	local dir=$VM_DIR/watched told
	mkdir -p "$dir"
	{ cat "$vm_src/seed_guest.sh"; echo 'driver_load && use_traffic'; } >"$dir/script.sh"
	TIME=simulated CHECK=1 GUESTS=1 MEM=512M SMALL=1 TIMEOUT=${SEED_PATIENCE:-300} MODULES=$VM_DIR/seed/$1 SERVE= VM_DIR=$dir setpriv --pdeathsig TERM \
		"$vm_src/run.sh" "$dir/script.sh" >"$dir/$1.txt" 2>&1
	seed_status=$?
	cat "$dir/$1.txt"
	seed_rules=$(grep -oE ' guest error [a-z_0-9]+' "$dir/$1.txt" | awk '{ print $3 }' | sort -u | tr '\n' ' ')
	told=$(seed_told "$1" 3)
	seed_place=$(sed -n "s/.* guest error ${told:-none}: //p" "$dir/$1.txt" | head -n 1)
}

check_seed_watched_plain()
{
	seed_build plain && seed_watch plain || return
	detail="status $seed_status, guest errors: ${seed_rules:-none}"
	[ "$seed_status" -eq 0 ] && [ -z "$seed_rules" ]
}

# The report names a function of the driver, with its line, and the driver's calls.
check_seed_watched()
{
	seed_build "$seed" && seed_watch "$seed" || return
	detail="${seed_rules:-no guest error}: $seed_place"
	grep -qw "$(seed_told "$seed" 3)" <<<"$seed_rules" && grep -qE '[a-z0-9_]+ \([a-z_]+\.c:[0-9]+\)' <<<"$seed_place" &&
		grep -qE '^ +calls: +[a-z_]' <<<"$(grep -A 1 " guest error $(seed_told "$seed" 3):" "$VM_DIR/watched/$seed.txt")"
}

check_seed_plain()
{
	seed_build plain && seed_try plain || return
	local word
	detail="status $seed_status, guest errors: ${seed_rules:-none}"
	[ "$seed_status" -eq 0 ] && [ -z "$seed_rules" ] || return
	for word in $(sed -n 's/^# .* stall:\([^ ]*\).*/\1/p' "$vm_src"/seeds/*.sed | sort -u); do
		detail="the unchanged driver waits: $(grep -m 1 -w "$word" <<<"$seed_waits")"
		! grep -qw "$word" <<<"$seed_waits" || return
	done
	detail="status 0, guest errors: none, and no wait that names a bug"
}

check_seed()
{
	local told
	told=$(seed_told "$seed" 3)
	[ "$(seed_told "$seed" 4)" != accesses ] || { check_seed_watched; return; }
	seed_build "$seed" && seed_try "$seed" || return
	detail="${seed_rules:-no guest error }$([ "$seed_status" -eq 0 ] || echo "status $seed_status")"
	case $told in
	stall:*) detail="$detail: $(grep -m 1 -w "${told#*:}" <<<"$seed_waits")"; grep -qw "${told#*:}" <<<"$seed_waits" ;;
	*) grep -qw "$told" <<<"$seed_rules" ;;
	esac
}
