#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance scenarios over Ethernet: each must pass with RoCE v1, RoCE v2 over IPv4 and RoCE v2 over IPv6, as it does over InfiniBand.
#   roce_matrix.sh [SCENARIO...]   all scenarios, or these; prints a line for each that fails, and how many passed
#   KINDS="v1 v2_ipv4 v2_ipv6"     the kinds of RoCE to run
# Scenarios that only InfiniBand has stand in testbench/ib_only.txt, with the reason. They are refused here, and not run.
set -uo pipefail
O=${O:-build}
hcasim=$O/hcasim
table=testbench/ib_only.txt
KINDS=${KINDS:-v1 v2_ipv4 v2_ipv6}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# reason SCENARIO: why it is not run; nothing if it is
reason() { sed -n "s/^$1 \\+//p" "$table"; }

if [ $# -gt 0 ]; then
	scenarios=("$@")
else
	mapfile -t scenarios < <("$hcasim" list | sed 's/  .*//')
fi
passed=0 failed=0 refused=0
for s in "${scenarios[@]}"; do
	why=$(reason "$s")
	if [ -n "$why" ]; then
		refused=$((refused + 1))
		[ $# -eq 0 ] || echo "$s: refused over Ethernet: $why"
		continue
	fi
	for kind in $KINDS; do
		if timeout 600 "$hcasim" run "$s" -s hca.port1.type=eth -s hca.device=cx3pro -s "sim.ethernet.roce=$kind" -o "$scratch/run" \
			>"$scratch/out" 2>&1 && "$hcasim" check "$scratch/run/packets.pcapng" >"$scratch/out" 2>&1; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "$s $kind: $(head -1 "$scratch/out")"
		fi
	done
done
echo "$passed passed, $failed failed, $refused only over InfiniBand"
[ "$failed" -eq 0 ]
