#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Golden traces, in traces/golden/. NAME.golden: what scenario NAME does and in which order, without times (hcasim golden). NAME.times: the time of
# its messages (hcasim stages) with configs/ideal.ini, where all latencies are zero and only the wire and the host take time.
# A scenario can be golden if its order does not depend on its timing: hcasim diff --threshold none must call a default run and one with
# configs/ideal.ini equal for these classes (except bring_up, where the log shows output mailboxes as they arrive).
#   golden.sh compare NAME DIR   compares with a run of NAME in DIR
#   golden.sh renew              writes all again. To add one: hcasim golden DIR --only ... --phase ... >traces/golden/NAME.golden, then renew
set -euo pipefail
O=${O:-build}
hcasim=$O/hcasim
golden=traces/golden
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# phase NAME: prints the phase that its golden trace covers
phase() { sed -n '/^$/q; s/^phase //p' "$golden/$1.golden"; }
classes() { sed -n '/^$/q; s/^classes //p' "$golden/$1.golden"; }

# times NAME: prints its stages on the ideal machine
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
