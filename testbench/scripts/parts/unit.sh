# SPDX-License-Identifier: Apache-2.0
# The unit tests: programs of cmocka, which are the arguments. Sourced by run_tests.sh.

for t in "$@"; do
	name=${t#"$O"/}; name=${name//\//.}
	CMOCKA_MESSAGE_OUTPUT=TAP "$t" >"$logs/$name.log" 2>&1
	rc=$?
	ok=$(grep -c '^ok' "$logs/$name.log"); bad=$(grep '^not ok' "$logs/$name.log" | grep -vc '# SKIP')
	if [ $rc -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)); failed=$((failed + bad))
	if [ "$bad" -eq 0 ]; then echo "ok    $name ($ok)"; else echo "FAIL  $name"; grep -B2 -A8 '^not ok' "$logs/$name.log" | sed 's/^/      /'; fi
done
