#!/usr/bin/env bash
# README walks one SEND by function and file: each function must be defined in the file beside it, each folder must exist. testbench/README.md teaches on
# examples: they are run.
set -uo pipefail
cd "$(dirname "$0")/../.."
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

# Its links, files and commands are there, and the ladder of its first screen is what make run prints (times aside).
hcasim=${O:-build}/hcasim
out=$(mktemp -d)
slugs=$(sed -n 's/^## //p' README.md | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-')
for link in $(grep -oE '\]\(#[^)]*\)' README.md | tr -d '](#)'); do
	grep -qx -- "$link" <<<"$slugs" || { echo "README.md: no section #$link"; bad=1; }
done
for name in $(grep -oE '`[a-z0-9_]+/[a-z0-9_/*.-]+\.(c|h|ini|csv|md|py|sh)`' README.md | grep -v '^`build/' | tr -d '`'); do
	compgen -G "$name" >/dev/null || { echo "README.md: no file $name"; bad=1; }
done
for command in $(grep -oE 'build/hcasim [a-z]+' README.md testbench/README.md | sed 's/.* //' | sort -u); do
	"$hcasim" help "$command" >/dev/null || { echo "README.md: no command $command"; bad=1; }
done
"$hcasim" run tour --trace none -o "$out" >"$out/said" 2>&1
while read -r line; do
	grep -qF -- "$line" "$out/said" || { echo "README.md: make run does not print: $line"; bad=1; }
done < <(sed -n '/`make run` ends/,/^The files of a run/s/^    [0-9.]*  //p' README.md)
rm -rf "$out"

# testbench/README.md: each line of code stands in an example, a scenario or a header; each file it names is there; the examples pass.
readme=testbench/README.md
while read -r line; do
	case $line in "build/hcasim "*) continue ;; esac
	grep -rqF -- "$line" testbench/examples testbench/scenarios testbench/*.h || { echo "$readme: nowhere: $line"; bad=1; }
done < <(sed -n 's/^    //p' $readme)
for name in $(grep -oE '`(testbench/)?[a-z0-9_/]+\.[ch]`' $readme | tr -d '`'); do
	[ -e "$name" ] || [ -e "testbench/$name" ] || { echo "$readme: no file $name"; bad=1; }
done
examples=0
for f in testbench/examples/*.c; do
	grep -q "$f" $readme || { echo "$readme does not speak of $f"; bad=1; }
	out=$(mktemp -d)
	"${O:-build}/hcasim" run "$f" -o "$out" >"$out/said" 2>&1 || { cat "$out/said"; bad=1; }
	rm -rf "$out"
	examples=$((examples + 1))
done
[ $examples -ge 3 ] || { echo "$readme: the examples are gone"; bad=1; }
exit $bad
