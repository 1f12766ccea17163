# SPDX-License-Identifier: Apache-2.0
# Wrong input: exit status 2, one line that names the place, and no file left behind. Sourced by run_tests.sh.

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
