# SPDX-License-Identifier: Apache-2.0
# The commands of hcasim, but for those that have a part of their own. Sourced by run_tests.sh.

one "iwarp.sockets" testbench/tests/iwarp_sockets.sh "$hcasim"
one "tool.list" grep -q '^rc_send  ' <("$hcasim" list)
one "tool.rules" grep -q '^dma_unmapped ' <("$hcasim" rules)
one "tool.config" grep -q 'ack_timeout_multiplier' <("$hcasim" config)
one "tool.extremes" testbench/scripts/extremes.sh --sample "$scratch/extremes"
one "tool.help" grep -q 'hcasim run' <("$hcasim" --help)
one "tool.dump" grep -Eq 'qpc 0x[0-9a-f]+: .*state' <("$hcasim" dump rc_send --at 2011170us)

# diff: status 0 equal, 1 different, 2 unreadable; it also works without a log, from the captures
diff_says()
{
	local rc=0
	"$hcasim" diff "$1" "$2" >"$scratch/diff" 2>&1 || rc=$?
	cat "$scratch/diff"
	[ $rc -eq "$3" ] && grep -q "$4" "$scratch/diff"
}
# the records of a run say all that its log says
records_are_the_log()
{
	local dir; dir=$(traces_of "$1")
	"$hcasim" check -v "$dir/run.records" | sed '$d' | cmp - "$dir/run.log"
}
for s in rc_lost_ack cm_connect srq_shared raw_malformed soak; do one "tool.records_are_the_log.$s" records_are_the_log "$s"; done
# what tools say does not hang on the words of the log
for s in rc_lost_ack cm_connect srq_shared; do one "tool.wording.$s" traces/tests/wording.sh "$hcasim" "$O/reworded" "$(traces_of "$s")" "$(traces_of rc_rnr)"; done
captures_alone()
{
	mkdir -p "$scratch/capture.a" "$scratch/capture.b"
	cp "$(traces_of rc_write)/packets.pcapng" "$scratch/capture.a/"
	cp "$(traces_of rc_write)/packets.pcapng" "$scratch/capture.b/"
	diff_says "$scratch/capture.a" "$scratch/capture.b" 0 '^equal: .* packets out' || return 1
	printf '\x5a' | dd of="$scratch/capture.b/packets.pcapng" bs=1 seek=$(($(stat -c %s "$scratch/capture.b/packets.pcapng") - 3000)) conv=notrunc status=none
	diff_says "$scratch/capture.a" "$scratch/capture.b" 1 'the packets differ from byte .* B 5a'
}
slower_cable()
{
	"$hcasim" run rc_send -s hca.link.delay=60ns -o "$scratch/slower" >/dev/null &&
		diff_says "$(traces_of rc_send)" "$scratch/slower" 1 '^  hca0 wire .* +50.000 ' && grep -q '^equal: ' "$scratch/diff" &&
		grep -q '^  hca.link.delay: 10ns | 60ns' "$scratch/diff"
}
one "tool.diff_equal" diff_says "$(traces_of rc_send)" "$(traces_of rc_send)" 0 '^times are equal'
one "tool.diff_different" diff_says "$(traces_of rc_send)" "$(traces_of rc_lost_ack)" 1 'they differ in: ack_timeout 0xe,  |  ack_timeout 0xa,'
one "tool.diff_trouble" diff_says "$(traces_of rc_send)" "$scratch/nowhere" 2 'nowhere: No such file'
one "tool.diff_captures" captures_alone
one "tool.diff_slower_cable" slower_cable

# sweep: one row per combination with the counters of its run; --list and --collect give the same; a failure is shown
sweep_rows()
{
	local vary=(--vary hca.link.delay=10ns,1us --vary hca0.responder.ack_coalesce=1,4 --show hca0.link_port.tx_packets)
	"$hcasim" sweep rc_many "${vary[@]}" -j 2 -o "$scratch/sweep.csv" || return 1
	[ "$(wc -l <"$scratch/sweep.csv")" -eq 5 ] || return 1
	"$hcasim" run rc_many -s hca.link.delay=1us -s hca0.responder.ack_coalesce=4 -o "$scratch/cell" >/dev/null || return 1
	grep -q "^1us,4,.*,$(sed -n 's/.*"hca0.link_port.tx_packets": \([0-9]*\).*/\1/p' "$scratch/cell/stats.json"),passed$" "$scratch/sweep.csv" || return 1
	rm -r "$O/traces/sweep/rc_many"
	! "$hcasim" sweep rc_many "${vary[@]}" --collect >"$scratch/out" 2>&1 && grep -q 'has not run' "$scratch/out" || return 1
	"$hcasim" sweep rc_many "${vary[@]}" --list | xargs -P 2 -d '\n' -n 1 sh -c >/dev/null &&
		"$hcasim" sweep rc_many "${vary[@]}" --collect -o "$scratch/collected.csv" && cmp "$scratch/sweep.csv" "$scratch/collected.csv"
}
sweep_shows_failure()
{
	local rc=0
	"$hcasim" sweep rc_send --vary sim.time_limit=1us,60s >"$scratch/out" 2>&1 || rc=$?
	cat "$scratch/out"
	[ $rc -eq 1 ] && grep -Eq '^ +1us .* FAILED$' "$scratch/out" && grep -Eq '^ +60s .* passed$' "$scratch/out" && grep -q 'rc_send failed at' "$scratch/out"
}

