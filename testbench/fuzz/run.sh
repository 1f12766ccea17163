#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make fuzz: runs every libFuzzer target for a while, starting from its stored corpus. Inputs that crash or hang go to $O/found/TARGET and fail the run.
# O: build folder of the targets; PLAIN: build folder of hcasim; FUZZ_FW: firmware; FUZZ_SECONDS: per target; TARGETS: which ones.
set -uo pipefail
cd "$(dirname "$0")/../.."
# A switch between host threads clears the shadow of a stack; below the threshold without system calls.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:detect_leaks=0:clear_shadow_mmap_threshold=1048576} UBSAN_OPTIONS=print_stacktrace=1
# first inputs with the length and form of real ones, because the fuzzer takes long to find long inputs by itself
run=$O/seeds/run
mkdir -p "$O/seeds"
"$PLAIN/hcasim" run rc_atomic --trace log,records,pcapng,vcd,timeline -o "$run" >"$O/seeds.log" 2>&1 &&
	"$PLAIN/fuzz_seeds" "$O/seeds" "$run" || { cat "$O/seeds.log"; exit 1; }
export FUZZ_RUN=$run
failed=0
for t in $TARGETS; do
	found=$O/found/$t corpus=$O/corpus/$t log=$O/found/$t.log
	mkdir -p "$found" "$corpus"
	first=$(ls -d "testbench/fuzz/corpus/$t" "$O/seeds/$t" 2>/dev/null)
	# libFuzzer would run each input twice to look for leaks
	"$O/fuzz/$t" -max_total_time="$FUZZ_SECONDS" -timeout=60 -rss_limit_mb=4096 -max_len=4096 -len_control=0 -detect_leaks=0 -print_final_stats=1 -verbosity=1 \
		-artifact_prefix="$found/" "$corpus" $first >"$log" 2>&1
	rc=$?
	runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$log")
	edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
	if [ $rc -eq 0 ]; then
		# cov does not tell what all inputs reach in the firmware
		firmware=$(grep -q 'Extra Counters' "$log" && find "$corpus" $first -type f -exec "$PLAIN/fuzz/$t" {} + | grep 'edges of the firmware$')
		echo "ok    $t: ${runs:-0} inputs, ${edges:-}${firmware:+, $firmware}"
	else
		failed=$((failed + 1))
		echo "FAIL  $t: see $log"
		grep -E 'ERROR|runtime error|fuzz:|Test unit written' "$log" | head -n 5 | sed 's/^/      /'
	fi
done
[ $failed -eq 0 ]
