# SPDX-License-Identifier: Apache-2.0
# The seeded races of make vm-test: mlx4 built from Debian's source with a race, which hcasim must show in some runs of make vm-explore, and then in
# each run of such a seed. Sourced by test.sh, after seeds.sh and simulated_check.sh.
# A race is races/NAME.sed (the form of seeds/) with races/NAME.sh, the script for the guest that can lose it.
#   RACE_RUNS=8      seeds that are tried
#   RACE_REPEATS=2   runs of the first seed that failed; they must be equal byte for byte
race_dir=$VM_DIR/races

# race_explore NAME SETTING=VALUE...: into $race_dir/$race.NAME.txt
race_explore()
{
	local name=$race.$1; shift
	env MODULES="$VM_DIR/seed/$race" GUESTS=1 MEM=512M SMALL=1 TIMEOUT=40 JOBS="$(getconf _NPROCESSORS_ONLN)" OUT="$race_dir/$name" VM_DIR="$race_dir/vm" "$@" \
		setpriv --pdeathsig TERM "$vm_src/explore.sh" "$vm_src/races/$race.sh" >"$race_dir/$name.txt" 2>&1
}

check_race()
{
	local failing first equal runs=${RACE_RUNS:-8} repeats=${RACE_REPEATS:-2}
	mkdir -p "$race_dir"
	seed_build "$race" races || return
	race_explore tried RUNS="$runs"
	cat "$race_dir/$race.tried.txt"
	failing=($(sed -n 's/^seed \([0-9]*\) .* fails, status [0-9]*: .*/\1/p' "$race_dir/$race.tried.txt" | sort -n))
	[ ${#failing[@]} -gt 0 ] || { detail="none of $runs seeds fails"; return 1; }
	[ ${#failing[@]} -lt "$runs" ] || { detail="all $runs seeds fail: that is no race"; return 1; }
	first=${failing[0]}
	race_explore again SEEDS="$(for ((n = 0; n < repeats; n++)); do printf '%s ' "$first"; done)"
	cat "$race_dir/$race.again.txt"
	# the columns of the line: seed, its number, the sum of what the run left, ...
	equal=$(awk -v seed="$first" '$1 == "seed" && $2 == seed && / fails, / { print $3 }' "$race_dir/$race.tried.txt" "$race_dir/$race.again.txt" | sort | uniq -c)
	detail="${#failing[@]} of $runs seeds fail; seed $first: $(sed -n "s/^seed $first .* fails, //p" "$race_dir/$race.tried.txt" | head -n 1)"
	[ "$(awk '{ print $1 }' <<<"$equal")" = $((repeats + 1)) ] || { detail="seed $first has not failed in the same way $((repeats + 1)) times"; return 1; }
}

# The way of the README: a seed that fails, then that run with a stop at the broken rule, and gdb on the guest's kernel and on the firmware.
check_race_caught()
{
	local seed rule vm=$race_dir/vm/explore.job1 out=$race_dir/caught.txt run port
	race=command_go
	seed=$(sed -n 's/^seed \([0-9]*\) .* fails, .*guest error .*/\1/p' "$race_dir/$race.tried.txt" | sort -n | head -n 1)
	rule=$(sed -n "s/^seed $seed .*guest error \([a-z_]*\):.*/\1/p" "$race_dir/$race.tried.txt" | head -n 1)
	[ -n "$rule" ] || { detail='no seed of race command_go breaks a rule'; return 1; }
	TIME=simulated SEED=$seed GDB=1 SERVE="--trace none --stop-on $rule --fw-gdb 0" MODULES=$VM_DIR/seed/$race GUESTS=1 MEM=512M SMALL=1 TIMEOUT=40 VM_DIR=$vm \
		setpriv --pdeathsig TERM "$vm_src/run.sh" "$vm_src/races/$race.sh" >"$out" 2>&1 &
	run=$!
	wait_until 900 grep -qs '^ *VM *held at' "$out" || { detail='the guest is not held'; kill $run; wait $run; cat "$out"; return 1; }
	port=$(sed -n 's/^listening:.* gdb on port //p' "$vm/serve.log")
	# the firmware first: when gdb leaves the guest, time goes on
	timeout 60 gdb-multiarch -nx -batch -ex "target remote :$port" -ex bt "$O/fw/hcasim-fw.elf" >"$out.firmware" 2>&1 </dev/null
	timeout 60 gdb-multiarch -nx -batch -ex "set architecture $gdb_arch" -x "$vm/a.symbols" -ex "target remote $vm/sockets/a.gdb" -ex bt -ex "x/80ga \$$gdb_sp" >"$out.guest" 2>&1 </dev/null
	kill $run; wait $run
	cat "$out" "$out.guest" "$out.firmware"
	detail="$rule, held $(sed -n 's/.*held at \([0-9.]* us\).*/at \1/p' "$out" | head -n 1), in $(grep -oE '\<_*mlx4_[a-z_]*' "$out.guest" | uniq | head -n 3 | tr '\n' ' ')"
	grep -q '__mlx4_cmd' "$out.guest" && grep -q '^#0 .* at .*fw/' "$out.firmware"
}
