#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make test: runs the unit tests (cmocka programs, given as arguments), every scenario and the checks of the tools. The last line is
# `N passed, M failed`.
set -uo pipefail
O=${O:-build}
hcasim=$O/hcasim
passed=0 failed=0
logs=$O/test-logs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$logs"; mkdir -p "$logs"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:allocator_may_return_null=1}

# each result also goes into a file, for hcasim list --behaviours
good() { passed=$((passed + 1)); echo "pass $1" >>"$logs/results"; echo "ok    $1"; }
bad() { failed=$((failed + 1)); echo "fail $1" >>"$logs/results"; echo "FAIL  $1"; ends_of "$logs/${1//\//.}.log" | sed 's/^/      /'; }
# a run of hcasim begins with what is wrong, other tools end with it
ends_of() { if [ "$(wc -l <"$1")" -le 28 ]; then cat "$1"; else head -n 14 "$1"; echo "..."; tail -n 12 "$1"; fi; }

# one NAME COMMAND...: a check; it passes if the command's exit status is 0
one()
{
	local name=$1; shift
	if "$@" >"$logs/${name//\//.}.log" 2>&1; then good "$name"; else bad "$name"; fi
}

# later NAME COMMAND...: the same, beside other checks, JOBS at a time (as many as there are processors). The command may write only to files that no other
# check uses, and its result comes when it ends. all_done waits for all of them.
declare -A running=()
later()
{
	local name=$1; shift
	[ ${#running[@]} -lt "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" ] || one_ends
	"$@" >"$logs/${name//\//.}.log" 2>&1 &
	running[$!]=$name
}
one_ends()
{
	local pid
	if wait -n -p pid "${!running[@]}"; then good "${running[$pid]}"; else bad "${running[$pid]}"; fi
	unset "running[$pid]"
}
all_done() { while [ ${#running[@]} -gt 0 ]; do one_ends; done; }

# --- unit tests

for t in "$@"; do
	name=${t#"$O"/}; name=${name//\//.}
	CMOCKA_MESSAGE_OUTPUT=TAP "$t" >"$logs/$name.log" 2>&1
	rc=$?
	ok=$(grep -c '^ok' "$logs/$name.log"); bad=$(grep '^not ok' "$logs/$name.log" | grep -vc '# SKIP')
	if [ $rc -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)); failed=$((failed + bad))
	if [ "$bad" -eq 0 ]; then echo "ok    $name ($ok)"; else echo "FAIL  $name"; grep -B2 -A8 '^not ok' "$logs/$name.log" | sed 's/^/      /'; fi
done

# --- scenarios: each passes, its capture has right CRCs and opens in tshark

traces_of() { echo "${TRACES:-$scratch}/$1"; } # TRACES: a folder that keeps them

capture_opens()
{
	local seen packets good
	"$hcasim" check "$1" >"$1.check" || { tail -n 3 "$1.check"; return 1; }
	command -v tshark >/dev/null || { echo "no tshark"; return 1; }
	packets=$(sed -n 's/.*: \([0-9]*\) packets.*/\1/p' "$1.check")
	good=$(sed -n 's/.* packets, \([0-9]*\) good.*/\1/p' "$1.check")
	# Without these, tshark looks for other protocols in payload, and calls the packet malformed when it takes some bytes for one.
	seen=$(tshark -n --disable-protocol rpcordma --disable-protocol infiniband.eoib -o infiniband.identify_payload:FALSE -r "$1" -T fields -e frame.number -Y '(infiniband && !_ws.malformed) || (eth && !infiniband && !(_ws.malformed && eth.src[0:3] == 00:02:c9))' 2>"$1.err" | wc -l)
	[ ! -s <(grep -v 'Running as user' "$1.err") ] || { cat "$1.err"; return 1; }
	# tshark, too, calls some of the packets malformed that a scenario has damaged on purpose. hcasim check does not look into frames of other protocols;
	# those of our hosts (their MACs begin with 00:02:c9) must be right, and a scenario may inject wrong ones.
	[ "$seen" -ge "$good" ] && [ "$seen" -le "$packets" ] || { echo "$packets packets, tshark reads $seen of them"; return 1; }
}

mapfile -t scenarios < <("$hcasim" list | sed 's/  .*//')
for s in "${scenarios[@]}"; do later "scenario.$s" timeout 600 "$hcasim" run "$s" -o "$(traces_of "$s")"; done
all_done
for s in "${scenarios[@]}"; do
	[ ! -e "$(traces_of "$s")/packets.pcapng" ] || later "capture.$s" capture_opens "$(traces_of "$s")/packets.pcapng"
done
all_done

for s in "${scenarios[@]}"; do
	case $s in iwarp_*) later "iwarp_capture.$s" testbench/scripts/iwarp_capture.sh "$(traces_of "$s")" "$s" ;; esac
done
all_done

# --- equal traces: same seed, run-ahead on and off, memory with and without direct access

equal_traces()
{
	local s=$1; shift
	"$hcasim" run "$s" -o "$scratch/again" "$@" >/dev/null || return 1
	for f in packets.pcapng run.log run.records stats.json; do cmp "$(traces_of "$s")/$f" "$scratch/again/$f" || return 1; done
}

for s in tour rc_reordered reset_under_load iwarp_fence soak_jitter; do
	one "repeat.$s" equal_traces "$s"
	one "run_ahead_off.$s" equal_traces "$s" -s sim.run_ahead=off
done
# another_seed SCENARIO: with sim.jitter it gives another trace
another_seed()
{
	"$hcasim" run "$1" --seed 2 -o "$scratch/again" >/dev/null && ! cmp -s "$(traces_of "$1")/run.log" "$scratch/again/run.log"
}
one "another_seed.jitter_dma" another_seed jitter_dma
one "no_dmi.tour" equal_traces tour --no-dmi
one "effective_config.tour" equal_traces tour -c "$(traces_of tour)/config.ini"
# a program is killed between the two lines of a BlueFlame WQE
one "jitter.processes_killed" timeout 600 "$hcasim" run processes_killed -s sim.jitter=true -o "$scratch/jitter"
# a device whose ports are of two kinds
for type in port1 port2; do
	one "ports.$type.eth" timeout 600 "$hcasim" run argument_limits -s hca.ports=2 -s "hca.$type.type=eth" -o "$scratch/ports"
done
one "ideal.tour" timeout 600 "$hcasim" run tour -c configs/ideal.ini -o "$scratch/ideal"

# --- the driver under its checker: nothing is reported, and nothing else changes. DSAN=0: only a few scenarios

# explore_finds FILE.c: a schedule fails, the same one whatever runs at a time, and the saved one fails again
explore_finds()
{
	local jobs
	for jobs in 1 2; do
		"$hcasim" explore "$1" --schedules 300 -j "$jobs" -o "$scratch/wrong.schedule" >"$scratch/wrong.$jobs" && { echo "nothing was found"; return 1; }
		grep '^explore .*FAILED in schedule' "$scratch/wrong.$jobs" || return 1
	done
	cmp "$scratch/wrong.1" "$scratch/wrong.2" || return 1
	"$hcasim" explore "$1" --replay "$scratch/wrong.schedule" -o "$scratch/wrong" && { echo "the replay passes"; return 1; }
	return 0
}

# a run that fails in hcasim begins with the rule that hcasim-checked finds broken
explains()
{
	sed 's/SCENARIO(guest_cq_memory_gone/SCENARIO(gone/; s/callouts_built()/0/; s/expect_guest_error(a, dma_unmapped)/expect_guest_error(a, hcr_busy)/' \
		testbench/scenarios/*/guest_cq_memory_gone.c >"$scratch/gone.c"
	"$hcasim" run "$scratch/gone.c" -o "$scratch/gone" >"$scratch/gone.out" 2>&1 && return 1
	cat "$scratch/gone.out"
	sed -n 1p "$scratch/gone.out" | grep -q '^guest error memory_taken of hca0, cq ' && [ ! -e "$scratch/gone/checked" ] &&
		grep -q 'gone.c:[0-9]*: gone failed at' "$scratch/gone.out" && grep -q 'memory_taken' "$scratch/gone/run.json"
}

checked=$O/hcasim-checked
if [ -x "$checked" ]; then
	sample=(tour cq_resize cm_connect kernel_rw srq_shared xrc_send mw_type2 guest_cq_memory_gone guest_icm_unmapped soak)
	[ "${DSAN:-1}" = 0 ] || sample=("${scenarios[@]}")
	for s in "${sample[@]}"; do later "checked.$s" timeout 600 "$checked" run "$s" -o "$scratch/checked.$s"; done
	# a driver that is right also works where stores become visible late and swapped
	for order in x86 arm64 adversarial; do
		for seed in 1 2 3; do
			later "checked.$order.$seed" timeout 600 "$checked" run rc_write -s host.memory_order=$order --seed $seed -o "$scratch/checked.$order.$seed"
		done
	done
	all_done
	later "explore.cq_event_loop" "$hcasim" explore cq_event_loop --schedules 6 -o "$scratch/right.schedule"
	later "explore.events_counted" explore_finds testbench/explore/tests/events_counted.c
	one "checked.explains" explains
	one "checked.equal" timeout 600 "$checked" run tour -s host.high_numbers=off -o "$scratch/checked.equal"
	one "checked.equal_log" cmp "$(traces_of tour)/run.log" "$scratch/checked.equal/run.log"
else
	echo "skip  checked: not with SAN=1"
fi

# --- the log: each DMA names its length and purpose; each command is done before its event

log_is_whole()
{
	awk '/ dma (read|write) / { n++; if (!/ length [1-9][0-9]* [a-z]/) { print; bad = 1 } }
	     / fw  .* done .* token / { match($0, /token 0x[0-9a-f]+/); done[$2 substr($0, RSTART, RLENGTH)]++ }
	     / eqe eqn .* cmd, token / { match($0, /token 0x[0-9a-f]+/)
		if (!done[$2 substr($0, RSTART, RLENGTH)]--) { print; bad = 1 } }
	     / fw  .* done mad_ifc .* class 0x0 / { print; bad = 1 }
	     END { exit bad || !n }' "$1/run.log"
}
for d in "$(traces_of tour)" "$(traces_of rc_atomic)" "$scratch/ideal"; do
	one "log.$(basename "$d")" log_is_whole "$d"
done

# --- the same over Ethernet: each with one kind of RoCE, a sample with all. testbench/scripts/roce_matrix.sh without arguments runs each with all
one "roce.matrix" env EACH=once testbench/scripts/roce_matrix.sh
one "roce.sample" testbench/scripts/roce_matrix.sh rc_send rc_read rc_atomic rc_rnr rc_lost_ack rc_lost_request srq_limit cm_connect cmtime rdma_connect
one "roce.replay" testbench/tests/replay.sh "$hcasim"

# --- golden traces

for g in traces/golden/*.golden; do
	name=$(basename "$g" .golden)
	one "golden.$name" testbench/scripts/golden.sh compare "$name" "$(traces_of "$name")"
done

# --- waves and timelines: checked by readers that know only the formats, and against the log of the same run

waves_and_timeline()
{
	local s=$1 dir=$scratch/views; shift
	rm -rf "$dir"
	"$hcasim" run "$s" --trace log,vcd,timeline -o "$dir" >"$scratch/views.out" || [ "$s" = "$scratch/wrong.c" ] || return 1
	cmp "$dir/run.log" "${VIEWED_LOG:-$(traces_of "$s")/run.log}" || return 1 # more listeners change nothing
	"$hcasim" check "$dir/waves.vcd" && "$hcasim" check "$dir/timeline.json" || return 1
	python3 traces/tests/waves_check.py "$dir" model/engine || return 1
	python3 traces/tests/timeline_check.py "$dir/timeline.json" "$@"
}

equal_views()
{
	local s=$1 dir=$scratch/views_again; shift
	"$hcasim" run "$s" --trace vcd,timeline -o "$dir" "$@" >/dev/null || return 1
	cmp "$scratch/views/waves.vcd" "$dir/waves.vcd" && cmp "$scratch/views/timeline.json" "$dir/timeline.json"
}

gtkwave_reads()
{
	command -v vcd2fst >/dev/null || { echo "no vcd2fst"; return 1; }
	vcd2fst "$scratch/views/waves.vcd" "$scratch/waves.fst" && fst2vcd "$scratch/waves.fst" >"$scratch/back.vcd" || return 1
	# every value comes back; only the names differ
	cmp <(grep -c '^[01bs]' "$scratch/views/waves.vcd") <(grep -c '^[01bs]' "$scratch/back.vcd")
}

# hcasim check finds damage: a value without a declaration, a time that goes back, a function and a chain without an end.
check_finds_damaged_views()
{
	local f=$scratch/damaged
	! "$hcasim" check <(:) 2>/dev/null || return 1
	damaged()
	{
		local from=$scratch/views/$1 to=$f.${1##*.}; shift
		sed "$@" "$from" >"$to"
		cmp -s "$from" "$to" && { echo "sed $* changes nothing"; return 1; }
		! "$hcasim" check "$to"
	}
	damaged waves.vcd '0,/^1!$/s//1~~~~/' && damaged waves.vcd '$s/.*/#5/' && damaged waves.vcd '/^\$enddefinitions/d' &&
		damaged timeline.json '0,/"ph":"E"/{/"ph":"E"/d}' && damaged timeline.json '0,/"ph":"f"/{/"ph":"f"/d}' &&
		damaged timeline.json '0,/"dur":/s///' && damaged timeline.json '$d'
}

both_ways=host0.scenario,hca0.pcie,hca0.doorbell,hca0.scheduler,hca0.wqe_fetch,hca0.requester,hca0.pcie,hca0.link_port
both_ways+=,hca1.link_port,hca1.packet,hca1.responder,hca1.link_port,hca0.link_port,hca0.packet,hca0.cqe_write,hca0.event_queue,hca0.interrupt,host0.irq,host0.scenario
for s in rc_reordered reset_under_load ud_send xrc_send rc_read fw_trap; do one "views.$s" waves_and_timeline "$s"; done
one "views.rc_send" waves_and_timeline rc_send --through $both_ways
one "views.repeat" equal_views rc_send
one "views.run_ahead_off" equal_views rc_send -s sim.run_ahead=off
one "views.gtkwave" gtkwave_reads
# serve with every trace and two clients, ended in the middle of a command
served_views()
{
	local dir=$scratch/served.$1
	timeout 100 python3 testbench/tests/serve_traces.py "$hcasim" "$dir" "$1" && python3 traces/tests/timeline_check.py "$dir/timeline.json" &&
		python3 traces/tests/waves_check.py "$dir" model/engine
}
for s in SIGTERM SIGINT; do one "views.serve_$s" served_views "$s"; done

# serve hangs, and must still end
one serve.stuck timeout 100 python3 testbench/tests/serve_stuck.py "$hcasim" "$scratch/stuck"

# serve with a hostile guest, for one round; make attack does this for minutes and measures how long the other guest stops
one serve.under_attack timeout 300 "$O/tests/under_attack" "$hcasim" 1
one "views.check_finds_damage" check_finds_damaged_views

# --- tools

one "scenario_file.interface" testbench/scripts/interface.sh check
# a user's file that was written against earlier headers, as it was
one "scenario_file.older_spellings" timeout 60 "$hcasim" run testbench/tests/older_spellings.c -o "$scratch/older"
later "readme.names" testbench/scripts/check_readme.sh
one "form.licence" testbench/scripts/check_form.sh licence
testbench/scripts/check_form.sh layout >"$logs/form.layout.log" 2>&1
case $? in
0) good "form.layout" ;;
77) echo "skip  form.layout: no clang-format 14" ;;
*) bad "form.layout" ;;
esac
later "rooms.calls" testbench/scripts/check_rooms.py "$O"
# A call from the lowest room to a high one, put into an object: it is found, and so is the circle that it closes.
rooms_finds_calls_up()
{
	local dir=$scratch/rooms
	mkdir -p "$dir/obj/model" && cp -r "$O/obj/model/engine" "$dir/obj/model/" && ln -s "$PWD/$O/obj/testbench" "$dir/obj/" || return 1
	echo 'void receive_unit_stall(void *hca); void calls_up(void *hca) { receive_unit_stall(hca); }' | gcc -x c -c -o "$dir/up.o" - &&
		ld -r -o "$dir/obj/model/engine/base/keep.o" "$O/obj/model/engine/base/keep.o" "$dir/up.o" || return 1
	! testbench/scripts/check_rooms.py "$dir" >"$dir/said" && cat "$dir/said" &&
		grep -q '^base/keep.c calls up: receive/receive_unit.c: receive_unit_stall$' "$dir/said" &&
		grep -q '^rooms call each other in a circle: base, .*receive' "$dir/said"
}
later "rooms.finds_calls_up" rooms_finds_calls_up

# an installation that was moved, with the source tree out of reach
mkdir "$scratch/install"
case $O in
build) later "install.moved" timeout 300 testbench/scripts/install_test.sh "$scratch/install" ;;
*) echo "skip  install.moved: only with the ordinary build" ;;
esac
later "systemc.tlm_example" timeout 120 "$O/tlm_example" "$O/fw/hcasim-fw.elf"
all_done

