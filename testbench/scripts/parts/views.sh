# SPDX-License-Identifier: Apache-2.0
# Waves and timelines: checked by readers that know only the formats, and against the log of the same run. Sourced by run_tests.sh.

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
one "views.check_finds_damage" check_finds_damaged_views

# --- a run that fails: what it prints, and its views

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
one "views.what_failed" failing_scenario
VIEWED_LOG=$scratch/wrong/run.log one "views.failing_scenario" waves_and_timeline "$scratch/wrong.c"
