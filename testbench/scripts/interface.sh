#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SCENARIO_INTERFACE is the number of the declarations in the headers that scenario files include, testbench/*.h. testbench/interface holds the number
# with a checksum of them; comments and layout do not count.
#   interface.sh check   the declarations are those of the number
#   interface.sh renew   after SCENARIO_INTERFACE was raised: writes the checksum
set -euo pipefail
cd "$(dirname "$0")/../.."
record=testbench/interface

number() { sed -nE 's/.*\bSCENARIO_INTERFACE = ([0-9]+).*/\1/p' testbench/scenario.h; }

checksum()
{
	perl -0777 -pe 's{/\*.*?\*/|//[^\n]*}{}gs; s/\bSCENARIO_INTERFACE = \d+//; s/[\s\\]//g; $_ = "$ARGV\n$_\n"' testbench/*.h | sha256sum | sed 's/ .*//'
}

read -r old_number old_checksum <"$record"
case ${1:-} in
check)
	if [ "$(checksum)" = "$old_checksum" ] && [ "$(number)" = "$old_number" ]; then exit 0; fi
	if [ "$(number)" = "$old_number" ]; then
		echo "testbench/*.h: the declarations are not those of interface $old_number: raise SCENARIO_INTERFACE in testbench/scenario.h, then run $0 renew"
	else
		echo "$record: is of interface $old_number, testbench/scenario.h of $(number): run $0 renew"
	fi
	exit 1
	;;
renew)
	if [ "$(number)" -le "$old_number" ]; then
		echo "testbench/scenario.h: SCENARIO_INTERFACE is $(number), expected more than $old_number" >&2
		exit 1
	fi
	echo "$(number) $(checksum)" >"$record"
	;;
*) sed -n '3,6s/^# *//p' "$0"; exit 2 ;;
esac
