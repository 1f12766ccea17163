#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance scenarios over Ethernet: each must pass with RoCE v1, RoCE v2 over IPv4 and RoCE v2 over IPv6, as it does over InfiniBand, and the
# capture must be right.
#   roce_matrix.sh [SCENARIO...]   all scenarios, or these; prints a line for each that fails, and how many passed
#   KINDS="v1 v2_ipv4 v2_ipv6"     the kinds of RoCE to run
#   EACH=once                      each scenario with one of the kinds in turn (make test)
#   JOBS=2                         how many run at a time
# Scenarios that only InfiniBand has stand in testbench/ib_only.txt, with the reason. They are refused here, and not run. Those of folder ethernet
# choose their devices and kinds of RoCE themselves, so they are left out.
set -uo pipefail
export O=${O:-build}
table=testbench/ib_only.txt
read -ra kinds <<<"${KINDS:-v1 v2_ipv4 v2_ipv6}"
scratch=$(mktemp -d)
export scratch
trap 'rm -rf "$scratch"' EXIT

# reason SCENARIO: why it is not run; nothing if it is
reason() { sed -n "s/^$1 \\+//p" "$table"; }

# run_one SCENARIO KIND: prints one line
run_one()
{
	local dir=$scratch/$1-$2

	if timeout 600 "$O/hcasim" run "$1" -s hca.port1.type=eth -s hca.device=cx3pro -s "sim.ethernet.roce=$2" --trace pcapng -o "$dir" >"$dir.out" 2>&1 &&
		"$O/hcasim" check "$dir/packets.pcapng" >"$dir.out" 2>&1; then
		echo "passed $1 $2"
	else
		echo "failed $1 $2: $(head -1 "$dir.out")"
	fi
	rm -rf "$dir"
}
export -f run_one

if [ $# -gt 0 ]; then
	scenarios=("$@")
else
	mapfile -t scenarios < <("$O/hcasim" list | sed 's/  .*//' | grep -vxF -f <(sed -nE 's/^SCENARIO\((\w+),.*/\1/p' testbench/scenarios/ethernet/*.c))
	for s in $(sed 's/ .*//' "$table"); do
		[[ " ${scenarios[*]} " = *" $s "* ]] || { echo "$table: $s is no scenario" && exit 1; }
	done
fi
cells=() refused=0
for i in "${!scenarios[@]}"; do
	s=${scenarios[i]} why=$(reason "$s")
	if [ -n "$why" ]; then
		refused=$((refused + 1))
		[ $# -eq 0 ] || echo "$s: refused over Ethernet: $why"
	elif [ "${EACH:-}" = once ]; then
		cells+=("$s ${kinds[i % ${#kinds[@]}]}")
	else
		for kind in "${kinds[@]}"; do cells+=("$s $kind"); done
	fi
done
: >"$scratch/lines"
[ ${#cells[@]} -eq 0 ] || printf '%s\n' "${cells[@]}" | xargs -P "${JOBS:-2}" -L 1 bash -c 'run_one "$0" "$1"' >"$scratch/lines"
passed=$(grep -c '^passed' "$scratch/lines")
sed -n 's/^failed //p' "$scratch/lines"
echo "$passed passed, $((${#cells[@]} - passed)) failed, $refused only over InfiniBand"
[ "$passed" -eq ${#cells[@]} ]
