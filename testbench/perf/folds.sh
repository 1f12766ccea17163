#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make calibrate-folds: leave one out. Predicts each rate and bandwidth with the fitted parameters
# (fitted.csv) fitted to all other points. The prediction is linear: it uses the slope of log(value)
# over log(parameter) at the present values, from one run of all points per parameter. The fit is
# least squares with each parameter held to its range. O: build folder. $1: results of all points at
# the present values.
set -euo pipefail
here=$(dirname "$0")
out=${O:-build}/calibrate
hcasim=${O:-build}/hcasim points=$here/points.csv only='B*,M*,Q*'
mkdir -p "$out/folds"
rm -f "$out"/folds/*.csv

# one line per parameter: "key present low high changed", in ps, bytes or entries
awk -F'[][ =,]+' '
	function plain(text,   n) {
		n = text + 0
		return text ~ /ns$/ ? n * 1000 : n
	}
	FNR == NR && /^\[/ { section = $2 }
	FNR == NR && / = / { present[section "." $1] = plain($2) }
	FNR != NR && /^hca\./ {
		at = present[$1]
		if (!at) { print "fitted.csv: no parameter " $1 >"/dev/stderr"; exit 1 }
		print $1, at, plain($2), plain($3), int(at * 1.06 + 0.5), $2 ~ /ns$/ ? "ps" : $2 ~ /B$/ ? "B" : ""
	}' "$here/../../configs/default.ini" "$here/fitted.csv" >"$out/folds/parameters"

while read -r key _ _ _ changed unit; do
	"$hcasim" perf --points "$points" --only "$only" -o "$out/folds/$key.csv" -s "$key=$changed$unit" >/dev/null
done <"$out/folds/parameters"

awk -v folder="$out/folds" -f "$here/folds.awk" "$out/folds/parameters" "$1"
