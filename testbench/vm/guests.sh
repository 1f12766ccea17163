# SPDX-License-Identifier: Apache-2.0
# Starts and ends the simulator and the guests, and runs commands in them. Sourced by bash, after lib.sh.
#
#   guests_prepare [PACKAGE... [+ PACKAGE...]]   once; exits with 77 where guests cannot be had
#   run_dir                          makes a folder with a short path for sockets and pipes; it is removed at the end
#   guests_up a=a b=b                starts serve, and one guest per argument NAME=SOCKETS, with the devices at the sockets a and b
#   on a 60 'ibv_devinfo -v'         runs it in guest a for at most 60 s; its output in $on_output, its status returned
#   on_start a 60 'iperf3 -s -1'     the same in the background: id=$on_id
#   on_wait a $id
#   guests_down                      powers the guests off; kills those that do not end
#
#   MEM=1G SMP=2       memory and processors of each guest
#   APPEND=...         further words of the kernel's command line
#   DEVICE_A=mlx4 DEVICE_B=ipath   what the two devices are: hca.personality of the configuration
#   CHECK=1            the guests' drivers are watched; set IOMMU=1, too, or TIME=simulated
#   SERVE=...          further arguments of hcasim serve
#   NO_DEVICE=1        guests without a device
#   WIRE=1             guest b has no device, but a network card of QEMU, eth1, at the other end of the cable of guest a's (hca0.port1.wire)
#   WIRE_NIC=...       with WIRE=1: which one, virtio-net-pci (host_mtu=9000) or another, such as e1000
#   USER_NET=...       a second network card, eth1, of QEMU's user networking with these settings, such as hostfwd
#   REBOOT=1           a guest that resets boots again and reports that it is up; without it QEMU ends
#   ARCH=arm64         the guests' architecture: arch.sh
#   IOMMU=1            the device reaches only memory that the guest's kernel has mapped for it
#   CONSOLE=1          guest a uses this terminal, guest b has a shell over telnet
#   GUEST_WAIT=180     seconds for a guest to come up
#   WAIT_WRITES=true   guests wait for serve at each register write; that costs some 20 us
#   TIME=simulated     the guests' clocks and the devices' are one clock. What comes from outside, also over 9p and the network card, comes at another
#                      time in each run; simulated.sh has guests without that
#   ICOUNT_SHIFT=0     with TIME=simulated: an instruction of a guest takes 2^ICOUNT_SHIFT ns
#   GDB=1              with TIME=simulated: each guest has a stub for gdb, $run_dir/NAME.gdb, and gets into it when serve holds the guest
#
# In $VM_DIR: NAME.serial and NAME.qemu.log of a guest, serve.log, serve/ (the simulator's files), kernel/ (trouble.sh), share/ (the guests' /share),
# running (for exec.sh: the folder of sockets and pipes, and the guests).
MEM=${MEM:-1G} SMP=${SMP:-2} ACCEL=${ACCEL:-tcg} GUEST_WAIT=${GUEST_WAIT:-180}
share=$VM_DIR/share
declare -A guest_pid guest_in guest_out on_done
serve_pid= watch_pid= sockets=()
serve_out=$VM_DIR/serve
on_next=0
# When this script ends, everything that it started ends. A signal to the whole process group, such as that of timeout(1), reaches only this script,
# because the guests must still report what they were doing.
child=(setpriv --pdeathsig KILL)
[ -n "${CONSOLE:-}" ] || child+=(setsid)
# A guest expects a device to answer within microseconds. Without real-time priority serve may wait longer for a processor.
[ -n "${WAIT_WRITES:-}" ] || if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] && chrt -r 1 true 2>/dev/null; then WAIT_WRITES=false; else WAIT_WRITES=true; fi
. "$vm_src/trouble.sh"
# simulated seconds that a command may take are up to so many seconds of the wall clock
patience=1
plugin=$O/vm/guest-clock.so
declare -A device_of=([a]=hca0 [b]=hca1)
case " ${DEVICE_A:-} ${DEVICE_B:-} ,$no_drivers" in *' ipath '*ib_qib) die "ipath: Debian's kernel for $ARCH has no ib_qib" ;; esac
if [ "${TIME:-wall}" = simulated ]; then
	SMP=1 WAIT_WRITES=false patience=50 GUEST_WAIT=$((5 * GUEST_WAIT))
	[ -z "${IOMMU:-}${NO_DEVICE:-}" ] || die "IOMMU=1 and NO_DEVICE=1 need the wall clock: leave TIME=simulated away"
fi

