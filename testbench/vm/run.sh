#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make vm-run: runs a script in one or two guests. make vm: gives a shell in them.
#   run.sh [SCRIPT [ARGUMENT...]]   no script: a shell
#   GUESTS=1|2          1: one guest with both devices; 2 (default): one device each
#   ENV="A=1 B='x y'"   the script's environment, quoted as for a shell
#   PACKAGES="a b"      further Debian packages
#   SMALL=1             without perftest, pyverbs and iperf3
#   MODULES=dir         .ko files that are loaded instead of Debian's
#   KERNEL=vmlinuz MODULES=dir   another kernel; dir holds lib/modules/VERSION
#   OVERLAY=dir         copied over the guest's root
#   TIMEOUT=1800        seconds for the script
#   DEVICE_A=mlx4 DEVICE_B=ipath   what the two devices are
#   WIRE=1              guest b has no device but a network card of QEMU, eth1, at the other end of guest a's cable; WIRE_NIC=e1000: that one
#   SERVE="..."         further arguments of hcasim serve
#   IOMMU=1             the device reaches only memory that the driver has mapped for it
#   CHECK=1             the driver is watched, behind an IOMMU: what it takes back from the device too early is a guest error;
#                       with TIME=simulated: its loads, stores and barriers, without an IOMMU
#   ARCH=arm64          guests with arm64 processors and Debian's arm64 kernel
#   MEM=1G SMP=2        memory and processors of each guest
#   APPEND="..."        further words of the kernel's command line
#   TIME=simulated      the guests' clocks and the devices' are one clock, and each run is the same: simulated.sh
#   OUT=dir             with TIME=simulated: what the run leaves; two runs leave equal folders
#   SEED=7              with TIME=simulated: other latencies of DMA, interrupts and firmware (sim.jitter) for each seed
#   GDB=1               with TIME=simulated: stubs for gdb
#   VM_DIR=build/vm     logs and the shared folder; two runs at a time need two
# The script has $GUEST (a or b), `barrier NAME`, and the shared folder /share. The exit status is that of the first guest whose script failed
# (124: out of time, 125: the guest died, 143: this script got SIGTERM), else 1 if a guest's kernel reported an error.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
script=${1:-}
[ -n "$script" ] || CONSOLE=1
. "$vm_src/guests.sh"
. "$vm_src/code.sh"
[ -z "$script" ] || [ -r "$script" ] || die "no script $script"
[ $# -eq 0 ] || shift
case ${TIME:-wall} in
wall) [ -z "${OUT:-}${SEED:-}${GDB:-}" ] || die "OUT, SEED and GDB need TIME=simulated" ;;
simulated) [ -n "$script" ] || [ -z "${OUT:-}" ] || die "OUT needs a script, because what is typed comes at another time in each run" ;;
*) die "TIME: expected simulated or wall, got $TIME" ;;
esac
# TIME=simulated has no IOMMU: then only what needs no release is judged
[ -z "${CHECK:-}" ] || [ "${TIME:-wall}" = simulated ] || export IOMMU=1
[ -z "${SMALL:-}" ] || more_packages=
guests_prepare $more_packages + ${PACKAGES:-}
case ${GUESTS:-2} in
1) guests=(a=a,b) names=(a) ;;
2) guests=(a=a b=b) names=(a b) ;;
*) die "GUESTS: expected 1 or 2" ;;
esac
rm -rf "$share"; mkdir -p "$share"
printf '%s\n' "${names[@]}" >"$share/guests"
if [ -n "${OVERLAY:-}" ]; then
	[ -d "$OVERLAY" ] || die "OVERLAY: no folder $OVERLAY"
	cp -a "$OVERLAY" "$share/overlay"
fi

# reports: prints what the kernels and the simulator report; returns 1 if a kernel reported an error
reports()
{
	local status
	kernel_report "${names[@]}"
	status=$?
	[ -z "${NO_DEVICE:-}" ] || return $status
	code_names <"$VM_DIR/serve.log"
	if [ "${ALLOW_GUEST_ERRORS:-}" != 1 ] && ! grep -qx 'guest errors: 0' "$VM_DIR/serve.log"; then
		say "the driver broke rules of the device: see the guest errors above (ALLOW_GUEST_ERRORS=1: that does not fail the run)"
		status=1
	fi
	return $status
}

