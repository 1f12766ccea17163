# SPDX-License-Identifier: Apache-2.0
# The driver under its checker: nothing is reported, and nothing else changes. DSAN=0: only a few scenarios. Mistakes in the driver are found.
# Sourced by run_tests.sh.

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
	grep -q '^guest error memory_taken of hca0, cq ' <<<"$(sed -n 1p "$scratch/gone.out")" && [ ! -e "$scratch/gone/checked" ] &&
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

# mistakes in the driver: every row fits it, and a sample is found
one "mutants.rows" testbench/scripts/mutants.py check
case $O in
build) one "mutants.sample" timeout 300 testbench/scripts/mutants.py sample --dir "$scratch/mutants" ;;
*) echo "skip  mutants.sample: only with the ordinary build" ;;
esac
