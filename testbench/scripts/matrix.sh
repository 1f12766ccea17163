#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh [NAME...]: runs scenarios, all by default, with the transport of each host in hardware (hw) or in software (sw), JOBS at a time.
# Results go to build/matrix/results, a line each: scenario, sides, verdict; hcasim list --matrix prints them as a table.
# The exit status is 1 when a scenario of EXPECT (default: testbench/matrix.pass) that passed there does not pass any more.
set -uo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
hcasim=$O/hcasim
results=$O/matrix/results
expect=${EXPECT:-testbench/matrix.pass}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$O/matrix" "$O/test-logs"; touch "$results" # hcasim finds the one beside the other

one()
{
	local s=$1 sides=$2 said=$scratch/$1.$2 verdict
	local -a settings=(-s "hca0.personality=$([ "${sides%-*}" = sw ] && echo ipath || echo mlx4)" -s "hca1.personality=$([ "${sides#*-}" = sw ] && echo ipath || echo mlx4)")
	timeout "${LIMIT:-60}" "$hcasim" run "$s" "${settings[@]}" -o "$said.run" >"$said" 2>&1
	local rc=$?
	if [ $rc -eq 0 ]; then
		verdict=pass
	elif [ $rc -ge 124 ]; then # a crash, or too long: whatever it said before
		verdict=fail
	elif grep -qE '^  lacks: |^hcasim: .* has no ' "$said"; then
		verdict="refused ($(sed -nE 's/^(  lacks: |hcasim: ).* has no (.*)/\2/p' "$said" | head -1))"
	else
		verdict=fail
	fi
	printf '%s\t%s\t%s\n' "$s" "$sides" "$verdict"
	rm -rf "$said" "$said.run"
}
export -f one
export hcasim scratch LIMIT

if [ $# -eq 0 ]; then mapfile -t names < <("$hcasim" list | sed 's/  .*//'); else names=("$@"); fi
for s in "${names[@]}"; do printf "$s %s\n" ${SIDES:-hw-hw hw-sw sw-hw sw-sw}; done |
	xargs -P "${JOBS:-2}" -L 1 bash -c 'one "$0" "$1"' >"$scratch/new"
# the new lines take the place of the old ones
awk -F'\t' 'NR == FNR { seen[$1 FS $2] = 1; print; next } !(($1 FS $2) in seen)' "$scratch/new" "$results" | sort >"$scratch/all"
cp "$scratch/all" "$results"

rc=0
for s in "${names[@]}"; do
	for sides in ${SIDES:-hw-hw hw-sw sw-hw sw-sw}; do
		grep -qxF "$s $sides" "$expect" 2>/dev/null || continue
		line=$(grep "^$s	$sides	" "$results")
		[ "${line##*	}" = pass ] || { echo "$s $sides: was pass in $expect, is ${line##*	}"; rc=1; }
	done
done
awk -F'\t' '{ split($3, v, " "); n[v[1]]++ } END { printf "matrix: %d pass, %d fail, %d refused\n", n["pass"], n["fail"], n["refused"] }' "$results"
exit $rc