# clock_of NAME: sets $clock to QEMU's arguments that give a guest its clock
clock_of()
{
	local with=$plugin,socket=$run_dir/$1.clock
	clock=()
	[ "${TIME:-wall}" = simulated ] || return 0
	if [ -n "${GDB:-}" ]; then
		clock+=(-chardev "socket,id=gdb,path=$run_dir/$1.gdb,server=on,wait=off" -gdb chardev:gdb)
		with=$with,debugger=on
	fi
	[ -z "${CHECK:-}" ] || with=$with,watch=on
	clock+=(-icount "shift=${ICOUNT_SHIFT:-0},sleep=off" -rtc base=2026-01-01,clock=vm -seed 1 -plugin "$with")
}

# iommu_build: sets $iommu_module to the driver of the guests' IOMMU, built from Debian's source
iommu_build()
{
	iommu_module=$cache/iommu-$(key "$guest_made" "$iommu_source")/$(basename "$iommu_source" .c).ko
	[ ! -e "$iommu_module" ] || return 0
	(
		. "$vm_src/seeds.sh"
		module_source iommu "$(dirname "$iommu_source")" || exit
		echo "obj-m := $(basename "$iommu_source" .c).o" >"$seed_root$tree/$(dirname "$iommu_source")/Makefile"
		modules_build && mkdir -p "$(dirname "$iommu_module")" && cp "$seed_root$tree/${iommu_source%.c}.ko" "$iommu_module"
	) >"$VM_DIR/iommu.log" 2>&1
}

# iommu_prepare: gives the initrd this driver, unless the kernel is one that may have it
iommu_prepare()
{
	local settings
	[ -n "${IOMMU:-}" ] && [ -n "$iommu_source" ] && [ -z "${KERNEL:-}${iommu_module:-}" ] || return 0
	iommu_build || { echo "vm: the driver of the guests' IOMMU does not compile: $VM_DIR/iommu.log" >&2; iommu_module=; return 1; }
	settings=$(INITRD_MODULE=$iommu_module exec setpriv --pdeathsig TERM "$vm_src/prepare.sh" "${prepared[@]}") && eval "$settings"
}

guests_prepare()
{
	local settings
	mkdir -p "$VM_DIR"
	exec 9>"$VM_DIR/lock"
	flock -n 9 || skip "another run is using $VM_DIR"
	settings=$(exec setpriv --pdeathsig TERM "$vm_src/prepare.sh" "$@") || exit $?
	eval "$settings"
	prepared=("$@")
	run_dir=$(mktemp -d /tmp/hcasim-vm.XXXXXX)
	if [ -z "${NO_DEVICE:-}" ] && ! grep -q "hcasim serve" <<<"$("$O/hcasim" --help)"; then
		skip "this hcasim has no serve"
	fi
	trap guests_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

guests_end()
{
	guests_kill
	rm -rf "$run_dir"
}

# quietly_wait SECONDS: sleeps without a child process, so that a signal ends it at once
exec {nothing}<> <(:)
quietly_wait()
{
	local word
	read -r -t "$1" -u "$nothing" word
	return 0
}

# wait_until SECONDS COMMAND...
wait_until()
{
	local end=$((SECONDS + $1)); shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		quietly_wait 0.1
	done
}

serve_ready()
{
	local s
	kill -0 "$serve_pid" 2>/dev/null || return 0
	for s in "${sockets[@]}"; do [ -S "$run_dir/$s.sock" ] || return 1; done
}

# serve_up NAME...: for these guests
serve_up()
{
	local name clocks=() wire=()
	sockets=(a b)
	if [ "${TIME:-wall}" = simulated ]; then
		[ -e "$plugin" ] || die "no $plugin: make builds it"
		for name in "$@"; do clocks+=(--guest-clock "$run_dir/$name.clock"); done
	fi
	# with a cable that leaves the simulator there is no second device
	case ${WIRE:-}${SERVE:-} in 1* | *.wire=*) sockets=(a) ;; esac
	if [ -n "${WIRE:-}" ]; then
		wire=(-s hca0.port1.type=eth -s "hca0.port1.wire=dgram:$run_dir/a.wire,$run_dir/b.wire")
	fi
	"${child[@]}" "$O/hcasim" serve $(printf -- " --socket $run_dir/%s.sock" "${sockets[@]}") --ctl "$run_dir/ctl.sock" \
		-s "hca0.personality=${DEVICE_A:-mlx4}" -s "hca1.personality=${DEVICE_B:-mlx4}" "${wire[@]}" ${CHECK:+--check} -o "$serve_out" "${clocks[@]}" ${SERVE:-} >"$VM_DIR/serve.log" 2>&1 &
	serve_pid=$!
	wait_until 20 serve_ready || die "serve does not listen, see $VM_DIR/serve.log"
	kill -0 $serve_pid 2>/dev/null || { cat "$VM_DIR/serve.log" >&2; die "serve ended at once"; }
}

