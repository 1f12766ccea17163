#!/usr/bin/env bash
# Golden traces, traces/golden/: NAME.golden, what scenario NAME does in which order, no times (hcasim golden); NAME.times, where the time
# of its messages goes when all that costs time is set to nothing (configs/ideal.ini; hcasim stages): what is left is the wire and the host.
# A scenario belongs here when its order does not hang on its timing: hcasim diff --threshold none of a run by default and one with
# configs/ideal.ini says equal for these classes (not of bring_up: there the log reads output mailboxes as they land).
#   golden.sh compare NAME DIR   against a run of NAME in DIR
#   golden.sh renew              all of them; one more: hcasim golden DIR --only ... --phase ... >traces/golden/NAME.golden, then renew
set -euo pipefail
O=${O:-build}
hcasim=$O/hcasim
golden=traces/golden
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# phase NAME: the phase that its golden trace is of
phase() { sed -n '/^$/q; s/^phase //p' "$golden/$1.golden"; }
classes() { sed -n '/^$/q; s/^classes //p' "$golden/$1.golden"; }

# times NAME: in the ideal machine
times()
{
	"$hcasim" run "$1" -c configs/ideal.ini -o "$scratch/ideal" >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
	"$hcasim" stages "$scratch/ideal" --phase "$(phase "$1")" | sed '/^mean of /d'
}

compare()
{
	local status=0
	"$hcasim" diff "$golden/$1.golden" "$2" || status=1
	times "$1" >"$scratch/times" || status=1
	diff "$golden/$1.times" "$scratch/times" || { status=1; echo "the times of $1 in the ideal machine are others (<: golden)"; }
	[ $status -eq 0 ] || echo "if that is meant: make golden"
	return $status
}

renew()
{
	local g name
	for g in "$golden"/*.golden; do
		name=$(basename "$g" .golden)
		"$hcasim" run "$name" -o "$scratch/run" >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
		"$hcasim" golden "$scratch/run" --only "$(classes "$name")" --phase "$(phase "$name")" >"$scratch/golden"
		times "$name" >"$scratch/times"
		mv "$scratch/golden" "$g"
		mv "$scratch/times" "$golden/$name.times"
		echo "  $g"
	done
}

case ${1:-} in
compare) compare "$2" "$3" ;;
renew) renew ;;
*) sed -n '2,7s/^# *//p' "$0"; exit 2 ;;
esac
