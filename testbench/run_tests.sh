#!/usr/bin/env bash
# Runs every unit test (cmocka programs given as arguments), every scenario and the tool checks; ends with `N passed, M failed`.
set -uo pipefail
O=${O:-build}
passed=0 failed=0
logs=$O/test-logs
rm -rf "$logs"; mkdir -p "$logs"

# one NAME COMMAND...: a check that passes by its exit status
one()
{
	local name=$1; shift
	if "$@" >"$logs/$name.log" 2>&1; then
		passed=$((passed + 1)); echo "ok    $name"
	else
		failed=$((failed + 1)); echo "FAIL  $name"; tail -n 20 "$logs/$name.log" | sed 's/^/      /'
	fi
}

for t in "$@"; do
	name=${t#"$O"/}; name=${name//\//.}
	CMOCKA_MESSAGE_OUTPUT=TAP timeout 120 "$t" >"$logs/$name.log" 2>&1
	rc=$?
	ok=$(grep -c '^ok' "$logs/$name.log"); bad=$(grep -c '^not ok' "$logs/$name.log")
	if [ $rc -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)); failed=$((failed + bad))
	if [ "$bad" -eq 0 ]; then echo "ok    $name ($ok)"; else echo "FAIL  $name"; grep -B2 -A8 '^not ok' "$logs/$name.log" | sed 's/^/      /'; fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
