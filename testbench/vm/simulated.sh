# SPDX-License-Identifier: Apache-2.0
# Guests in simulated time (TIME=simulated). Sourced by run.sh, after guests.sh.
#
# A guest's clock counts its instructions (QEMU's -icount), and a plugin makes it and the simulator's time one clock (clock/guest_clock.c). A run then
# depends on nothing but its input. So nothing may reach the guest from a thread of the host: its whole root is an initrd, it has no network card and
# no shared folder, and it sends its results over serial lines (simulated_init).
#
#   simulated_run   runs $command in the guests ${guests[@]}; prints what it writes; returns the status
#   OUT=dir         gets config.ini, packets.pcapng, run.log, run.records, stats.json of the simulator, and of each guest NAME.serial, NAME.output,
#                   NAME.files/ (what the script left in /share/files), NAME.status
#
#
# In $VM_DIR further: NAME.phases; initrd; sockets/ while the guests run: ctl.sock, NAME.gdb; and after a run NAME.symbols, for gdb: where the guest had
# its modules.
# What a guest in simulated time does without, because each byte of the initrd costs time at boot.
unneeded='./proc/* ./sys/* ./dev/* ./usr/share/doc/* ./usr/share/man/* ./usr/share/locale/* ./usr/share/info/* ./usr/share/zoneinfo/*
	./usr/share/bash-completion/* ./usr/share/lintian/* ./usr/share/keyrings/* ./usr/lib/udev/hwdb* ./var/cache/* ./var/lib/apt/* ./var/lib/dpkg/*
	./usr/share/perl/*/Unicode/* ./usr/lib/'$triplet'/gconv/* ./usr/lib/'$triplet'/perl/*/CORE/* ./usr/lib/'$triplet'/perl/*/auto/Encode/*
	./usr/lib/'$triplet'/perl/*/auto/Unicode/*'
# and the folders of kernel modules that it has, with all that they depend on
module_folders='drivers/infiniband/core drivers/infiniband/ulp drivers/infiniband/hw/mlx4 drivers/infiniband/hw/qib drivers/infiniband/sw drivers/net/ethernet/mellanox/mlx4 net/rds net/sunrpc/xprtrdma'

# cpio_of FOLDER: writes the files of a folder in an order, and with numbers, that are always the same
cpio_of() { (cd "$1" && find . | LC_ALL=C sort | in_root "$tools_root" /bin/cpio --reproducible -o -H newc --quiet); }

# root_archive FILE: the files of the packages, as the sets make them together
root_archive()
{
	local word tests=() foreign
	for word in $unneeded; do tests+=(-path "$word" -prune -o); done
	foreign "$tools_root" /bin/cpio
	LISTS= OUTSIDE=1 "$vm_src/in_layers.sh" "$guest_sets" sh -c "find . ${tests[*]@Q} -print"' | LC_ALL=C sort | "$@"' - \
		"${foreign[@]}" --reproducible -o -H newc --quiet >"$1"
}

# foreign_strip FOLDER: takes debug information out of modules for another architecture than this machine's
foreign_strip()
{
	local files
	mapfile -t files < <(grep -rl --include='*.ko' '\.debug_info' "$1")
	[ ${#files[@]} -eq 0 ] || binutil strip --strip-debug "${files[@]}"
}

# modules_archive FILE: the kernel's modules of $module_folders, not compressed and without debug information, which would fill the guest's memory
modules_archive()
{
	local version tree=$VM_DIR/modules.tree folder name path to
	version=$(ls "$modules")
	rm -rf "$tree"
	for folder in $module_folders; do find "$modules/$version" -path "*/$folder/*" -name '*.ko*'; done | sed 's|.*/||; s/\.ko.*//' | while read -r name; do
		in_root "$tools_root" /sbin/modprobe -d "${modules%/lib/modules}" -S "$version" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		to=$tree/lib/modules/$version/${path#"$modules/$version/"}
		mkdir -p "${to%/*}"
		case $path in
		*.xz) xz -dc "$path" >"${to%.xz}" ;;
		*.zst) in_root "$tools_root" /usr/bin/zstd -dcq "$path" >"${to%.zst}" ;;
		*) if [ -z "$foreign_arch" ]; then strip --strip-debug -o "$to" "$path"; else cp "$path" "$to"; fi ;;
		esac
	done
	[ -z "$foreign_arch" ] || foreign_strip "$tree" || return
	cp "$modules/$version"/modules.{order,builtin,builtin.modinfo} "$tree/lib/modules/$version/"
	in_root "$tools_root" /sbin/depmod -b "$tree" "$version"
	# bookworm's root has its libraries below /usr; a folder /lib would replace the link
	mkdir "$tree/usr"; mv "$tree/lib" "$tree/usr/lib"
	# Linux looks through the archive before it unpacks it, and other times take another number of instructions
	find "$tree" -exec touch -h -d @0 {} +
	cpio_of "$tree" >"$1"
	rm -rf "$tree"
}

