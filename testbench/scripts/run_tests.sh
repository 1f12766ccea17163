#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make test: runs the unit tests (cmocka programs, given as arguments), every scenario and the checks of the tools. The last line is
# `N passed, M failed`.
#   PART="ends refuses"   only these files of parts/
set -uo pipefail
O=${O:-build}
hcasim=$O/hcasim
passed=0 failed=0
logs=$O/test-logs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$logs"; mkdir -p "$logs"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:allocator_may_return_null=1}

# each result also goes into a file, for hcasim list --behaviours
good() { passed=$((passed + 1)); echo "pass $1" >>"$logs/results"; echo "ok    $1"; }
bad() { failed=$((failed + 1)); echo "fail $1" >>"$logs/results"; echo "FAIL  $1"; ends_of "$logs/${1//\//.}.log" | sed 's/^/      /'; }
# a run of hcasim begins with what is wrong, other tools end with it
ends_of() { if [ "$(wc -l <"$1")" -le 28 ]; then cat "$1"; else head -n 14 "$1"; echo "..."; tail -n 12 "$1"; fi; }

# one NAME COMMAND...: a check; it passes if the command's exit status is 0
one()
{
	local name=$1; shift
	if "$@" >"$logs/${name//\//.}.log" 2>&1; then good "$name"; else bad "$name"; fi
}

# later NAME COMMAND...: the same, beside other checks, JOBS at a time (as many as there are processors). The command may write only to files that no other
# check uses, and its result comes when it ends. all_done waits for all of them.
declare -A running=()
later()
{
	local name=$1; shift
	[ ${#running[@]} -lt "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" ] || one_ends
	"$@" >"$logs/${name//\//.}.log" 2>&1 &
	running[$!]=$name
}
one_ends()
{
	local pid
	if wait -n -p pid "${!running[@]}"; then good "${running[$pid]}"; else bad "${running[$pid]}"; fi
	unset "running[$pid]"
}
all_done() { while [ ${#running[@]} -gt 0 ]; do one_ends; done; }

# traces_of SCENARIO: prints the folder with the traces of its run; runs it if no other check has done so. TRACES: a folder that keeps them
traces=${TRACES:-$scratch}
traces_of()
{
	local dir=$traces/$1
	[ -e "$dir/run.json" ] || "$hcasim" run "$1" -o "$dir" >"$logs/traces_of.$1.log" 2>&1
	echo "$dir"
}

mapfile -t scenarios < <("$hcasim" list | sed 's/  .*//')

parts=(unit scenarios checked views serve tree fuzz tools must_fail ends refuses vm)
for part in ${PART:-}; do
	[ -e "testbench/scripts/parts/$part.sh" ] || { echo "PART: expected some of '${parts[*]}', got '$part'" >&2; exit 2; }
done
for part in ${PART:-"${parts[@]}"}; do . "testbench/scripts/parts/$part.sh" "$@"; done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