# counters: text, JSON and stats.json are equal, and show what slows a device down
perf_stats()
{
	"$hcasim" perf --points testbench/perf/points.csv --only 'L01,M01' --stats="$scratch/perf.json" >"$scratch/out" &&
		python3 -c 'import json, sys; points = json.load(open(sys.argv[1])); assert sorted(points) == ["L01", "M01"]
for p in points.values(): assert p["hca1.responder.packets"] > 0' "$scratch/perf.json" && grep -q '^M01 counters$' "$scratch/out"
}
# PCIe credits on the machine of point B11 (FDR, 64 KiB WRITEs). The expected MiB/s are calculated by hand: what fits into the credits, per round
# trip. Credits return 2 * (50 + 100) + 70 ns after a TLP. A TLP takes 35.8 ns, a read request 3.3 ns, and a read of 512 bytes is done after 774 ns.
pcie_credits()
{
	local setting=$1 mib=$2
	"$hcasim" perf --points testbench/perf/points.csv --only B11 -s "$setting" -o "$scratch/credits.csv" || return 1
	awk -F, -v mib="$mib" '$1 == "B11" { exit !($4 > 0.95 * mib && $4 < 1.05 * mib) }' "$scratch/credits.csv"
}
one "pcie_credits.posted_data" pcie_credits host.pcie.posted_data=80 3008
one "pcie_credits.posted_headers" pcie_credits host.pcie.posted_headers=4 2616
one "pcie_credits.nonposted_headers" pcie_credits host.pcie.nonposted_headers=1 1308
one "pcie_credits.completion_data" pcie_credits hca.pcie.completion_data=512 631
one "pcie_credits.completion_headers" pcie_credits hca.pcie.completion_headers=2 631
one "tool.stats" timeout 300 python3 testbench/tests/stats_check.py "$hcasim" soak "$scratch/stats"
one "tool.perf_stats" perf_stats

one "tool.sweep_rows" sweep_rows
one "tool.sweep_shows_failure" sweep_shows_failure

# report: the same run gives the same page; a browser can show it, even with more than 100,000 packets
report_repeats()
{
	local dir; dir=$(traces_of rc_lost_ack)
	"$hcasim" report "$dir" && cp "$dir/report.html" "$scratch/first.html" && "$hcasim" report "$dir" >/dev/null && cmp "$scratch/first.html" "$dir/report.html"
}
report_browser()
{
	"$hcasim" run testbench/tests/report_packets.c --trace log,records -o "$scratch/report_packets" || return 1
	"$hcasim" run rc_reordered --trace pcapng -o "$scratch/report_capture" && "$hcasim" report "$scratch/report_capture" || return 1
	for s in "$(traces_of tour)" "$(traces_of rc_lost_ack)" "$(traces_of bring_up)" "$scratch/report_packets"; do
		"$hcasim" report "$s" || return 1
	done
	timeout 300 testbench/scripts/report_test.py "$(traces_of tour)" "$(traces_of rc_lost_ack)" "$(traces_of bring_up)" "$scratch/report_packets"
}
one "tool.report_repeats" report_repeats
if command -v chromium >/dev/null && command -v python3 >/dev/null; then
	one "tool.report_browser" report_browser
else
	echo "skip  tool.report_browser (no chromium, no python3)"
fi

outside_scenario()
{
	sed 's/SCENARIO(rc_send/SCENARIO(outside/' testbench/scenarios/rc/rc_send.c >"$scratch/outside.c"
	local exe; exe=$(realpath "$hcasim")
	(cd / && "$exe" run "$scratch/outside.c" -o "$scratch/outside")
}
one "tool.outside_scenario" outside_scenario

# A capture with one wrong byte and a wrong scenario must both be found.
check_finds_damage()
{
	local f=$scratch/damaged.pcapng
	cp "$(traces_of rc_write)/packets.pcapng" "$f"
	printf '\x5a' | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") - 3000)) conv=notrunc status=none
	! "$hcasim" check "$f"
}
one "tool.check_finds_damage" check_finds_damage
