#!/usr/bin/env bash
# Runs a script in one or two guests with a device each (make vm-run), or gives a shell in them (make vm).
#   run.sh [SCRIPT]     no script: a shell
#   GUESTS=1|2          one guest has both devices; default 2
#   PACKAGES="a b"      further Debian packages
#   MODULES=dir         .ko files that are loaded instead of Debian's
#   KERNEL=vmlinuz MODULES=dir   another kernel; dir holds lib/modules/VERSION
#   OVERLAY=dir         copied over the guest's root
#   TIMEOUT=1800        seconds for the script
#   SERVE="..."         further arguments of hcasim serve
#   IOMMU=1             the device reaches only what the driver has mapped for it, and only as long
#   MEM=1G SMP=2        of each guest
# The script sees GUEST (a or b) and `barrier NAME`; its folder of shared files is /share. The exit status is the script's, of the
# first guest whose script failed.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
. "$vm_src/guests.sh"
script=${1:-}
[ -z "$script" ] || [ -r "$script" ] || die "no script $script"
guests_prepare $more_packages + ${PACKAGES:-}
case ${GUESTS:-2} in
1) guests=(a=a,b) names=(a) ;;
2) guests=(a=a b=b) names=(a b) ;;
*) die "GUESTS is 1 or 2" ;;
esac
rm -rf "$share"; mkdir -p "$share"
printf '%s\n' "${names[@]}" >"$share/guests"
if [ -n "${OVERLAY:-}" ]; then
	[ -d "$OVERLAY" ] || die "no folder $OVERLAY"
	cp -a "$OVERLAY" "$share/overlay"
fi

if [ -z "$script" ]; then
	: >"$share/interactive"
	CONSOLE=1
	[ -t 0 ] && terminal=$(stty -g) && trap 'guests_end; stty "$terminal"' EXIT && stty raw -echo
	guests_up "${guests[@]}" || exit 1
	say "$O/hcasim ctl $run_dir/ctl.sock help"$'\r'
	[ ${#names[@]} -eq 1 ] || say "this is guest a; guest b: busybox telnet b; the end of this shell is the end"$'\r'
	while guest_alive a; do sleep 1; done
	guests_down
	[ -z "${terminal:-}" ] || stty "$terminal"
	cat "$VM_DIR/serve.log"
	exit 0
fi

guests_up "${guests[@]}" || exit 1
cp "$script" "$share/script"
declare -A ids
for g in "${names[@]}"; do
	on_start "$g" "${TIMEOUT:-1800}" ". /share/script"
	ids[$g]=$on_id
done
status=0
for g in "${names[@]}"; do
	on_wait "$g" "${ids[$g]}"
	s=$?
	[ ${#names[@]} -eq 1 ] || echo "--- guest $g, status $s"
	echo "$on_output"
	[ $status -ne 0 ] || status=$s
done
guests_down
# what the simulator has to say of the driver
cat "$VM_DIR/serve.log"
exit $status
