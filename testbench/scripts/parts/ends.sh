# SPDX-License-Identifier: Apache-2.0
# Runs that end early: by a signal, a crash, a full disk. Sourced by run_tests.sh.

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
	"$hcasim" check "$dir/packets.pcapng" && grep -q ' send, 64 bytes' <<<"$("$hcasim" stages "$dir")" || return 1
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