if [ -z "$script" ]; then
	: >"$share/interactive"
	[ -t 0 ] && terminal=$(stty -g) && trap 'guests_end; stty "$terminal"' EXIT && stty raw -echo
	guests_up "${guests[@]}" || exit 1
	say "$O/hcasim ctl $run_dir/ctl.sock help"$'\r'
	[ ${#names[@]} -eq 1 ] || say "this is guest a; 'busybox telnet b' reaches guest b; leave this shell to end both"$'\r'
	while guest_alive a; do
		for g in "${names[@]}"; do listen "$g" 0.5; done
	done
	guests_down
	[ -z "${terminal:-}" ] || stty "$terminal"
	reports
	exit 0
fi

# How to run the script: it may be a program, or written in another language.
script_command()
{
	local word
	declare -a words=()
	[ -z "${ENV:-}" ] || eval "words=($ENV)" || die "ENV: cannot parse $ENV"
	for word in "${words[@]}"; do
		case $word in *=*) printf 'export %q\n' "$word" ;; *) die "ENV: expected NAME=VALUE, got $word" ;; esac
	done
	printf 'set --'; [ $# -eq 0 ] || printf ' %q' "$@"; printf '\n'
	case $(head -c 80 "$script" | tr -d '\0' | head -n 1) in
	'#!'*sh | '#!'*sh\ *) echo '. /share/script' ;;
	'#!'* | *ELF*) echo 'exec /share/script "$@"' ;;
	*) echo '. /share/script' ;;
	esac
}

# show GUEST: prints the lines that its script has written since the last call
declare -A output line_begun
show()
{
	local line
	if [ ${#names[@]} -eq 1 ]; then
		cat <&"${output[$1]}"
		return
	fi
	while IFS= read -r -u "${output[$1]}" line; do
		printf '%s: %s%s\n' "$1" "${line_begun[$1]:-}" "$line"
		line_begun[$1]=
	done
	line_begun[$1]+=$line
}

# show_rest GUEST: also prints an incomplete last line, and ends it
show_rest()
{
	show "$1"
	[ ${#names[@]} -gt 1 ] || [ -z "$(tail -c 1 "$share/out/${ids[$1]}" | tr '\n\0' ' x' | tr -d ' ')" ] || echo
	[ -z "${line_begun[$1]:-}" ] || printf '%s: %s\n' "$1" "${line_begun[$1]}"
	line_begun[$1]=
}

# ended STATUS: after a signal, reports quickly what was going on
ended()
{
	local g
	trap '' INT TERM HUP
	for g in "${!output[@]}"; do show_rest "$g"; done
	say "ended by a signal; this is what the guests were doing:"
	trouble "the run was ended by a signal"
	for g in "${!output[@]}"; do show_rest "$g"; done
	guests_kill
	reports
	say "status $1"
	exit "$1"
}

command=$(script_command "$@") || exit
if [ "${TIME:-wall}" = simulated ]; then
	. "$vm_src/simulated.sh"
	simulated_run
	exit
fi
guests_up "${guests[@]}" || exit 1
trap 'ended 130' INT
trap 'ended 143' TERM HUP
install -m 755 "$script" "$share/script"
declare -A ids
for g in "${names[@]}"; do
	on_start "$g" "${TIMEOUT:-1800}" "$command"
	ids[$g]=$on_id
	exec {output[$g]}<"$share/out/$on_id"
done
status=0
running=("${names[@]}")
while [ ${#running[@]} -gt 0 ]; do
	left=()
	for g in "${running[@]}"; do
		listen "$g" 0.2
		show "$g"
		s=${on_done[$g.${ids[$g]}]:-}
		if [ -z "$s" ] && ! guest_alive "$g"; then
			s=125
			say "guest $g has died"
		fi
		if [ -z "$s" ]; then
			left+=("$g")
			continue
		fi
		show_rest "$g"
		[ ${#names[@]} -eq 1 ] || echo "--- guest $g, status $s"
		[ "$status" -ne 0 ] || status=$s
	done
	running=("${left[@]}")
done
guests_down
reports || [ "$status" -ne 0 ] || status=1
say "status $status"
exit "$status"
