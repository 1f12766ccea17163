#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make vm-exec: runs a command in a guest of a running make vm or make vm-run.
#   exec.sh GUEST COMMAND     COMMAND is for bash; prints its output as it comes and returns its status
#   TIMEOUT=0                 seconds; 0: no limit
set -uo pipefail
. "$(dirname "$0")/lib.sh"
share=$VM_DIR/share
[ $# -eq 2 ] && [ -n "$2" ] || die "expected a guest and a command, such as: make vm-exec GUEST=a CMD='ibv_devinfo'"
[ -e "$VM_DIR/running" ] && ! flock -n "$VM_DIR/lock" true || die "no guests are up in $VM_DIR (start make vm or make vm-run first)"
{ read -r run_dir; mapfile -t names; } <"$VM_DIR/running"
case " ${names[*]} " in *" $1 "*) ;; *) die "there is no guest $1 (${names[*]})" ;; esac
id=x$$.$1
pipe=$run_dir/$1.control.in

ended()
{
	printf 'end %s\n' "$id" >"$pipe"
	cat <&3
	exit "$1"
}

printf '. /share/guest_lib.sh\n%s\n' "$2" >"$share/cmd/$id"
: >"$share/out/$id"
exec 3<"$share/out/$id" {nothing}<> <(:)
trap 'ended 130' INT
trap 'ended 143' TERM HUP
printf 'run %s %s\n' "$id" "${TIMEOUT:-0}" >"$pipe"
until [ -e "$share/done/$id" ]; do
	[ -p "$pipe" ] || { cat <&3; die "guest $1 has ended"; }
	cat <&3
	read -r -t 0.2 -u "$nothing" _
done
cat <&3
status=$(cat "$share/done/$id")
rm -f "$share"/{cmd,out,done}/"$id"
[ "$status" -eq 0 ] || say "status $status"
exit "$status"
