#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make vm-test: checks the device with Debian's unmodified mlx4 driver, rdma-core and their programs in virtual machines.
#   test.sh [CHECK...]   all by default; `probe` and `opensm` come before any other of the first guests; `short` means those of make test, `seeds` the seeded bugs (or some of them, such as seeds.owner_bit), `storage` NVMe, iSER, SRP and NFS,
#                        `python` rdma-core's tests, `qib` mlx4 against ib_qib, `qib_pair` ib_qib against itself (or some of it, such as qib_pair.qib_cm), `run` make vm-run and make vm-exec themselves,
#                        `simulated` TIME=simulated (or some of it, such as simulated.held),
#                        `races` seeded races of the driver under many seeds (not among all: some 20 runs), `siw` iWARP against Linux's siw,
#                        `roce` Ethernet ports under mlx4_en and mlx4_ib (or some of it, such as roce_tcp), `rxe` the same against Linux's rxe,
#                        `nic` an Ethernet port whose cable leads to a network card of QEMU, `one_guest`, `intx` and `iommu` both devices in one guest,
#                        `fault` devices that fail on purpose, `arm64` guests with arm64 processors (the others, too, with ARCH=arm64)
#   DEVICE_B=ipath test.sh [CHECK...]   those of `qib`, by default all, such as qib_cm
# Results: build/vm-test/results.csv (check,result,detail), and one log per check in build/vm-test/logs; build/vm-test.before is the run before.
# build/vm-test.failed keeps the log of each check that failed, with the guests' consoles, the logs of serve and opensm, and captures. Exit status 1: a check failed,
# 77: virtual machines cannot run here.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
. "$vm_src/guests.sh"
. "$vm_src/checks.sh"
. "$vm_src/seeds.sh"
. "$vm_src/qib.sh"
. "$vm_src/roce.sh"
. "$vm_src/rxe.sh"
. "$vm_src/nic.sh"
. "$vm_src/siw.sh"
. "$vm_src/run_check.sh"
. "$vm_src/simulated_check.sh"
. "$vm_src/races.sh"
short=(probe opensm rc_pingpong xsrq_pingpong)
full=(probe opensm active_time diags wire rc_pingpong uc_pingpong ud_pingpong srq_pingpong xsrq_pingpong loopback write_bw read_bw register_read
	perftest_bw perftest_lat ipoib rdmacm losses asyncwatch reload killed_guest reset_guest)
# further checks come in groups, each with a function NAME_session; `make vm-test` runs those of $groups, in this order
groups=(run simulated python storage qib qib_pair roce rxe nic fault one_guest intx iommu seeds siw arm64)
declare -A title=(
	[run]="make vm-run and make vm-exec"
	[simulated]="guests in simulated time"
	[python]="rdma-core's own tests; the guest waits for the device at each doorbell"
	[storage]="storage over the kernel's verbs, in guests that are slow on purpose"
	[qib]="two guests, one of them with a QLogic 6120"
	[qib_pair]="two guests, both with a QLogic 6120"
	[roce]="two guests with Ethernet ports"
	[rxe]="two guests with Ethernet ports, one of them under rxe"
	[nic]="an Ethernet port and a network card of QEMU"
	[fault]="two guests with devices that fail on purpose"
	[one_guest]="one guest, both devices"
	[intx]="one guest, both devices, INTx interrupts"
	[iommu]="one guest, both devices, behind an IOMMU"
	[seeds]="drivers built from source, with seeded bugs"
	[races]="drivers with seeded races, in simulated time"
	[arm64]="guests with arm64 processors"
	[siw]="iWARP: Linux's siw against hcasim iwarp"
)
# the other checks name the devices of mlx4
qib_wanted=()
case ${DEVICE_B:-mlx4} in
mlx4) ;;
ipath) qib_wanted=("$@"); set -- qib ;;
*) die "DEVICE_B: expected mlx4 or ipath, got $DEVICE_B" ;;
esac
wanted=("$@") all=
simulated=(one_guest two_guests watched replay killed refused held boots)
storage=(nvme iser srp nfs)
# `none` and `watched`: the driver without a seed, behind an IOMMU and in simulated time
seeds=(none watched $(cd "$vm_src/seeds" && ls -- *.sed | sed 's/\.sed$//'))
case ${1:-all} in
all) wanted=("${full[@]}") all=1 ;;
short) wanted=("${short[@]}") ;;
roce_*) roce=("$@") wanted=(); set -- roce ;;
rxe_*) rxe=("$@") wanted=(); set -- rxe ;;
nic_*) nic=("$@") wanted=(); set -- nic ;;
seeds.*) seeds=("${@#seeds.}") wanted=(); set -- seeds ;;
simulated.*) simulated=("${@#simulated.}") wanted=(); set -- simulated ;;
qib_pair.*) qib_pair=("${@#qib_pair.}") wanted=(); set -- qib_pair ;;
*) [ -z "${title[$1]:-}" ] || wanted=() ;;
esac
for check in "${wanted[@]}"; do
	[ -z "${title[$check]:-}" ] || die "$check is a group of checks: give it alone"
	declare -F "check_$check" >/dev/null || die "no such check: $check; expected one of: ${full[*]} ${!title[*]}"
