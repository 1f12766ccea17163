# SPDX-License-Identifier: Apache-2.0
# The seeded bugs of make vm-test: builds mlx4_core and mlx4_ib from Debian's linux-source, unchanged and with one bug of seeds/ at a time.
# The device must report each bug by its rule, and nothing for the unchanged driver. Sourced by bash, after checks.sh.
# A seed is a sed script. Its first line names the file that it changes and the rule that catches it; its second line describes the bug.
#
# The guest has an IOMMU here, so the device cannot reach a page that the driver has unmapped.
seed_dirs="drivers/net/ethernet/mellanox/mlx4 drivers/infiniband/hw/mlx4"

# module_source NAME DIR...: these folders of Linux's source, and build tools; in $tree, as seen from $seed_root, which is on top of the sets $seed_sets
module_source()
{
	local name=$1 version deb settings guest_sets; shift
	version=$(ls "$guest_made/kernel/lib/modules")
	settings=$("$vm_src/prepare.sh" linux-headers-$version make) || return
	eval "$settings"
	seed_sets=$guest_sets
	seed_root=${guest_sets%%:*}/root
	tree=/build/$name-$version
	detail="$name as Debian has it in Linux $version"
	[ -d "$seed_root$tree" ] && return
	say "source of $name from linux-source"
	LISTS=$guest_lists timeout 900 "$vm_src/in_layers.sh" "$seed_sets" sh -ec 'cd /tmp; apt-get download -qq linux-source-${1%.*-*}' sh "${version%%-*}-" ||
		return 77
	deb=$(ls "$seed_root"/tmp/linux-source-*.deb)
	rm -rf "$seed_root$tree.part"; mkdir -p "$seed_root$tree.part"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards '*/linux-source-*.tar.xz' | xz -dc |
		tar -x -C "$seed_root$tree.part" --strip-components 1 --wildcards $(printf '*/%s ' "$@") || return
	rm -f "$deb"
	printf 'obj-m += %s/\n' "$@" >"$seed_root$tree.part/Kbuild"
	mv "$seed_root$tree.part" "$seed_root$tree"
}

seed_source() { module_source mlx4 $seed_dirs; }

# seed_build NAME [FOLDER]: builds the modules with this seed of FOLDER (default: seeds) into $VM_DIR/seed/NAME and restores the tree. The seed `plain` changes nothing.
seed_build()
{
	local name=$1 file= sed=$vm_src/${2:-seeds}/$1.sed version status
	version=$(ls "$guest_made/kernel/lib/modules")
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
	timeout 900 "$vm_src/in_layers.sh" "$seed_sets" make -s -j2 -C "/usr/src/linux-headers-$version" M="$tree" CONFIG_MLX4_EN= modules
	status=$?
	[ -z "$file" ] || mv "$file.orig" "$file"
	[ -z "$file" ] || touch "$file"
	[ $status -eq 0 ] || { detail="seed $name does not compile"; return 1; }
	rm -rf "$VM_DIR/seed/$name"; mkdir -p "$VM_DIR/seed/$name"
	find "$seed_root$tree" -name 'mlx4_*.ko' -exec cp -t "$VM_DIR/seed/$name" {} +
}

# seed_run NAME: ordinary use of both devices in one guest, with these modules. With a bug some of it may hang.
seed_run()
{
	local settings id end
	settings=$(MODULES=$VM_DIR/seed/$1 "$vm_src/prepare.sh") || return
	eval "$settings"
	names=(a) rm -rf "$share"; mkdir -p "$share"
	echo a >"$share/guests"
	IOMMU=1 GUEST_WAIT=180 SERVE= guests_up a=a,b || { guests_kill; return 1; }
	on_start a 100 'driver_load || exit 1
		modinfo -n mlx4_core mlx4_ib; grep ^mlx4 /proc/modules
		opensm >/dev/null 2>&1 &
		ports_are 4 60 || exit 1
		for n in 1 2; do
			timeout 20 ibv_rc_pingpong -e -d mlx4_0 -s 65536 -n 50 >/dev/null & sleep 2
			timeout 20 ibv_rc_pingpong -e -d mlx4_1 -s 65536 -n 50 localhost || exit 1
			wait $!
		done
		ports_are 4 5; pkill opensm; sleep 1; echo all done'
	id=$on_id end=$((SECONDS + 100))
	while [ -z "${on_done[a.$id]:-}" ] && [ $SECONDS -lt $end ]; do
		answer a 2
		# stop waiting as soon as the bug has been reported
		[ "$1" = plain ] || ! grep -q "guest error $2" "$VM_DIR/serve.log" || break
	done
	seed_status=${on_done[a.$id]:-125}
	cat "$share/out/$id"; echo "status $seed_status"
	[ "$1" = plain ] && [ $seed_status -eq 0 ] && guests_down
	guests_kill
	cat "$VM_DIR/serve.log"
}

check_seed_plain()
{
	seed_build plain && seed_run plain || return
	detail="guest errors: $(sed -n 's/^guest errors: //p' "$VM_DIR/serve.log")"
	[ $seed_status -eq 0 ] && grep -q '/updates/mlx4_core' "$share/out/"* && grep -qx 'guest errors: 0' "$VM_DIR/serve.log"
}

check_seed()
{
	local rule
	rule=$(awk '{ print $3; exit }' "$vm_src/seeds/$seed.sed")
	seed_build "$seed" && seed_run "$seed" "$rule" || return
	detail=$(grep -m 1 -oE "guest error .*" "$VM_DIR/serve.log")
	[ -n "$detail" ] || { detail="no guest error, $rule expected"; return 1; }
	grep -q "guest error $rule" "$VM_DIR/serve.log"
}