# --- fuzz targets without the fuzzer: inputs that once failed, some of the first inputs, and a few random ones

fuzz_seeds()
{
	"$hcasim" run rc_atomic --trace log,records,pcapng,vcd,timeline -o "$scratch/whole" >/dev/null && mkdir "$scratch/seeds" && "$O/fuzz_seeds" "$scratch/seeds" "$scratch/whole"
}
one "fuzz.seeds" fuzz_seeds
export FUZZ_FW=$O/fw/hcasim-fw.elf FUZZ_RUN=$scratch/whole
for t in packet frames transport verbs hcr objects icm wqe regs gdb fw_elf ini run_folder pcapng ctl vfio_user iwarp; do
	mapfile -t inputs < <(find "testbench/fuzz/corpus/$t" -type f 2>/dev/null; find "$scratch/seeds/$t" -type f 2>/dev/null | sort -V | awk 'NR % 16 == 1')
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 one "fuzz.$t" timeout 300 "$O/fuzz/$t" "${inputs[@]}"
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 one "fuzz.$t.random" timeout 300 "$O/fuzz/$t" --random 16 1
done

# first inputs reach edges of the firmware that bringing the machine up does not
edges_of() { ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout 300 "$O/fuzz/hcr" "$@" | sed -n 's/ edges of the firmware$//p'; }
fuzz_edges() { (($(edges_of /dev/null) > 500 && $(edges_of "$scratch"/seeds/hcr/*) > $(edges_of /dev/null) + 800)); }
one "fuzz.edges" fuzz_edges

# scenarios with the transport of either host, or of both, in software; make matrix runs all
sample=(rc_send rc_read rc_atomic rc_large rc_lost_read_response rc_retry_exceeded rc_rnr_exceeded resp_sequence mad_port_info mad_directed cm_connect
	rdma_connect rdma_datagram kernel_ud_srq multicast_chain recv_lists qp_sqd modify_live_uc loopback_full
	rc_lost_ack dup_requests dup_mismatch resp_order credits_sender retry_mixed path_bits mad_pkey_table srq_pd uc_srq_lost link_down send_lat_events)
one "matrix.sample" env SIDES="hw-sw sw-hw sw-sw" testbench/scripts/matrix.sh "${sample[@]}"

# responders and requesters of engine and software do alike, over some 15,000 packets; and a mistake in any of them is found before the 100,000th
one "transport.streams" timeout 600 "$O/fuzz/transport" --random 1000 1
# and both answer as Linux' ib_qib has answered to the same requests
one "transport.opinion" timeout 60 "$O/fuzz/opinion" testbench/fuzz/transport_opinion.txt
seeded_found() { "$O/fuzz/transport_seeded_$1" --random 10000 1 2>&1 | awk '/differ after packet/ { n = $6 + 0; print } END { exit !(n && n < 100000) }'; }
for n in 1 2 3 4 5 6; do one "transport.seeded_$n" timeout 600 bash -c "$(declare -f seeded_found); O=$O seeded_found $n"; done

one "behaviours.list" testbench/scripts/behaviours.sh check

# mistakes in the driver: every row fits it, and a sample is found
one "mutants.rows" testbench/scripts/mutants.py check
case $O in
build) one "mutants.sample" timeout 300 testbench/scripts/mutants.py sample --dir "$scratch/mutants" ;;
*) echo "skip  mutants.sample: only with the ordinary build" ;;
esac
one "tool.behaviours" grep -Eq $'^DUP-1\trc_lost_ack\tpass$' <("$hcasim" list --behaviours)
one "tool.behaviours_text" grep -Eq $'^DUP-1\trc_lost_ack\tpass\tA duplicate SEND' <("$hcasim" list --behaviours=text)
one "tool.list_iwarp" grep -Eq $'^1\tiwarp_kinds\town\tpass$' <("$hcasim" list --iwarp)
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
	"$hcasim" check -v "$(traces_of "$1")/run.records" | sed '$d' | cmp - "$(traces_of "$1")/run.log"
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

# every tool that reads the files of a run gets damaged ones
one "tool.damaged_files" timeout 300 "$O/damage" "$scratch/whole" 8

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
# the children of a command end with it, however it ends
children_of() { ps -o pid= --ppid "$1"; }
# none_outlives SIGNAL COMMAND...: sends the signal while a child of the command works; then no child may be left
none_outlives()
{
	local signal=$1 pid rc child children; shift
	"$@" >"$scratch/out" 2>&1 </dev/null &
	pid=$!
	until child=$(children_of $pid) && [ -n "$child" ]; do kill -0 $pid || { cat "$scratch/out"; return 1; }; sleep 0.02; done
	children=$child
	# SIGKILL cannot be handled, so the compiler's children go on until they are done
	[ "$signal" = KILL ] || children=$(for c in $child; do echo "$c"; children_of "$c"; done)
	kill -"$signal" $pid
	wait $pid
	rc=$?
	[ $rc -eq $((128 + $(kill -l "$signal"))) ] || { echo "exit status $rc"; cat "$scratch/out"; return 1; }
	for c in $children; do
		# a child that is killed with its parent may need a moment
		for _ in $(seq 250); do kill -0 "$c" 2>/dev/null || continue 2; sleep 0.02; done
		echo "$c lives on: $(ps -o args= -p "$c")"
		return 1
	done
}
# the compiler hangs on a pipe that nobody writes to
mkfifo "$scratch/never.h"
printf '#include "%s/never.h"\n' "$scratch" >"$scratch/never.c"
mkdir "$scratch/tmp"
plain_signals=(env --default-signal=INT,TERM,HUP TMPDIR="$scratch/tmp") # a shell lets its background ignore interrupts
for s in TERM INT HUP KILL; do
	one "ends.sweep_$s" none_outlives $s "${plain_signals[@]}" "$hcasim" sweep soak --vary hca.link.delay=1us,2us,3us -s sim.soak.messages=1000000000 -j 2
	one "ends.perf_$s" none_outlives $s "${plain_signals[@]}" "$hcasim" perf write_bw size=1073741824 qps=1
	one "ends.compile_$s" none_outlives $s "${plain_signals[@]}" "$hcasim" run "$scratch/never.c"
	[ $s = KILL ] || one "ends.compile_${s}_leaves_nothing" rmdir "$scratch/tmp"
	mkdir -p "$scratch/tmp"
done
timeout 2 sh -c ': >"$0"' "$scratch/never.h" # lets go what the killed compiler had started

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

failing_scenario()
{
	local rc
	sed 's/SCENARIO(rc_send/SCENARIO(wrong/; s/\.psn = 0xfffffe, \.len = 64/.psn = 5, .len = 64/' testbench/scenarios/rc/rc_send.c >"$scratch/wrong.c"
	"$hcasim" run "$scratch/wrong.c" -o "$scratch/wrong" >"$scratch/wrong.out" 2>&1
	rc=$?
	cat "$scratch/wrong.out"
	[ $rc -eq 1 ] && grep -q 'wrong\.c:[0-9]*: wrong failed at [0-9.]* us' "$scratch/wrong.out" &&
		grep -q 'expected: a_to_b rc_send_only psn 0x5' "$scratch/wrong.out" && grep -q 'got: *psn 0xfffffe, expected 0x5' "$scratch/wrong.out" &&
		grep -q 'hca0 -----> hca1  rc_send_only' "$scratch/wrong.out" && ! grep -q 'ud_send_only' "$scratch/wrong.out" &&
		grep -q '"failure": ".*wrong\.c:[0-9]*: expected a_to_b rc_send_only psn 0x5 .*, got psn 0xfffffe' "$scratch/wrong/run.json"
}
one "tool.failing_scenario" failing_scenario
VIEWED_LOG=$scratch/wrong/run.log one "views.failing_scenario" waves_and_timeline "$scratch/wrong.c"

# --- scenarios that must fail with the right message

. testbench/scripts/must_fail.sh

# --- runs that end early

# says STATUS WORDS COMMAND...: the command ends with this status and prints these words to stderr
says()
{
	local want=$1 words=$2 rc; shift 2
	"$@" 2>"$scratch/err" >"$scratch/out"
	rc=$?
	cat "$scratch/err"
	[ $rc -eq "$want" ] || { echo "exit status $rc"; return 1; }
	[ -z "$words" ] || grep -qF -- "$words" "$scratch/err" || { echo "it does not say '$words'"; return 1; }
}

body() { printf '#include "testbench/scenario.h"\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\nSCENARIO(%s, "ends early", .any_packets = true)\n{\n\tpost_recv(b, .wr_id = 1, .len = 64);\n\t%s;\n}\n' "$1" "$2" >"$scratch/$1.c"; }
body crashes 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); __builtin_trap()'
body faults 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); *(volatile int *)16 = 0'
body aborts 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); abort()'
body exits 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); exit(0)'
body exits_at_once 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); _exit(0)'
body exits_Exit 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); _Exit(0)'
body exits_quickly 'post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); quick_exit(0)'
body child_exits 'pid_t child = fork(); if (!child) exit(0); waitpid(child, NULL, 0); post_send(a, .wr_id = 2, .len = 64); expect_cqe(a, .wr_id = 2); expect_cqe(b, .wr_id = 1); expect_data(b, .len = 64)'

# ends_early NAME STATUS WORDS: the run ends so, and the traces hold each packet of the SEND once
ends_early()
{
	local dir=$scratch/early.$1
	says "$2" "$3" "$hcasim" run "$scratch/$1.c" --trace log,records,pcapng,vcd,timeline -o "$dir" || return 1
	[ "$(grep -c ' out port 1 rc_send_only .* payload 64' "$dir/run.log")" -eq 1 ] || { echo "run.log lacks the SEND"; return 1; }
	[ "$("$hcasim" check -v "$dir/packets.pcapng" | grep -c ' out rc_send_only .* payload 64')" -eq 1 ] || { echo "packets.pcapng lacks the SEND"; return 1; }
	"$hcasim" check "$dir/packets.pcapng" && "$hcasim" stages "$dir" | grep -q ' send, 64 bytes' || return 1
	python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) > 1000' "$dir/timeline.json"
}
one "ends.crash" ends_early crashes 132 " us, last verb: $scratch/crashes.c:8; gdb"
case $O in
*san) one "ends.fault" ends_early faults 1 "SUMMARY: AddressSanitizer: SEGV" ;; # the sanitizer tells of it itself
*) one "ends.fault" ends_early faults 139 " us, last verb: $scratch/faults.c:8; gdb" ;;
esac
one "ends.abort" ends_early aborts 134 "SIGABRT in aborts at "
one "ends.exit" ends_early exits 1 "exit() was called in exits"
one "ends.exit_at_once" ends_early exits_at_once 1 "_exit() was called in exits_at_once"
one "ends.Exit" ends_early exits_Exit 1 "_exit() was called in exits_Exit"
one "ends.quick_exit" ends_early exits_quickly 1 "exit() was called in exits_quickly"
one "ends.child_exits" ends_early child_exits 0 ""

# a long run: a second run in its folder is refused; when it is interrupted its files are complete
interrupted()
{
	local pid rc
	"$hcasim" run soak -s sim.soak.messages=10000000 -o "$scratch/early" 2>"$scratch/soak.err" >/dev/null &
	pid=$!
	until [ "$(stat -c %s "$scratch/early/packets.pcapng" 2>/dev/null || echo 0)" -gt 100000 ] || ! kill -0 $pid; do sleep 0.05; done
	says 2 "another run is writing there" "$hcasim" run rc_send -o "$scratch/early"
	rc=$?
	kill $pid
	wait $pid
	[ $? -eq 143 ] && [ $rc -eq 0 ] || return 1
	grep "interrupted in soak" "$scratch/soak.err" && grep "what the devices and the driver wait for" "$scratch/soak.err" &&
		"$hcasim" check "$scratch/early/packets.pcapng" &&
		[ "$(tail -c 1 "$scratch/early/run.log")" = "" ] && [ "$(tail -c 1 "$scratch/early/run.records")" = E ] && [ -s "$scratch/early/stats.json" ]
}
rm -rf "$scratch/early"
one "ends.interrupt" interrupted
rm -rf "$scratch/early"
full() { "$@" >/dev/full; }
for c in list config rules help version "run rc_send --stats -o $scratch/early" "dump rc_send --at 1us"; do
	# shellcheck disable=SC2086
	one "ends.full_${c%% *}" says 1 "hcasim: standard output: " full "$hcasim" $c
done

# a full disk: each writer names its file and the reason, the run fails, and report leaves no incomplete page
limited() { (ulimit -f "$1"; shift; exec "$@"); }
on_small_disk() { unshare -rm bash -c 'mount -t tmpfs -o size="$1" none "$2" && shift && shift && "$@"' -- "$@"; }
no_room()
{
	local d=$scratch/no_room f
	mkdir -p "$d"
	says 1 "$d/run.log: File too large" limited 100 "$hcasim" run rc_send --trace log,pcapng,vcd,timeline -o "$d" || return 1
	for f in waves.vcd timeline.json; do grep -q "$d/$f: File too large" "$scratch/err" || { echo "$f is not named"; return 1; }; done
	says 2 "$d/config.ini: File too large" limited 8 "$hcasim" run rc_send -o "$d" || return 1
	"$hcasim" run rc_send -o "$d" >/dev/null && says 2 "$d/report.html: File too large" limited 100 "$hcasim" report "$d" && [ ! -e "$d/report.html" ] || return 1
	says 1 "/dev/full: No space left on device" "$hcasim" sweep rc_send --vary hca.link.delay=1us -o /dev/full &&
		says 1 "/dev/full: No space left on device" "$hcasim" perf write_lat -o /dev/full &&
		says 1 "/dev/full: No space left on device" "$hcasim" perf write_lat --stats=/dev/full || return 1
	unshare -rm true || return 0 # a small disk of one's own is not everywhere allowed
	says 1 "$d/run.log: No space left on device" on_small_disk 100k "$d" "$hcasim" run rc_send -o "$d" && grep -q "$d/stats.json: No space left on device" "$scratch/err"
}
one "ends.no_room" no_room

# --- wrong input: exit status 2, one line that names the place, and no file left behind

# refuses NAME WORDS ARGUMENT...
refuses()
{
	local words=$1 rc lines; shift
	rm -rf "$scratch/refused"
	"$hcasim" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	rc=$?
	cat "$scratch/out" "$scratch/err"
	[ $rc -eq 2 ] || { echo "exit status $rc"; return 1; }
	[ ! -s "$scratch/out" ] || { echo "it wrote to stdout"; return 1; }
	lines=$(wc -l <"$scratch/err")
	[ "$lines" -eq "${MOST_LINES:-1}" ] || [ -n "${MOST_LINES:-}" ] || { echo "$lines lines"; return 1; }
	grep -qF -- "$words" "$scratch/err" || { echo "it does not say '$words'"; return 1; }
	[ ! -e "$scratch/refused" ] || { echo "it left files"; return 1; }
}

run_in=(-o "$scratch/refused/deep")
printf '[hca.link]\ndelay = 1us\ndelai = 1us\n' >"$scratch/misspelt.ini"
printf '[hca.link]\ndelay = 1 parsec\n' >"$scratch/unit.ini"
printf 'SCENARIO(\n' >"$scratch/broken.c"
printf '#include "testbench/scenario.h"\nint answer(void);\nint answer(void) { return 42; }\n' >"$scratch/empty.c"
printf '#include "testbench/scenario.h"\nextern const struct scenario hcasim_scenario;\nconst struct scenario hcasim_scenario = {.interface = 9999};\n' \
	>"$scratch/old.c"
head -c 2000 "$O/fw/hcasim-fw.elf" >"$scratch/truncated.elf"
printf 'hello\n' >"$scratch/text.elf"

one "refuses.misspelt_parameter" refuses 'delai' run rc_send -s hca.link.delai=1us "${run_in[@]}"
one "refuses.misspelt_in_file" refuses 'misspelt.ini:3' run rc_send -c "$scratch/misspelt.ini" "${run_in[@]}"
one "refuses.unit_in_file" refuses 'unit.ini:2' run rc_send -c "$scratch/unit.ini" "${run_in[@]}"
one "refuses.out_of_range" refuses 'hca.link.mtu' run rc_send -s hca.link.mtu=8KiB "${run_in[@]}"
one "refuses.personality" refuses 'has no inside' run guest_arm_record -s hca1.personality=ipath "${run_in[@]}"
one "refuses.personality_ports" refuses 'hca1.ports is 2' serve --socket "$scratch/refused.a" --socket "$scratch/refused.b" -s hca1.personality=ipath -s hca.ports=2 "${run_in[@]}"
one "refuses.seed" refuses '--seed' run rc_send --seed many "${run_in[@]}"
one "refuses.unknown_scenario" refuses "did you mean 'rc_send'?" run rc_sned "${run_in[@]}"
one "refuses.unreadable_config" refuses "nowhere.ini" run rc_send -c "$scratch/nowhere.ini" "${run_in[@]}"
one "refuses.config_without_end" refuses "/dev/zero:1: expected text, got a zero byte" run rc_send -c /dev/zero "${run_in[@]}"
one "refuses.config_without_end_of_lines" refuses "/dev/fd/63: expected at most 16777216 bytes" run rc_send -c <(yes '# more') "${run_in[@]}"
one "refuses.folder_as_config" refuses "$scratch: Is a directory" run rc_send -c "$scratch" "${run_in[@]}"
one "refuses.points_without_end" refuses "/dev/zero: expected text, got a zero byte" perf --points /dev/zero
one "refuses.unreadable_scenario" refuses "nowhere.c" run "$scratch/nowhere.c" "${run_in[@]}"
MOST_LINES=100 one "refuses.scenario_that_does_not_compile" refuses "broken.c: does not compile" run "$scratch/broken.c" "${run_in[@]}"
one "refuses.file_without_scenario" refuses "empty.c: has no SCENARIO" run "$scratch/empty.c" "${run_in[@]}"
one "refuses.other_interface" refuses "interface 9999" run "$scratch/old.c" "${run_in[@]}"
one "refuses.firmware_missing" refuses "nowhere.elf" run rc_send --fw "$scratch/nowhere.elf" "${run_in[@]}"
one "refuses.firmware_text" refuses "text.elf" run rc_send --fw "$scratch/text.elf" "${run_in[@]}"
one "refuses.firmware_of_another_machine" refuses "$hcasim" run rc_send --fw "$hcasim" "${run_in[@]}"
one "refuses.firmware_truncated" refuses "truncated.elf" run rc_send --fw "$scratch/truncated.elf" "${run_in[@]}"
one "refuses.unknown_trace" refuses "vcr" run rc_send --trace log,vcr "${run_in[@]}"
one "refuses.folder_that_is_a_file" refuses "text.elf" run rc_send -o "$scratch/text.elf/x"
long_path=$scratch/refused/$(printf '%4000s' '' | tr ' ' /)x
for c in run dump serve sweep perf; do one "refuses.long_path_of_$c" refuses "expected at most 3999 characters, got " "$c" -o "$long_path"; done
for c in check stages golden report "diff x"; do
	# shellcheck disable=SC2086
	one "refuses.long_path_of_${c%% *}" refuses "expected at most 3999 characters, got " $c "$long_path"
done
one "refuses.stats_form" refuses "--stats" run rc_send --stats=xml "${run_in[@]}"
one "refuses.unknown_command" refuses "did you mean 'run'?" rnu
one "refuses.folder_as_capture" refuses "Is a directory" check "$scratch"
one "refuses.memory_order_without_checker" refuses "host.memory_order needs the program hcasim-checked" run rc_send -s host.memory_order=x86 "${run_in[@]}"
one "refuses.reached_without_checker" refuses "--reached needs the program hcasim-checked" run rc_send --reached "${run_in[@]}"
one "refuses.unknown_option" refuses "--colour" run --colour
one "refuses.dump_without_time" refuses "--at" dump rc_send
one "refuses.sweep_of_unknown_parameter" refuses "hca.link.delai" sweep rc_send --vary hca.link.delai=1us,2us
one "refuses.sweep_of_unknown_scenario" refuses "rc_sned" sweep rc_sned --vary hca.link.delay=1us,2us
one "refuses.sweep_twice" refuses "1us is given twice" sweep rc_send --vary hca.link.delay=1us,1us
one "refuses.sweep_of_unknown_counter" refuses "did you mean 'hca.port1.rcv_errors'?" sweep rc_send --vary hca.link.delay=1us --show hca.port1.rcv_error
one "refuses.perf_of_unknown_key" refuses "did you mean 'size'?" perf write_lat siz=3
one "refuses.stages_of_golden_trace" refuses "rc_atomic.golden: not the folder of a run" stages traces/golden/rc_atomic.golden
mkdir "$scratch/of_before" && touch "$scratch/of_before/run.log" "$scratch/of_before/packets.pcapng"
for c in stages golden report "diff x"; do
	# shellcheck disable=SC2086
	one "refuses.${c%% *}_of_older_run" refuses "of_before: has run.log but no run.records" ${c/ x/ "$(traces_of rc_send)"} "$scratch/of_before"
done
one "refuses.report_of_no_run" refuses "nowhere" report "$scratch/nowhere"
one "refuses.check_of_a_text" refuses "text.elf" check "$scratch/text.elf"
ln -s /dev/zero "$scratch/zero.vcd"
ln -s /dev/zero "$scratch/zero.json"
for f in vcd json; do one "refuses.check_without_end_$f" refuses "zero.$f: File too large" check "$scratch/zero.$f"; done
# a pipe or folder in place of a run's file: no tool may hang on it
for f in run.records packets.pcapng; do
	mkdir -p "$scratch/odd.$f" "$scratch/folder.$f/$f"
	mkfifo "$scratch/odd.$f/$f"
	for c in stages golden report; do one "refuses.${c}_of_pipe_$f" refuses "odd.$f/$f: not a regular file" "$c" "$scratch/odd.$f"; done
	one "refuses.diff_of_pipe_$f" refuses "odd.$f/$f: not a regular file" diff "$scratch/odd.$f" "$scratch/odd.$f"
	one "refuses.diff_of_folder_$f" refuses "folder.$f/$f: Is a directory" diff "$scratch/folder.$f" "$scratch/folder.$f"
done

# --- the Linux driver in virtual machines: last, because it needs the processors for itself

# vm_results: each check counts as a test; if the script ended early that is a failure
vm_results()
{
	local status name result detail
	testbench/vm/short.sh >"$logs/vm.log" 2>&1
	status=$?
	if [ $status -eq 77 ]; then
		echo "skip  vm: $(sed -n 's/^skip: //p' "$logs/vm.log" | tail -n 1)"
		return
	fi
	while IFS=, read -r name result detail; do
		cp "$O/vm-test/logs/$name.log" "$logs/vm.$name.log" || continue
		case $result in
		pass) good "vm.$name" ;;
		fail) bad "vm.$name"; status=0 ;;
		*) echo "skip  vm.$name: $detail" ;;
		esac
	done < <(tail -n +2 "$O/vm-test/results.csv" 2>/dev/null)
	[ $status -eq 0 ] || bad vm
}
case $O in
build) vm_results ;;
*) echo "skip  vm: only with the ordinary build" ;;
esac

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
