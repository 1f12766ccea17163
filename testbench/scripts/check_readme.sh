#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the documents (*.md) against the tree and the program:
#   links and files exist; functions are defined in the file that their table names; make targets, commands, options, scenarios, parameters
#   and settings exist; quick commands run; code stands in a scenario, an example or a header; output that is quoted is what the program prints.
set -uo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
hcasim=$(realpath "$O/hcasim")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
complain() { echo "$*"; bad=1; }

mapfile -t docs < <(find . -name '*.md' -not -path './build/*' | sed 's,^\./,,' | sort)
[ ${#docs[@]} -ge 6 ] || complain "only ${#docs[@]} documents"
[ "$(wc -l <README.md)" -le 160 ] || complain "README.md: more than 160 lines"

# blocks FILE: the lines of code of a document, without their indentation
blocks() { sed -n 's/^    //p' "$1"; }
# anchors FILE: the names that links to its headings have
anchors() { sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }

# --- links and files

check_links()
{
	local doc=$1 dir link file anchor
	dir=$(dirname "$doc")
	while read -r link; do
		case $link in http*) continue ;; esac
		file=${link%%#*} anchor=
		[ "$file" = "$link" ] || anchor=${link#*#}
		[ -z "$file" ] || [ -e "$dir/$file" ] || { complain "$doc: no file $link"; continue; }
		[ -z "$anchor" ] || grep -qx -- "$anchor" <<<"$(anchors "$dir/${file:-$(basename "$doc")}")" || complain "$doc: no heading $link"
	done < <(grep -oE '\]\([^)]+\)' "$doc" | sed 's/^](//; s/)$//')
}

# A file that a document names is there: from the root, from the document's folder or from its testbench/; a bare name anywhere.
placeholders=' x.sh my.c out.csv bw.csv mlx4_core.ko mlx4_ib.ko config.h ccan/minmax.h util/compiler.h my.elf '
check_files()
{
	local doc=$1 dir name
	dir=$(dirname "$doc")
	while read -r name; do
		case $name in build/* | /* | *CHAPTER* | *NAME* | *SECTION* | DIR/* | cmd_\*.c) continue ;; esac
		case $placeholders in *" $name "*) continue ;; esac
		compgen -G "$name" >/dev/null || compgen -G "$dir/$name" >/dev/null && continue
		case $name in
		*/*) ;;
		*) [ -n "$(find . -path ./build -prune -o -name "$name" -print -quit)" ] && continue ;;
		esac
		complain "$doc: no file $name"
	done < <(grep -oE '`[A-Za-z0-9_.*/-]+(\.(c|h|hpp|ini|csv|md|py|sh|ko|awk|elf)|/)`' "$doc" | tr -d '`' | sort -u)
}

# --- functions: a row of a table with `names` and a file

check_functions()
{
	local doc=$1 row file name
	while read -r row; do
		file=$(grep -oE '[a-z_0-9/]+\.(c|cpp)' <<<"$row" | tail -n 1)
		for name in $(grep -oE '`[a-z0-9_]+`' <<<"$row" | tr -d '`'); do
			grep -qE "^[a-z].*\b$name\(" "$file" 2>/dev/null || complain "$doc: $name is not defined in $file"
		done
	done < <(grep -E '^\|.*`[a-z0-9_]+`.*\| *`?[a-z_0-9/]+\.(c|cpp)`? *\|$' "$doc")
	for name in $(grep -oE '`[a-z0-9_]+\(\)`' "$doc" | tr -d '`()' | sort -u); do
		grep -rqE "\b$name\(" --include='*.[ch]' fw host_driver model testbench traces || complain "$doc: no function $name"
	done
}

# --- make targets, settings, parameters

check_make()
{
	local doc=$1 target
	for target in $(grep -oE '(`|^    |&& |run )make [a-z][a-z-]*([^a-z/-]|$)' "$doc" | sed 's/.*make //; s/[^a-z-]//g' | sort -u); do
		grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:|^\.PHONY:.* $target( |\$)" Makefile || complain "$doc: no make $target"
	done
}

check_parameters()
{
	local doc=$1 name section key
	for name in $(grep -oE '\b(sim|host|hca)[01]?(\.[a-z0-9_]+)+' "$doc" | sed -E 's/^(hca|host)[01]/\1/' | sort -u); do
		section=${name%.*} key=${name##*.}
		case $name in *.[ch]) continue ;; esac
		grep -qE "^($section +$key|$name) " "$scratch/config" || grep -q "\"${name/hca/hca0}[.\"]" "$scratch/send/stats.json" ||
			complain "$doc: no section, parameter, stage or counter $name"
	done
}

# --- commands: those named are there, with their options; those that are quick and complete run

check_command()
{
	local doc=$1 line=$2 command option name
	read -r _ command name _ <<<"$line"
	"$hcasim" help "$command" >"$scratch/help" 2>&1 || { complain "$doc: no command $command"; return; }
	for option in $(grep -oE ' --[a-z-]+' <<<"$line"); do
		grep -q -- "$option\b" "$scratch/help" || complain "$doc: $command has no $option"
	done
	case $command in
	run | stages | report | sweep | dump)
		case $name in '' | -* | *[A-Z]* | *.c | */*) ;;
		*) grep -q "^$name  " "$scratch/list" || complain "$doc: no scenario $name" ;;
		esac ;;
	esac
}

run_command()
{
	local doc=$1 line=$2
	case $line in
	*' my.c'* | *[A-Z][A-Z]* | *'$'* | *' serve '* | *' iwarp '* | *' ctl '* | *gdb* | *many_qps* | *' help') return ;;
	esac
	local most=0
	case $line in 'build/hcasim diff '*) most=1 ;; esac # they may differ
	(cd "$scratch/tree" && timeout 100 bash -c "$line" >"$scratch/said" 2>&1)
	[ $? -le $most ] || { complain "$doc: $line"; cat "$scratch/said"; }
	[ "$doc" = traces/README.md ] && cat "$scratch/said" >>"$scratch/traces_said"
	ran=$((ran + 1))
}

# The tree from another folder, so that what a command writes does not lie about here.
mkdir "$scratch/tree"
for f in *; do [ "$f" = build ] || ln -s "$PWD/$f" "$scratch/tree/$f"; done
ln -s "$(dirname "$hcasim")" "$scratch/tree/build"

"$hcasim" list >"$scratch/list"
"$hcasim" config >"$scratch/config"
"$hcasim" run rc_send --trace none -o "$scratch/send" >/dev/null
"$hcasim" run rc_send --trace log -o "$scratch/send_log" >/dev/null
ran=0
for doc in "${docs[@]}"; do
	check_links "$doc"
	check_files "$doc"
	check_functions "$doc"
	check_make "$doc"
	check_parameters "$doc"
	while read -r line; do
		check_command "$doc" "$line"
	done < <(grep -oE 'build/hcasim [a-z]+[^`&|]*' "$doc" | sed 's/   *[a-zA-Z].*//')
	# a reader has made these runs before
	for s in rc_send rc_lost_ack; do "$hcasim" run $s >/dev/null; done
	# a command in a block, up to two spaces and what is said of it
	while read -r line; do
		run_command "$doc" "$line"
	done < <(blocks "$doc" | grep '^build/hcasim ' | sed 's/   *[^ ].*//')
done
[ $ran -ge 15 ] || complain "only $ran commands were run"
[ "$(grep -cE '^\|.*`.*\.c \|$' model/README.md)" -ge 15 ] || complain "model/README.md: the walk of a SEND is gone"

# --- README.md: its ladder is what make run prints, at the times that it says after the first line; its scenario is in the tree

"$hcasim" run tour --trace none -o "$scratch/tour" >"$scratch/said" 2>&1
begun= quoted=0
while read -r time line; do
	real=$(grep -F -- "  $line" "$scratch/said" | awk 'NR == 1 { print $1 }')
	[ -n "$real" ] || { complain "README.md: make run does not print: $line"; continue; }
	[ -n "$begun" ] || begun="$time $real"
	awk -v a="$time" -v b="$real" -v begun="$begun" 'BEGIN { split(begun, z); a -= z[1]; b -= z[2]; exit !(a - b < 0.02 * b + 1e-5 && b - a < 0.02 * b + 1e-5) }' ||
		complain "README.md: make run prints another time (2 %) before: $line"
	quoted=$((quoted + 1))
done < <(blocks README.md | grep -E '^[0-9]+\.[0-9]+  ')
[ $quoted -ge 5 ] || complain "README.md: the ladder is gone"

scenario=$(sed -n 's/^    SCENARIO(\([a-z_]*\),.*/\1/p' README.md)
while read -r line; do
	grep -rqF -- "$line" testbench/scenarios/*/"$scenario.c" || complain "README.md: $scenario has no line: $line"
done < <(sed -n '/^    SCENARIO(/,/^    }/p' README.md | sed '1d; s/^ *//')

# the change log begins with this version
version=$(sed -n 's/^## \([0-9.]*\).*/\1/p' .github/CHANGELOG.md | head -n 1)
grep -qE "^hcasim ${version//./\\.}( |\$)" <<<"$("$hcasim" version)" || complain ".github/CHANGELOG.md: the newest version is $version, but: $("$hcasim" version)"

# figures that two documents have
for figure in 'latency' 'bandwidth' 'message rate'; do
	percent=$(sed -n "s/^| $figure | [0-9]* | \([0-9.]*\) %.*/\1/p" configs/CALIBRATION.md)
	grep -q "$figure $percent %" README.md || complain "README.md: $figure is $percent % in configs/CALIBRATION.md"
done

# --- testbench/README.md: each line of code stands in an example, a scenario or a header; the examples pass

readme=testbench/README.md
while read -r line; do
	case $line in 'build/hcasim '* | 'make '* | 'S='* | '$S '*) continue ;; esac
	grep -rqF -- "$line" testbench/examples testbench/scenarios testbench/*.h || complain "$readme: nowhere: $line"
done < <(blocks $readme)
examples=0
for f in testbench/examples/*.c; do
	grep -q "$f" $readme || complain "$readme does not name $f"
	"$hcasim" run "$f" -o "$scratch/example" >"$scratch/said" 2>&1 || { complain "$f fails"; cat "$scratch/said"; }
	examples=$((examples + 1))
done
[ $examples -ge 3 ] || complain "$readme: the examples are gone"

# --- traces/README.md: each line of a block is a command, printed by one of its commands, in the log of rc_send, or in points.h

[ "$(wc -l <traces/README.md)" -le 120 ] || complain "traces/README.md: more than 120 lines"
while read -r line; do
	case $line in '' | 'build/hcasim '* | 'tshark '*) continue ;; esac
	line=$(sed -E 's/^[0-9]+\.[0-9]{6} //' <<<"$line") # the log's times move with what firmware does in bring-up
	grep -qF -- "$line" "$scratch/traces_said" "$scratch/send_log/run.log" traces/points.h || complain "traces/README.md: nobody prints: $line"
done < <(blocks traces/README.md)

# --- testbench/vm/README.md: settings and the words of a guest

readme=testbench/vm/README.md
for setting in $(grep -oE '^\| [A-Z_]+=.*' $readme | cut -d'|' -f2 | grep -oE '\b[A-Z_]+=' | tr -d =); do
	case $setting in SCRIPT | ARGS | A | B) continue ;; esac
	grep -qE "\b$setting\b" testbench/vm/*.sh || complain "$readme: nobody reads $setting"
done
for word in $(sed -n '/^| in the guest/,/^$/s/^| `\([a-z_]*\).*/\1/p' $readme); do
	grep -qE "^$word\(\)" testbench/vm/guest_lib.sh testbench/vm/kernel_watch.sh || complain "$readme: no $word in a guest"
done
exit $bad
