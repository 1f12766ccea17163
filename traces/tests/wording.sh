#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wording.sh HCASIM REWORDED RUN OTHER: checks that no tool depends on the words of the log.
# REWORDED is hcasim with the texts of all trace points in capitals. RUN and OTHER are two runs that HCASIM wrote. Both programs must print
# the same about them, apart from capitals.
set -u
hcasim=$1 reworded=$2 run=$3 other=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# A golden trace cuts long lines and ends them with a hash of the rest, which differs: it is removed.
capitals() { tr '[:lower:]' '[:upper:]' | sed 's/ \.\.\. ALL [0-9A-F]*//'; }

# same COMMAND ARGUMENTS...: runs both programs and compares their output
same()
{
	"$hcasim" "$@" >"$scratch/a" 2>&1
	local rc=$?
	"$reworded" "$@" >"$scratch/b" 2>&1
	[ $? -eq $rc ] || { echo "$1: another status"; status=1; }
	[ -s "$scratch/a" ] || { echo "$1: says nothing"; status=1; }
	diff <(capitals <"$scratch/a") <(capitals <"$scratch/b") >"$scratch/diff" ||
		{ echo "$*: it depends on the words of the log"; head -5 "$scratch/diff"; status=1; }
}

same golden "$run"
cmp -s "$scratch/a" "$scratch/b" && { echo "the texts are not reworded"; status=1; }
same stages "$run"
same diff "$run" "$other"
same diff "$run" "$other" --by-qp
same diff "$run" "$run"
# the report page of a run, made by each of the two programs
mkdir "$scratch/run"
cp "$run"/* "$scratch/run/"
"$hcasim" report "$scratch/run" >/dev/null && tr '[:lower:]' '[:upper:]' <"$scratch/run/report.html" >"$scratch/page"
"$reworded" report "$scratch/run" >/dev/null && tr '[:lower:]' '[:upper:]' <"$scratch/run/report.html" | cmp - "$scratch/page" || status=1
exit $status
