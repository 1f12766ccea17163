#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make extremes: runs some scenarios with every parameter at both ends of its range. A legal value must work, or be refused by name before the run.
# A device that lacks what a scenario asks for says so by name, too.
#   extremes.sh [-j N] [--sample] [DIR]
# N: runs at a time [number of processors]. Each result is a file in DIR [$O/extremes] and is not run again, so a killed extremes.sh goes on where
# it stopped. Another build, or rm -r DIR, starts again. --sample: only caches and tables, for make test; takes seconds.
# Prints a line for each run, a table of the failed ones, and "N passed, M failed". The status is 1 if a run failed.
set -uo pipefail
export O=${O:-build} dir
jobs=$(nproc) sample= dir=
while [ $# -gt 0 ]; do
	case $1 in
	-j) jobs=${2:?-j: how many}; shift ;;
	--sample) sample=1 ;;
	-*) echo "extremes.sh: unknown option $1; expected -j N or --sample" >&2; exit 2 ;;
	*) dir=$1 ;;
	esac
	shift
done
dir=${dir:-$O/extremes}

# These parameters say how much a scenario does; at the end of their range it would run for ever.
long='^sim\.(soak\.(messages|deaths|state_changes)|many\.qps|pace.*)$'
short='^hca\.(log_max_qp|translate\.m.*_entries|context_cache\..*_entries|wqe_fetch\.(entries|reads|receives))$'

# options SCENARIO: prints the options of its run
options()
{
	case $1 in
	soak) echo "--seed 1 -s sim.soak.messages=400" ;;
	soak:32) echo "--seed 1 -s sim.soak.messages=600 -s sim.soak.qps=32" ;;
	esac
}
export -f options

what_failed() { grep -m 1 -A 2 -E ' failed at |^hcasim: ' "$1" | tr -s '\n ' '  ' | cut -c1-200; }
export -f what_failed

# one "NUMBER TOTAL ROW=VALUE SCENARIO": runs it and writes status and message to its file
one()
{
	local setting=$3 scenario=$4 row=${3%%=*} file out status
	file=$dir/$setting/$scenario
	[ -e "$file" ] && return
	mkdir -p "$dir/$setting"
	out=$(mktemp -d "$dir/run.XXXXXX")
	# the setting comes last, so it wins
	timeout -k 5 "${EXTREMES_SECONDS:-120}" "$O/hcasim" run "${scenario%%:*}" $(options "$scenario") -s "$setting" --trace none -o "$out/run" >"$out/text" 2>&1
	status=$?
	case $status in
	0) echo passed ;;
	124 | 137) echo "failed: not done in ${EXTREMES_SECONDS:-120} s" ;;
	1) if grep -q '^  lacks: ' "$out/text"; then echo passed; else echo "failed: $(what_failed "$out/text")"; fi ;;
	2) if grep -qE "${row%%.*}[0-9]?\.${row#*.}" "$out/text"; then echo passed; else echo "failed: refused, and not by its name"; fi ;;
	*) echo "failed: status $status: $(what_failed "$out/text")" ;;
	esac >"$out/result"
	echo "$1/$2 $setting $scenario $(cut -d: -f1 "$out/result")"
	mv "$out/result" "$file"
	rm -rf "$out"
}
export -f one

# another build makes the old results useless
mkdir -p "$dir"
cmp -s "$dir/build" <(cksum <"$O/hcasim") || { rm -rf "${dir:?}"/*; cksum <"$O/hcasim" >"$dir/build"; }
rm -rf "$dir"/run.*

scenarios="tour soak rc_large srq_pingpong ud_send"
[ -n "$sample" ] && scenarios=soak:32
"$O/hcasim" config | awk -v scenarios="$scenarios" -v skip="$long" -v only="${sample:+$short}" '
	{ row = $1 "." $2; split($5, end, /\.\./); n = split(scenarios, s, " ") }
	row ~ skip || (only && row !~ only) { next }
	{ for (e = 1; e <= 2; e++) for (i = 1; i <= n; i++) print row "=" end[e], s[i] }' >"$dir/cases"
total=$(wc -l <"$dir/cases")
awk -v total="$total" '{ print NR, total, $0 }' "$dir/cases" | xargs -P "$jobs" -L 1 bash -c 'one "$@"' one

failed=$(while read -r setting scenario; do
	result=$(cat "$dir/$setting/$scenario" 2>/dev/null || echo "failed: was not run")
	[ "$result" = passed ] || printf '%-44s %-12s %s\n' "$setting" "$scenario" "$result"
done <"$dir/cases")
count=$(printf '%s' "$failed" | grep -c .)
[ "$count" -eq 0 ] || printf '\n%s\n' "$failed"
echo "$((total - count)) passed, $count failed"
[ "$count" -eq 0 ]
