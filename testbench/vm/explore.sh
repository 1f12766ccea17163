#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make vm-explore: runs a script in guests in simulated time under many seeds, and says which of the runs fail and how. Each seed gives DMA,
# interrupts and firmware other latencies (sim.jitter), so that races of a driver come out otherwise; the same seed gives the same run again.
#   explore.sh SCRIPT [ARGUMENT...]
#   RUNS=20          seeds 1 to RUNS
#   SEEDS="7 7 9"    these seeds instead; the runs of one seed must be equal byte for byte
#   JOBS=1           runs at a time
#   OUT=dir          what the runs leave: dir/N/ as with OUT of run.sh, and dir/N.txt with all that it printed; default $VM_DIR/explore
# and the settings of run.sh but TIME and SEED. The runs write no traces, unless SERVE names some; to look into a run, repeat its seed with run.sh.
# Exit status 1: a run failed, or two runs of one seed differ.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] && [ -r "$1" ] || die "expected a script"
case ${RUNS:=20}${JOBS:=1} in *[!0-9]*) die "RUNS, JOBS: expected numbers" ;; esac
seeds=(${SEEDS:-$(seq "$RUNS")})
for seed in "${seeds[@]}"; do case $seed in *[!0-9]*) die "SEEDS: expected numbers, got $seed" ;; esac; done
dir=${OUT:-$VM_DIR/explore}
rm -rf "$dir"/[0-9]* || exit
mkdir -p "$dir"
case " ${SERVE:-} " in *' --trace'*) ;; *) SERVE="--trace none ${SERVE:-}" ;; esac

# run_one N JOB ARGUMENT...
run_one()
{
	local n=$1 job=$2; shift 2
	TIME=simulated SEED=${seeds[n - 1]} SERVE=$SERVE OUT=$dir/$n VM_DIR=$VM_DIR/explore.job$job \
		exec setpriv --pdeathsig TERM "$vm_src/run.sh" "$@" >"$dir/$n.txt" 2>&1 </dev/null
}

# sign N STATUS: why the run failed, in one line
sign()
{
	local word
	word=$(sed -n 's/^\([0-9.]* us hca[01]\) guest error \([a-z_]*: .*\)/guest error \2, at \1/p' "$dir/$1.txt" | head -n 1)
	[ -n "$word" ] || word=$(sed -n '/^kernel errors: [1-9]/{n;s/^ *guest [ab]: //p}' "$dir/$1.txt" | head -n 1)
	[ -n "$word" ] || [ "$2" -ne 124 ] || word='the script ran out of time'
	[ -n "$word" ] || word=$(cat "$dir/$1"/?.output 2>/dev/null | tail -n 1)
	[ -n "$word" ] || word=$(tail -n 1 "$dir/$1.txt")
	echo "$word"
}

# end_told N STATUS: the line of a run that has ended
declare -A digest
fails=0 differ=0 failing=()
end_told()
{
	local n=$1 status=$2 seed=${seeds[$1 - 1]} sum ending
	sum=$(cd "$dir/$n" 2>/dev/null && find . -type f | LC_ALL=C sort | xargs cat | md5sum | cut -c1-8)
	ending=$(sed -n 's/^guests: \([0-9.]* s\) of simulated time.*/\1/p' "$dir/$n.txt")
	case $status in
	0) status=right ;;
	$EX_SKIP) cat "$dir/$n.txt" >&2; exit $EX_SKIP ;;
	*) fails=$((fails + 1)) failing+=("$seed"); status="fails, status $status: $(sign "$n" "$status")" ;;
	esac
	printf 'seed %-4s %s  %12s  %s\n' "$seed" "$sum" "$ending" "$status"
	[ "${digest[$seed]:=$sum}" = "$sum" ] && return
	differ=$((differ + 1))
	echo "seed $seed has given two different runs: diff -r $dir"
}

declare -A number_of job_of
trap 'kill "${!number_of[@]}" 2>/dev/null; exit 130' INT
trap 'kill "${!number_of[@]}" 2>/dev/null; exit 143' TERM HUP
say "${#seeds[@]} runs, $JOBS at a time"
echo "          what it left   simulated"
next=1 free=($(seq "$JOBS"))
while [ $next -le ${#seeds[@]} ] || [ ${#number_of[@]} -gt 0 ]; do
	if [ $next -le ${#seeds[@]} ] && [ ${#free[@]} -gt 0 ]; then
		run_one $next "${free[0]}" "$@" &
		number_of[$!]=$next job_of[$!]=${free[0]}
		free=("${free[@]:1}") next=$((next + 1))
		continue
	fi
	wait -n -p pid
	end_told "${number_of[$pid]}" $?
	free+=("${job_of[$pid]}")
	unset "number_of[$pid]"
done
echo "${#seeds[@]} runs, $fails failed${failing:+, with these seeds:} ${failing[*]}"
[ $fails -eq 0 ] || echo "to look into one: make vm-run SCRIPT=$1 TIME=simulated SEED=${failing[0]} OUT=dir, and the other settings of these runs"
[ $fails -eq 0 ] && [ $differ -eq 0 ]
