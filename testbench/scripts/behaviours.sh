#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which scenario shows which behaviour. A scenario cites ids in its comment, "behaviours: ID ID"; testbench/BEHAVIOURS.md says what each id means.
#   behaviours.sh check   every id that is cited stands in the list, every id of the list is cited, and the list names the right scenarios
#   behaviours.sh renew   writes the scenarios into the list
#   behaviours.sh rows    B("ID", "scenario", "text"), for testbench/app/behaviours.c
set -euo pipefail
cd "$(dirname "$0")/../.."
list=testbench/BEHAVIOURS.md

# cited: "ID scenario", sorted; the ids may go on over several lines of the comment
cited()
{
	awk 'FNR == 1 { citing = 0; name = FILENAME; sub(/.*\//, "", name); sub(/\.c$/, "", name) }
	     /behaviours:/ { citing = 1; sub(/.*behaviours:/, "") }
	     { sub(/^[ \t]*\*[ \t]/, "") }
	     citing { for (i = 1; i <= NF && citing; i++)
			if ($i ~ /^[A-Z][A-Za-z0-9]*-[A-Za-z0-9.-]+$/) print $i, name; else citing = 0 }' testbench/scenarios/*/*.c | LC_ALL=C sort
}

# listed: "ID<tab>text<tab>source<tab>scenarios", as the table has them
listed() { sed -nE 's/^\| ([A-Z][A-Za-z0-9]*-[A-Za-z0-9.-]+) \| (.*) \| (.*) \| (.*) \|$/\1\t\2\t\3\t\4/p' "$list"; }

check()
{
	awk -F'\t' -v list="$list" '
		NR == FNR { split($0, word, " "); of[word[1]] = of[word[1]] (of[word[1]] == "" ? "" : " ") word[2]; next }
		function wrong(what) { print list ": " what; bad = 1 }
		seen[$1]++ { wrong($1 ": stands twice"); next }
		!($1 in of) { wrong($1 ": no scenario cites it"); next }
		$2 == "" || $3 == "" { wrong($1 ": what it means and where it comes from must be said") }
		$4 != of[$1] { wrong($1 ": cited by: " of[$1] "; the list has: " $4 "; testbench/scripts/behaviours.sh renew") }
		END { for (id in of) if (!seen[id]) wrong(id ": is not in the list; cited by: " of[id]); exit bad || !FNR }' <(cited) <(listed)
}

renew()
{
	awk 'NR == FNR { of[$1] = of[$1] (of[$1] == "" ? "" : " ") $2; next }
	     /^\| [A-Z][A-Za-z0-9]*-[A-Za-z0-9.-]+ \|/ { sub(/[^|]*\|$/, " " of[$2] " |") }
	     { print }' <(cited) "$list" >"$list.new"
	mv "$list.new" "$list"
}

rows()
{
	awk -F'\t' 'NR == FNR { gsub(/["\\]/, "\\\\&", $2); text[$1] = $2; next }
		{ split($0, word, " "); printf "B(\"%s\", \"%s\", \"%s\")\n", word[1], word[2], text[word[1]] }' <(listed) <(cited)
}

case ${1:-} in
check | renew | rows) "$1" ;;
*) sed -n '3,6s/^# *//p' "$0"; exit 2 ;;
esac
