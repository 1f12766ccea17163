#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make calibrate: simulates every point of points.csv, compares the mean errors with their aims, and
# checks that the model changes as the silicon would when one thing is changed. O: build folder.
# Status 1: a point failed, or a change had the wrong effect.
set -euo pipefail
here=$(dirname "$0")
out=${O:-build}/calibrate
mkdir -p "$out"
hcasim=${O:-build}/hcasim points=$here/points.csv

"$hcasim" perf --points "$points" -o "$out/points.csv" --plot "$out" --stats="$out/stats.json" >"$out/report.txt"
sed '/^[A-Z][0-9]* counters$/,$d' "$out/report.txt"

# value ID [-s key=value...]: prints the result of one point
value() {
	local id=$1
	shift
	"$hcasim" perf --points "$points" --only "$id" -o "$out/one.csv" "$@" >/dev/null
	awk -F, -v id="$id" '$1 == id { print $4 }' "$out/one.csv"
}

# Prints the settings that multiply the size of every context cache by 64.
context_cache_x64() {
	awk -F'[][ =]+' '/^\[/ { section = $2 }
		section == "hca.context_cache" && /_entries = / { printf "-s hca.context_cache.%s=%d ", $1, $2 * 64 }' \
		"$here/../../configs/default.ini"
}

missed=0
# judge TEXT CONDITION: the condition is an awk expression
judge() {
	local verdict=ok
	awk "BEGIN { exit !($2) }" || { verdict=MISSED missed=1; }
	printf '  %-72s %s\n' "$1" "$verdict"
}

echo
echo "sensitivities"
read -r l01 l02 l04 q08 < <(awk -F, '$1 == "L01" { a = $4 } $1 == "L02" { b = $4 } $1 == "L04" { c = $4 } $1 == "Q08" { d = $4 }
	END { print a, b, c, d }' "$out/points.csv")

# shellcheck disable=SC2046
q08_x64=$(value Q08 $(context_cache_x64))
judge "context cache x64: Q08 from $q08 to $q08_x64 Mops (above 10)" "$q08_x64 > 10"

latency=$(awk '/^\[/ { section = $1 } section == "[host.pcie]" && /^read_latency = / { sub("ns", "", $3); print $3 }' "$here/../../configs/cx3_qdr.ini")
slower=(-s "host.pcie.read_latency=$((latency + 100))ns")
l04_slow=$(value L04 "${slower[@]}")
l02_slow=$(value L02 "${slower[@]}")
judge "PCIe read latency +100 ns: L04 from $l04 to $l04_slow us (by 80 to 120 ns)" \
	"$l04_slow - $l04 >= 0.080 && $l04_slow - $l04 <= 0.120"
judge "PCIe read latency +100 ns: L02 from $l02 to $l02_slow us (by at most 20 ns)" \
	"$l02_slow - $l02 <= 0.020 && $l02 - $l02_slow <= 0.020"

# A WQE fetch is a DMA read: the host's latency and the link both ways.
l01_off=$(value L01 -s hca.doorbell.blueflame=false)
judge "BlueFlame off: L01 from $l01 to $l01_off us (by a WQE fetch, $latency ns and more)" \
	"($l01_off - $l01) * 1000 >= $latency"
exit $missed
