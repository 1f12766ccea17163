#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench: counts host instructions in user mode, with perf if it can count them and else with valgrind. Prints a table and writes $O/bench.csv.
set -euo pipefail
O=${O:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

counter=valgrind
case $(perf stat -x, -e instructions:u true 2>&1 | grep instructions | cut -d, -f1 || true) in
'' | *[!0-9]*) ;;
*) counter=perf ;;
esac

# instructions HCASIM SCENARIO OPTION...: prints the instructions of one whole run
instructions()
{
	local hcasim=$1 scenario=$2; shift 2
	if [ $counter = perf ]; then
		perf stat -x, -e instructions:u -o "$scratch/count" -- "$hcasim" run "$scenario" -o "$scratch/run" "$@" >"$scratch/out"
		grep instructions "$scratch/count" | cut -d, -f1
	else
		valgrind --tool=callgrind --callgrind-out-file=/dev/null "$hcasim" run "$scenario" -o "$scratch/run" "$@" >"$scratch/out" 2>"$scratch/count"
		sed -n 's/.*Collected *: *//p' "$scratch/count"
	fi
}

# beyond HCASIM LOAD UNITS OPTION...: prints the instructions per unit, from the difference between a long and a short run
beyond()
{
	local hcasim=$1 load=$2 units=$3 long short; shift 3
	short=$(instructions "$hcasim" "bench_${load}_short" "$@")
	long=$(instructions "$hcasim" "bench_${load}_long" "$@")
	echo $(((long - short) / units))
}

# functions HCASIM SCENARIO OPTION...: prints "instructions function" of one whole run, without callees
functions()
{
	local hcasim=$1 scenario=$2; shift 2
	valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind" "$hcasim" run "$scenario" -o "$scratch/run" "$@" >"$scratch/out" 2>"$scratch/count"
	callgrind_annotate --threshold=100 --show-percs=no --auto=no "$scratch/callgrind" 2>/dev/null |
		sed -nE "s/^ *([0-9,]+) +[^:]*:([^['(]+).*/\1 \2/p" | tr -d ,
}

# top_ten HCASIM LOAD UNITS OPTION...: prints the functions that take most instructions per unit
top_ten()
{
	local hcasim=$1 load=$2 units=$3; shift 3
	functions "$hcasim" "bench_${load}_short" "$@" >"$scratch/short"
	functions "$hcasim" "bench_${load}_long" "$@" >"$scratch/long"
	awk -v units="$units" '
		FNR == NR { count[$2] -= $1; next }
		{ count[$2] += $1 }
		END { for (f in count) printf "%8.0f  %s\n", count[f] / units, f }' "$scratch/short" "$scratch/long" |
		sort -rn | sed -n 1,10p
}

# cpu_ms COMMAND...: prints milliseconds of processor time, the smallest of three runs
cpu_ms()
{
	local least= ms
	for _ in 1 2 3; do
		ms=$( { TIMEFORMAT='%3U %3S'; time "$@" >"$scratch/out" 2>&1; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }')
		[ -n "$least" ] && [ "$least" -le "$ms" ] || least=$ms
	done
	echo "$least"
}

# Packets per second of processor time, compared with ns-3 if it can be installed; without the start of either program.
vs_ns3()
{
	local ns3=$O/ns3/udp_link ours theirs log=$scratch/ns3.log
	if ! testbench/scripts/install_deps.sh /usr/include/ns3/core-module.h:libns3-dev >"$log" 2>&1; then
		echo "vs_ns3_ratio: skipped, libns3-dev could not be installed: $(tail -1 "$log")"
		return
	fi
	mkdir -p "$O/ns3"
	g++ -std=c++17 -O2 -o "$ns3" testbench/perf/ns3/udp_link.cpp \
		-lns3-applications -lns3-point-to-point -lns3-internet -lns3-network -lns3-core
	ours=$(($(cpu_ms "$O/hcasim" run bench_write_race --trace none -o "$scratch/run" -s hca.crc.eager=on) -
		$(cpu_ms "$O/hcasim" run bench_write_short --trace none -o "$scratch/run" -s hca.crc.eager=on)))
	theirs=$(($(cpu_ms "$ns3" 201000) - $(cpu_ms "$ns3" 1000)))
	row vs_ns3_ratio "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", 204800 * b / (200000 * a) }')" "packets a second" "at least 5"
	awk -v a="$ours" -v b="$theirs" 'BEGIN {
		printf "  4 KiB over one link, a second of processor time: %.0f RC WRITE packets here, both CRCs made and checked;\n", 204800e3 / a
		printf "  %.0f UDP packets in ns-3 as Debian packages it (logging compiled in, off), no payload bytes, no checksums\n", 200000e3 / b
	}'
}

packets=8192 seconds=10
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }
row() { printf '%-22s %12s  %-26s budget %s\n' "$1" "$2" "$3" "$4"; echo "$1,$2,$3,$4" >>"$scratch/csv"; }

echo 'name,value,unit,budget' >"$scratch/csv"
echo "counted by $counter"
lazy=$(beyond "$O/hcasim" write $packets --trace none -s hca.crc.eager=off)
checked=$(beyond "$O/hcasim" write $packets --trace none -s hca.crc.eager=on)
driver=$(beyond "$O/hcasim-checked" write $packets --trace none -s hca.crc.eager=on)
pcapng=$(beyond "$O/hcasim" write $packets --trace pcapng -s hca.crc.eager=on)
untraced=$(beyond "$O/untraced/hcasim" write $packets --trace none -s hca.crc.eager=off --fw "$O/fw/hcasim-fw.elf")
busy1=$(beyond "$O/hcasim" busy1 $packets --trace none)
busy1024=$(beyond "$O/hcasim" busy1024 $packets --trace none)
untimed=$(beyond "$O/hcasim" untimed $packets --trace none)
idle=$(beyond "$O/hcasim" idle $seconds --trace none)
"$O/hcasim" run bench_qps --trace none -o "$scratch/run" >"$scratch/out"
"$O/hcasim" run bench_memory --trace none -o "$scratch/run" -s hca.crc.eager=off >"$scratch/memory"
grown=$(sed -n 's/^figure grown_kib //p' "$scratch/memory")
qp=$(sed -n 's/^figure qp_bytes //p' "$scratch/out")
row rc_write_4k_checked "$checked" "instructions a packet" 10000
row rc_write_4k_lazy "$lazy" "instructions a packet" 8000
row idle_second "$idle" "instructions a second" 1000000
row qp_bytes "$qp" "bytes" 256
row trace_off_ratio "$(ratio "$lazy" "$untraced")" "of a build without traces" 1.01
row driver_check_ratio "$(ratio "$driver" "$checked")" "of hcasim, in hcasim-checked" 2
row trace_pcapng_ratio "$(ratio "$pcapng" "$checked")" "of traces off" 1.25
row qp1024_ratio "$(ratio "$busy1024" "$busy1")" "of one queue pair" 1.3
row timer_ratio "$(ratio "$busy1" "$untimed")" "of no ACK timers" 1.02
row soak_rss_mib "$(ratio "$grown" 1024)" "MiB grown by 10 M packets" 1
vs_ns3
echo "where the instructions of rc_write_4k_checked go, valgrind's count, the ten functions with most:"
top_ten "$O/hcasim" write $packets --trace none -s hca.crc.eager=on
mv "$scratch/csv" "$O/bench.csv"
