#!/usr/bin/env bash
# Runs every libFuzzer target for a while from its kept corpus; what crashes or hangs is left in $O/found/TARGET and fails the run.
# O: build folder of the targets; FUZZ_FW: firmware; FUZZ_SECONDS: for each; TARGETS: which.
set -uo pipefail
cd "$(dirname "$0")/../.."
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:detect_leaks=0} UBSAN_OPTIONS=print_stacktrace=1
failed=0
for t in $TARGETS; do
	found=$O/found/$t corpus=$O/corpus/$t log=$O/found/$t.log
	mkdir -p "$found" "$corpus"
	"$O/fuzz/$t" -max_total_time="$FUZZ_SECONDS" -timeout=60 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 -verbosity=1 \
		-artifact_prefix="$found/" "$corpus" "testbench/fuzz/corpus/$t" >"$log" 2>&1
	rc=$?
	runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$log")
	edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
	if [ $rc -eq 0 ]; then
		echo "ok    $t: ${runs:-0} inputs, ${edges:-}"
	else
		failed=$((failed + 1))
		echo "FAIL  $t: see $log"
		grep -E 'ERROR|runtime error|fuzz:|Test unit written' "$log" | head -n 5 | sed 's/^/      /'
	fi
done
[ $failed -eq 0 ]
