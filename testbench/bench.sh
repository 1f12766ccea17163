#!/usr/bin/env bash
# Figures of the simulator: host instructions in user mode, by perf where it counts them, by valgrind elsewhere. Prints a table, writes $O/bench.csv.
set -euo pipefail
O=${O:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

counter=valgrind
case $(perf stat -x, -e instructions:u true 2>&1 | grep instructions | cut -d, -f1 || true) in
'' | *[!0-9]*) ;;
*) counter=perf ;;
esac

# instructions HCASIM SCENARIO OPTION...: of one whole run
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

# beyond HCASIM LOAD UNITS OPTION...: what the long run costs beyond the short one, a unit
beyond()
{
	local hcasim=$1 load=$2 units=$3 long short; shift 3
	short=$(instructions "$hcasim" "bench_${load}_short" "$@")
	long=$(instructions "$hcasim" "bench_${load}_long" "$@")
	echo $(((long - short) / units))
}

packets=8192 seconds=10
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }
row() { printf '%-22s %12s  %-26s budget %s\n' "$1" "$2" "$3" "$4"; echo "$1,$2,$3,$4" >>"$scratch/csv"; }

echo 'name,value,unit,budget' >"$scratch/csv"
echo "counted by $counter"
lazy=$(beyond "$O/hcasim" write $packets --trace none -s hca.crc.eager=off)
checked=$(beyond "$O/hcasim" write $packets --trace none -s hca.crc.eager=on)
pcapng=$(beyond "$O/hcasim" write $packets --trace pcapng -s hca.crc.eager=on)
untraced=$(beyond "$O/untraced/hcasim" write $packets --trace none -s hca.crc.eager=off --fw "$O/fw/hcasim-fw.elf")
busy1=$(beyond "$O/hcasim" busy1 $packets --trace none)
busy1024=$(beyond "$O/hcasim" busy1024 $packets --trace none)
untimed=$(beyond "$O/hcasim" untimed $packets --trace none)
# KiB resident at most, of a soak of so many messages
soak_rss()
{
	"$O/hcasim" run soak --trace none -o "$scratch/run" -s sim.soak.messages="$1" >"$scratch/out"
	sed -n 's/^figure soak_rss_kib \([0-9]*\).*/\1/p' "$scratch/out"
}
rss_short=$(soak_rss 10000) rss_long=$(soak_rss 100000)
idle=$(beyond "$O/hcasim" idle $seconds --trace none)
"$O/hcasim" run bench_qps --trace none -o "$scratch/run" >"$scratch/out"
qp=$(sed -n 's/^figure qp_bytes //p' "$scratch/out")
row rc_write_4k_checked "$checked" "instructions a packet" 10000
row rc_write_4k_lazy "$lazy" "instructions a packet" 8000
row idle_second "$idle" "instructions a second" 1000000
row qp_bytes "$qp" "bytes" 256
row trace_off_ratio "$(ratio "$lazy" "$untraced")" "of a build without traces" 1.01
row trace_pcapng_ratio "$(ratio "$pcapng" "$checked")" "of traces off" 1.25
row qp1024_ratio "$(ratio "$busy1024" "$busy1")" "of one queue pair" 1.3
row timer_ratio "$(ratio "$busy1" "$untimed")" "of no ACK timers" 1.02
row soak_rss_mib "$(ratio $((rss_long - rss_short)) 1024)" "MiB grown by 90000 messages" 1
mv "$scratch/csv" "$O/bench.csv"
