#!/usr/bin/env bash
# README walks one SEND by function and file: each function must be defined in the file beside it, each folder must exist.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0
while IFS='|' read -r _ _ who where _; do
	file=$(echo "$where" | tr -d ' ')
	for name in $(grep -oE '`[a-z0-9_]+`' <<<"$who" | tr -d '`'); do
		if ! grep -qE "\b$name\(" "$file" 2>/dev/null; then
			echo "README.md: $name is not in $file"
			bad=1
		fi
	done
done < <(grep -E '^\| .*`.*\.c \|$' README.md)
[ "$(grep -cE '^\| .*`.*\.c \|$' README.md)" -ge 15 ] || { echo "README.md: the walk of a SEND is gone"; bad=1; }
while read -r dir; do
	[ -d "$dir" ] || { echo "README.md: no folder $dir"; bad=1; }
done < <(sed -n '/^## Reading order/,/^## /s/^    \([a-z0-9_/]*\/\) .*/\1/p' README.md)
exit $bad