# u32_at FILE OFFSET
u32_at() { od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '; }

# kernel_unpack FILE: unpacks an arm64 kernel if it is compressed, or the kernel of a bzImage (Linux: Documentation/x86/boot.rst), so that the guest need not do it, for some four simulated
# seconds. Copies the bzImage where QEMU could not boot what is in it, because it lacks the entry for PVH.
kernel_unpack()
{
	local at length
	if [ $ARCH = arm64 ]; then
		gzip -dcf "$kernel" >"$1"
		return
	fi
	at=$((($(od -An -tu1 -j $((0x1f1)) -N 1 "$kernel") + 1) * 512 + $(u32_at "$kernel" $((0x248)))))
	# the last word is the size of what is in it
	length=$(($(u32_at "$kernel" $((0x24c))) - 4))
	tail -c +$((at + 1)) "$kernel" | head -c $length >"$1.packed"
	xz -dcq "$1.packed" >"$1" 2>/dev/null || in_root "$tools_root" /usr/bin/zstd -dcqf "$1.packed" >"$1" 2>/dev/null
	rm "$1.packed"
	LC_ALL=C grep -qaP '\x12\x00\x00\x00Xen\x00' "$1" || cp "$kernel" "$1"
}

# cached NAME KEY FUNCTION: sets $made to a file of the cache that the function makes, unless it exists
cached()
{
	made=$cache/$1-$(key "$2")
	[ ! -e "$made" ] || return 0
	say "$1 for guests in simulated time ..."
	"$3" "$made.$$" && mv "$made.$$" "$made" || die "cannot make the $1 for guests in simulated time"
}

# initrd_make: the guests' initrd. Linux unpacks archives that follow each other; what is not compressed it unpacks fastest.
initrd_make()
{
	local tree=$VM_DIR/initrd.tree
	rm -rf "$tree"; mkdir -p "$tree"
	cp -a "$share" "$tree/share"
	mkdir -p "$tree/share"/{kernel,files,sync}
	install -m 755 "$vm_src/simulated_init" "$tree/init"
	{
		cat "$root_made" "$modules_made"
		[ ! -d "$share/overlay" ] || cpio_of "$share/overlay"
		find "$tree" -exec touch -h -d @0 {} +
		cpio_of "$tree"
	} >"$VM_DIR/initrd"
	rm -rf "$tree"
}

# simulated_start NAME SOCKET...
simulated_start()
{
	local name=$1 n=1 s line args=() serial clock foreign; shift
	for s in "$@"; do
		[[ " ${sockets[*]} " == *" $s "* ]] || continue
		args+=(-device "pcie-root-port,id=rp$n,chassis=$n" -device "{\"driver\":\"vfio-user-pci\",\"bus\":\"rp$n\",\"id\":\"${device_of[$s]}\",\"rombar\":0,\
\"socket\":{\"type\":\"unix\",\"path\":\"$run_dir/$s.sock\"}}")
		n=$((n + 1))
	done
	for line in serial output result phases; do
		: >"$VM_DIR/$name.$line"
		args+=(-chardev "file,id=$line,path=$VM_DIR/$name.$line")
	done
	serial_arguments serial output result phases
	clock_of "$name"
	foreign "$qemu_root" $qemu_program
	"${child[@]}" "${foreign[@]}" -L "$qemu_root/usr/share/qemu" -L "$qemu_root/usr/share/seabios" \
		-name "$name" -nodefaults -no-user-config -display none -no-reboot -smp 1 -m "$MEM" \
		-machine $machine,accel=tcg,memory-backend=mem "${processor[@]}" -object memory-backend-memfd,id=mem,size="$MEM",share=on \
		-kernel "$kernel" -initrd "$VM_DIR/initrd" \
		-append "console=${lines%%,*} quiet panic=-1 $words nokaslr iomem=relaxed HCASIM_GUEST=$name HCASIM_LINES=$lines HCASIM_LIMIT=${TIMEOUT:-1800} ${APPEND:-}" \
		"${clock[@]}" "${args[@]}" "${serial[@]}" 2>"$VM_DIR/$name.qemu.log" <&0 &
	guest_pid[$name]=$!
}

# phases_watch NAME: keeps the wall time at which each phase was seen to begin
declare -A phase_wall phase_seen
phases_watch()
{
	local n
	n=$(wc -l <"$VM_DIR/$1.phases")
	while [ "${phase_seen[$1]:-0}" -lt "$n" ]; do
		phase_seen[$1]=$((${phase_seen[$1]:-0} + 1))
		phase_wall[$1.${phase_seen[$1]}]=$EPOCHREALTIME
	done
}

# phases_report NAME START END: what a simulated second cost, by phase
phases_report()
{
	local n=0 name at last=boot last_at=0 last_wall=$2
	while read -r name at; do
		n=$((n + 1))
		printf '%s %s %s %s %s\n' "$last" "$last_at" "$at" "$last_wall" "${phase_wall[$1.$n]}"
		last=$name last_at=$at last_wall=${phase_wall[$1.$n]}
	done <"$VM_DIR/$1.phases" | awk -v guest="$1" '
		{ s = $3 - $2; w = $5 - $4; printf "guest %s %-12s %8.2f simulated s, %7.1f wall s, %6.1f wall s a simulated s\n", guest, $1, s, w, (s > 0 ? w / s : 0) }'
}

# results_take NAME: what the guest sent at its end
results_take()
{
	local name=$1
	mkdir -p "$share/$name"
	tar -C "$share/$name" -xf "$VM_DIR/$name.result" 2>/dev/null || return 1
	cp "$share/$name"/kernel/* "$share/kernel/" 2>/dev/null
	symbols_write "$name"
	return 0
}

# symbols_write NAME: commands for gdb, from the guest's list of modules and addresses. A module of the user lies in updates/, and is the one that is loaded
symbols_write()
{
	local module at section file
	while read -r module at section; do
		[ "$section" != .text ] || ! module_file "$module" || echo "add-symbol-file $file $at"
	done <"$share/$1/modules" >"$VM_DIR/$1.symbols"
}

out_write()
{
	local name
	for name in "${names[@]}"; do
		cp "$VM_DIR/$name.serial" "$VM_DIR/$name.output" "$OUT/"
		cp "$share/$name/status" "$OUT/$name.status" 2>/dev/null
		[ -z "$(ls "$share/$name/files" 2>/dev/null)" ] || cp -a "$share/$name/files" "$OUT/$name.files"
	done
}

simulated_run()
{
	local name arg made root_made modules_made start=$EPOCHREALTIME status=0 s
	cached root "$guest_sets $unneeded $(md5sum <"$vm_src/in_layers.sh")" root_archive; root_made=$made
	if [ -n "${MODULES:-}" ]; then # they may be other ones in each run
		modules_made=$VM_DIR/modules.cpio
		modules_archive "$modules_made" || die "cannot make an archive of the modules in $MODULES"
	else
		cached modules "$modules $module_folders" modules_archive; modules_made=$made
	fi
	cached kernel "$kernel $(md5sum <"$kernel")" kernel_unpack; kernel=$made
	[ -z "${SEED:-}" ] || SERVE="-s sim.jitter=on --seed $SEED ${SERVE:-}"
	install -m 755 "$script" "$share/script"
	printf '%s\n' "$command" >"$share/command"
	cp "$vm_src"/{guest_root,guest_lib,kernel_watch,storage}.sh "$share/"
	if [ -n "${OUT:-}" ]; then
		mkdir -p "$OUT"; OUT=$(cd "$OUT" && pwd); serve_out=$OUT
		case " ${SERVE:-} " in *' --trace'*) ;; *) SERVE="--trace log,records,pcapng ${SERVE:-}" ;; esac
	fi
	initrd_make
	serve_up "${names[@]}"
	ln -sfn "$run_dir" "$VM_DIR/sockets"
	start=$EPOCHREALTIME
	for arg in "${guests[@]}"; do simulated_start "${arg%%=*}" $(tr , ' ' <<<"${arg#*=}"); done
	simulated_follow
	wait_until 20 eval "! kill -0 $serve_pid 2>/dev/null" || say "serve does not end"
	mkdir -p "$share/kernel"
	for name in "${names[@]}"; do
		if results_take "$name"; then
			s=$(cat "$share/$name/status")
			grep -q '(0 late)' "$VM_DIR/$name.qemu.log" || say "QEMU was late at some ticks of guest $name, so another run may differ: $VM_DIR/$name.qemu.log"
		else
			s=125
			say "guest $name has died:"
			tail -n 5 "$VM_DIR/$name.qemu.log" "$VM_DIR/$name.serial" >&2
		fi
		[ ${#names[@]} -eq 1 ] || echo "--- guest $name, status $s"
		[ "$status" -ne 0 ] || status=$s
	done
	rm -f "$VM_DIR/sockets"
	for name in "${names[@]}"; do phases_report "$name" "$start"; done
	guests_kill
	[ -z "${OUT:-}" ] || out_write
	reports || [ "$status" -ne 0 ] || status=1
	say "status $status"
	exit "$status"
}

# guest_ended NAME: a guest that ends with an error may have told serve nothing, as when QEMU refuses the plugin. Then nobody must wait for it
declare -A guest_over
guest_ended()
{
	[ -z "${guest_over[$1]:-}" ] || return 0
	guest_over[$1]=1
	wait "${guest_pid[$1]}" || kill -TERM "$serve_pid" 2>/dev/null
}

# held_show: prints when serve holds the guests
held_show()
{
	local line
	while read -r -u "$serve_said" line; do
		case $line in 'held at '*) say "${line/SOCKET/$VM_DIR/sockets/ctl.sock}" ;; esac
	done
}

# simulated_follow: prints what the guests write until all have ended
simulated_follow()
{
	local name alive=1 serve_said
	for name in "${names[@]}"; do exec {output[$name]}<"$VM_DIR/$name.output"; done
	exec {serve_said}<"$VM_DIR/serve.log"
	while [ -n "$alive" ]; do
		alive=
		for name in "${names[@]}"; do
			if guest_alive "$name"; then alive=1; else guest_ended "$name"; fi
			phases_watch "$name"
			show "$name"
		done
		held_show
		[ -z "$alive" ] || quietly_wait 0.1
	done
	for name in "${names[@]}"; do show "$name"; done
}