# ctl WORD...: sends a command to the simulator's control socket
ctl() { "$O/hcasim" ctl "$run_dir/ctl.sock" "$@"; }

# guest_start NAME SOCKET...
guest_start()
{
	local name=$1 other=b number=1 n=1 s pipe=$run_dir/$1.control console serial foreign; shift
	[ "$name" = a ] || other=a number=2
	rm -f "$pipe".{in,out} "$run_dir/$name.net"
	mkfifo "$pipe".{in,out}
	console=(-chardev "file,id=console,path=$VM_DIR/$name.serial")
	if [ -n "${CONSOLE:-}" ] && [ "$name" = a ]; then
		console=(-chardev "stdio,id=console,signal=off,logfile=$VM_DIR/$name.serial")
	fi
	local clock
	clock_of "$name"
	local device=() network=() append=${APPEND:-} reboot=-no-reboot
	[ -z "${REBOOT:-}" ] || reboot=
	if [ -n "${IOMMU:-}" ]; then
		device+=("${iommu[@]}")
		append="$append $iommu_words"
	fi
	for s in "$@"; do
		[[ -z ${NO_DEVICE:-} && " ${sockets[*]} " == *" $s "* ]] || continue
		device+=(-device "pcie-root-port,id=rp$n,chassis=$n" -device "{\"driver\":\"vfio-user-pci\",\"bus\":\"rp$n\",\"id\":\"${device_of[$s]}\",\"rombar\":0,\
\"x-no-posted-writes\":$WAIT_WRITES,\"socket\":{\"type\":\"unix\",\"path\":\"$run_dir/$s.sock\"}}")
		n=$((n + 1))
	done
	if [ -n "${WIRE:-}" ] && [ "$name" = b ]; then
		rm -f "$run_dir/b.wire"
		network+=(-netdev "dgram,id=wire,local.type=unix,local.path=$run_dir/b.wire,remote.type=unix,remote.path=$run_dir/a.wire"
			-device "${WIRE_NIC:-virtio-net-pci,host_mtu=9000},netdev=wire,romfile=,mac=52:54:00:4c:49:12")
	fi
	[ -z "${USER_NET:-}" ] || network+=(-netdev "user,id=user,$USER_NET" -device "virtio-net-pci,netdev=user,romfile=")
	local folder='security_model=none,multidevs=remap'
	# the lowest set is the root, the others lie over it
	local sets layers=()
	IFS=: read -r -a sets <<<"$guest_sets"
	for ((n = ${#sets[@]} - 2; n >= 0; n--)); do
		layers+=(-virtfs "local,path=${sets[n]}/root,mount_tag=layer$((${#sets[@]} - 1 - n)),readonly=on,$folder")
	done
	append="$append HCASIM_LAYERS=$((${#sets[@]} - 1))"
	serial_arguments console control
	foreign "$qemu_root" $qemu_program
	"${child[@]}" "${foreign[@]}" -L "$qemu_root/usr/share/qemu" -L "$qemu_root/usr/share/seabios" \
		-name "$name" -nodefaults -no-user-config -display none $reboot -smp "$SMP" -m "$MEM" \
		-machine $machine,accel="$ACCEL",memory-backend=mem "${processor[@]}" -object memory-backend-memfd,id=mem,size="$MEM",share=on \
		-kernel "$kernel" -initrd "$initrd" \
		-append "console=${lines%%,*} quiet panic=-1 $words net.ifnames=0 iomem=relaxed HCASIM_GUEST=$name HCASIM_LINES=$lines $append" \
		"${console[@]}" -chardev "pipe,id=control,path=$pipe" "${serial[@]}" \
		-virtfs "local,path=$guest_made/root,mount_tag=root,readonly=on,$folder" "${layers[@]}" \
		-virtfs "local,path=$modules,mount_tag=modules,readonly=on,$folder" \
		-virtfs "local,path=$share,mount_tag=share,$folder" \
		-netdev "dgram,id=net,local.type=unix,local.path=$run_dir/$name.net,remote.type=unix,remote.path=$run_dir/$other.net" \
		-device "virtio-net-pci,netdev=net,romfile=,mac=52:54:00:4c:49:0$number" \
		"${network[@]}" "${device[@]}" "${clock[@]}" 2>"$VM_DIR/$name.qemu.log" <&0 &
	guest_pid[$name]=$!
	# opened for reading and writing: open must not wait for QEMU, and reading must not end with it
	begun[$name]=
	exec {guest_in[$name]}<>"$pipe.in" {guest_out[$name]}<>"$pipe.out"
}

guest_alive() { kill -0 "${guest_pid[$1]:-none}" 2>/dev/null; }

# listen NAME SECONDS: reads one line from the guest's agent; returns 1 if none comes in time, and keeps an incomplete line for later.
declare -A begun
listen()
{
	local name=$1 line whole word id status
	IFS= read -r -t "$2" -u "${guest_out[$name]}" line
	whole=$?
	begun[$name]=${begun[$name]:-}$line
	[ $whole -eq 0 ] || return 1
	read -r word id status <<<"${begun[$name]%$'\r'}"
	begun[$name]=
	case $word in
	done) on_done[$name.$id]=$status ;;
	up) on_done[$name.up]=$id ;;
	esac
}

# answer NAME SECONDS: the same, but returns 1 at once if the guest dies
answer()
{
	local end=$((SECONDS + $2))
	until listen "$1" 1; do
		guest_alive "$1" && [ $SECONDS -lt $end ] || return 1
	done
}

guests_up()
{
	local arg name t=$SECONDS
	rm -rf "$share"/{cmd,out,done,sync,kernel} "$VM_DIR/kernel"
	mkdir -p "$share"/{cmd,out,done,sync,kernel} "$VM_DIR/kernel"
	cp "$vm_src"/{agent,guest_root,guest_lib,kernel_watch,storage}.sh "$share/"
	on_done=()
	iommu_prepare || return
	[ -n "${NO_DEVICE:-}" ] || serve_up "${@%%=*}"
	device_watch &
	watch_pid=$!
	for arg in "$@"; do
		guest_start "${arg%%=*}" $(tr , ' ' <<<"${arg#*=}")
	done
	for name in "${!guest_pid[@]}"; do
		if ! answer "$name" "$GUEST_WAIT"; then
			tail -n 5 "$VM_DIR/$name.qemu.log" "$VM_DIR/$name.serial" >&2
			echo "vm: guest $name did not come up" >&2
			return 1
		fi
	done
	printf '%s\n' "$run_dir" "${!guest_pid[@]}" >"$VM_DIR/running"
	say "guests up after $((SECONDS - t)) s: $*"
}

on_start()
{
	local name=$1 seconds=$2; shift 2
	on_next=$((on_next + 1))
	on_id=$on_next.$name
	printf '. /share/guest_lib.sh\n%s\n' "$*" >"$share/cmd/$on_id"
	: >"$share/out/$on_id"
	rm -f "$share/done/$on_id"
	guest_alive "$name" || return 1
	printf 'run %s %s\n' "$on_id" "$seconds" >&"${guest_in[$name]}"
	on_limit[${on_id%.*}]=$seconds
}
declare -a on_limit

# 125: the guest did not answer
on_wait()
{
	local name=$1 id=$2 end=$((SECONDS + patience * on_limit[${2%.*}] + 60))
	while [ -z "${on_done[$name.$id]:-}" ]; do
		if [ $SECONDS -ge $end ] || ! answer "$name" $((end - SECONDS)); then
			on_output="guest $name does not answer"
			return 125
		fi
	done
	on_output=$(tr -d '\0' <"$share/out/$id")
	return "${on_done[$name.$id]}"
}

on()
{
	on_output="guest $1 is not running"
	on_start "$@" || return 125
	on_wait "$1" "$on_id"
}

guests_down()
{
	local name
	for name in "${!guest_pid[@]}"; do
		guest_alive "$name" && printf 'off\n' >&"${guest_in[$name]}"
	done
	for name in "${!guest_pid[@]}"; do
		wait_until $((60 * patience)) eval "! guest_alive $name" || say "guest $name does not power off and is killed"
	done
	guests_kill
}

guests_kill()
{
	local name
	rm -f "$VM_DIR/running"
	for name in "${!guest_pid[@]}"; do
		kill -KILL "${guest_pid[$name]}" 2>/dev/null
		wait "${guest_pid[$name]}" 2>/dev/null
		[ -z "${guest_in[$name]:-}" ] || exec {guest_in[$name]}>&- {guest_out[$name]}>&-
	done
	guest_pid=()
	if [ -n "$watch_pid" ]; then
		kill "$watch_pid" 2>/dev/null
		wait "$watch_pid" 2>/dev/null
		watch_pid=
	fi
	if [ -n "$serve_pid" ]; then
		kill -TERM "$serve_pid" 2>/dev/null
		wait_until 10 eval "! kill -0 $serve_pid 2>/dev/null" || kill -KILL "$serve_pid" 2>/dev/null
		wait "$serve_pid" 2>/dev/null
		serve_status=$?
		serve_pid=
	fi
	return 0
}