done
# probe loads the driver and opensm brings the ports up: the others stand on them
case ${wanted[*]-} in
'' | probe) ;;
*) wanted=(probe opensm $(printf '%s\n' "${wanted[@]}" | grep -vxE 'probe|opensm')) ;;
esac

results=$O/vm-test/results.csv
fails=0 began=$SECONDS

not_up() { tail -n 30 "$VM_DIR"/*.serial "$VM_DIR"/*.log; detail='the guests did not come up'; return 1; }
not_run() { detail="$ground failed"; return 77; }

# keep_failed NAME LOG: a check that failed may not fail again, so what it left stays until somebody deletes it
keep_failed()
{
	local to
	to=$O/vm-test.failed/$(date +%Y%m%d-%H%M%S).$1
	mkdir -p "$to"
	cp "$2" "$VM_DIR"/*.serial "$VM_DIR"/*.log "$VM_DIR"/serve/*.pcapng "$share"/out/*.log "$to" 2>/dev/null
}

# judge NAME FUNCTION: runs a check; its output is the log, $detail the reason of its result
judge()
{
	local result log=$O/vm-test/logs/$1.log t=$SECONDS
	detail=
	"$2" >"$log" 2>&1
	case $? in
	0) result=pass ;;
	77) result=skip ;;
	*) result=fail; fails=$((fails + 1)) ;;
	esac
	detail=$(tr ',\r\n\t' ';   ' <<<"$detail" | sed 's/ *$//' | cut -c1-160)
	printf 'exit: %s after %d s: %s\n' $result $((SECONDS - t)) "$detail" >>"$log"
	[ $result != fail ] || keep_failed "$1" "$log"
	last=$result
	printf '%s,%s,%s\n' "$1" $result "$detail" >>"$results"
	printf '  %-4s  %-24s %s\n' $result "$1" "$detail"
}

# session PREFIX CHECK...: starts guests, runs the checks in order, stops the guests. If one of the first two fails, the others cannot run.
session()
{
	local prefix=$1 check ground=; shift
	rm -rf "$share"; mkdir -p "$share"
	printf '%s\n' "${names[@]}" >"$share/guests"
	cp "$vm_src/register_read.py" "$share/"
	if ! guests_up "${guests[@]}"; then
		for check in "$@"; do judge "$prefix$check" not_up; done
		guests_kill
		return
	fi
	case ${SERVE:-} in *--trace*) ctl trace off >/dev/null ;; esac
	for check in "$@"; do
		if [ -n "$ground" ]; then
			judge "$prefix$check" not_run
			continue
		fi
		judge "$prefix$check" "check_$check"
		case $last:$check in fail:probe | fail:opensm | fail:roce_up | fail:rxe_up | fail:nic_up) ground=$check ;; esac
	done
	guests_down
	# when the device stops under its driver, the driver may still ring a doorbell that is no longer there: that is no error of the driver
	case " $* " in *' control '*) ;; *) judge "${prefix}guest_errors" check_guest_errors ;; esac
	judge "${prefix}kernel" check_kernel
}

# test_resize_cq rings six doorbells, does not touch the device again, and expects completions in memory some 300 us later. A real device is that fast,
# but serve may have to wait longer for a processor, and a guest does not wait for its posted writes. With WAIT_WRITES the guest waits at each
# doorbell, so serve has executed those before it.
python_session() { WAIT_WRITES=true session python. probe opensm pyverbs; }

# qib_session: the transport of the other end is ib_qib's. The card has VL 0 only: opensm takes the other port down to change its number of VLs, then
# complains once about its LID.
qib_session()
{
	local checks=(diags "${qib[@]}")
	[ ${#qib_wanted[@]} -eq 0 ] || checks=("${qib_wanted[@]}")
	rm -f "$VM_DIR/opinion.played"
	case " ${checks[*]} " in *' qib_opinion '*) SERVE="--trace pcapng" ;; esac
	DEVICE_B=ipath last_device=qib0 opensm_known='ERR 3322' session qib. probe opensm "${checks[@]}"
	[ -z "${SERVE:-}" ] || judge qib.recording check_qib_recording
	SERVE=
}

# qib_pair_session: both ends are ib_qib's
qib_pair_session() { DEVICE_A=ipath DEVICE_B=ipath first_device=qib0 last_device=qib0 session qib_pair. probe opensm "${qib_pair[@]}"; }

# roce_session: Ethernet ports in place of InfiniBand's
roce_session() { SERVE="-s hca.port1.type=eth -s hca.device=cx3pro" session '' roce_up "${roce[@]}"; }
# A transport in a guest's processor answers late when that processor has no time, and the ping-pongs ask for an ACK timeout of 67 ms: with eight of them
# a guest that stood still for 0.54 s on a busy machine was given up. IBA 9.7.6.1.3 lets a requester wait up to four times as long.
patient="-s hca0.retry.ack_timeout_multiplier=4"
# rxe_session: the transport of the other end is rxe's
rxe_session() { SERVE="-s hca.port1.type=eth -s hca0.device=cx3pro -s hca1.device=cx3 $patient" last_device=rxe0 session '' rxe_up "${rxe[@]}"; }
# nic_session: guest b has no device; frames leave the simulator through a socket
nic_session() { WIRE=1 SERVE="-s hca0.device=cx3pro $patient" last_device=rxe0 session '' nic_up "${nic[@]}"; }
storage_session() { session storage. probe opensm "${storage[@]}"; }
fault_session() { session fault. probe opensm control; }

# one guest with both devices
one_guest_session()
{
	local guests=(a=a,b) names=(a) last_device=mlx4_1
	SERVE='-s hca.doorbell.blueflame=1' session one_guest. probe opensm rc_pingpong ud_pingpong srq_pingpong xsrq_pingpong blueflame
}
intx_session()
{
	local guests=(a=a,b) names=(a) last_device=mlx4_1
	APPEND=pci=nomsi session intx. probe opensm rc_pingpong
}
iommu_session()
{
	local guests=(a=a,b) names=(a) last_device=mlx4_1
	IOMMU=1 CHECK=1 session iommu. probe opensm rc_pingpong ud_pingpong xsrq_pingpong
}

seeds_session()
{
	local seed last_device=mlx4_1
	judge seed.source seed_source
	[ $last = pass ] || return
	for seed in "${seeds[@]}"; do
		case $seed in
		none) judge seed.none check_seed_plain ;;
		watched) judge seed.watched check_seed_watched_plain ;;
		*) judge "seed.$seed" check_seed ;;
		esac
	done
	guests_kill
}

races_session()
{
	local race
	judge race.source seed_source
	[ $last = pass ] || return
	for race in "$vm_src"/races/*.sed; do
		race=$(basename "$race" .sed)
		judge "race.$race" check_race
	done
	judge race.caught check_race_caught
}

# arm64_session: a short form of these checks, the unchanged driver and a seed built for arm64, and a guest in simulated time
arm64_session()
{
	local "${arch_names[@]}" guest_sets kernel modules initrd iommu_module='' settings check guests=(a=a,b) names=(a) last_device=mlx4_1
	local -x ARCH=arm64
	arch_settings arm64
	judge arm64.guest arm64_prepare
	[ $last = pass ] || return
	eval "$settings"
	SERVE='-s hca.doorbell.blueflame=1' session arm64. probe opensm rc_pingpong ud_pingpong srq_pingpong xsrq_pingpong blueflame perftest_lat
	judge arm64.source seed_source
	judge arm64.seed_none check_seed_plain
	seed=irq_vector
	judge arm64.seed_$seed check_seed
	guests_kill
	judge arm64.simulated check_simulated_one_guest
}
arm64_prepare()
{
	settings=$("$vm_src/prepare.sh" "${prepared[@]}") || { detail='no packages for arm64'; return 77; }
	detail=$(sed -n 's/^kernel=//p' <<<"$settings")
}

run_session() { judge run check_run; }
simulated_session() { local check; for check in "${simulated[@]}"; do judge simulated.$check check_simulated_$check; done; }

# group NAME: runs the group's session, or says why it cannot run in simulated time
group()
{
	say "${title[$1]}"
	case ${TIME:-wall}:$1 in
	simulated:nic | simulated:siw) judge $1 other_clock ;;
	simulated:iommu) judge $1 no_iommu ;;
	*:qib | *:qib_pair) if [[ $no_drivers == *ib_qib* ]]; then judge $1 no_qib; else ${1}_session; fi ;;
	*) ${1}_session ;;
	esac
}
other_clock() { detail='what is at the other end has a clock of its own: leave TIME=simulated away'; return 77; }
no_qib() { detail="Debian's kernel for $ARCH has no ib_qib"; return 77; }
no_iommu() { detail='there is no IOMMU in simulated time: leave TIME=simulated away'; return 77; }

if [ "${1:-}" = short ]; then guests_prepare; else guests_prepare $more_packages + $storage_packages; fi
rm -rf "$O/vm-test.before"
[ ! -d "$O/vm-test" ] || mv "$O/vm-test" "$O/vm-test.before"
mkdir -p "$O/vm-test/logs"
echo check,result,detail >"$results"
if [ ${#wanted[@]} -gt 0 ]; then
	say "two guests, one device each"
	guests=(a=a b=b) names=(a b)
	# what is on the wire is kept, for the checks that ask for it
	case " ${wanted[*]} " in *' wire '*) wire_perf=1 SERVE="--trace pcapng" ;; esac
	session '' "${wanted[@]}"
	[ -z "${SERVE:-}" ] || judge capture check_capture
	SERVE=
fi
guests=(a=a b=b) names=(a b)
if [ "${1:-}" = short ]; then
	say "a guest in simulated time, twice"
	judge simulated.one_guest check_simulated_one_guest
elif [ -n "$all" ]; then
	for name in "${groups[@]}"; do group "$name"; done
elif [ -n "${title[${1:-}]:-}" ]; then
	group "$1"
fi
echo "$(awk -F , 'NR > 1 { n[$2]++ } END { printf "%d pass, %d fail, %d skip", n["pass"], n["fail"], n["skip"] }' "$results"), after $((SECONDS - began)) s: $results, and what each did in ${results%/*}/logs"
[ $fails -eq 0 ]
