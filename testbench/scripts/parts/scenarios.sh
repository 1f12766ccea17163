# SPDX-License-Identifier: Apache-2.0
# Every scenario passes, its capture has right CRCs and opens in tshark. Some run again: with equal traces, over Ethernet, with the transport in
# software. Sourced by run_tests.sh.

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

for s in "${scenarios[@]}"; do later "scenario.$s" timeout 600 "$hcasim" run "$s" -o "$traces/$s"; done
all_done
for s in "${scenarios[@]}"; do
	[ ! -e "$traces/$s/packets.pcapng" ] || later "capture.$s" capture_opens "$traces/$s/packets.pcapng"
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

# scenarios with the transport of either host, or of both, in software; make matrix runs all
sample=(rc_send rc_read rc_atomic rc_large rc_lost_read_response rc_retry_exceeded rc_rnr_exceeded resp_sequence mad_port_info mad_directed cm_connect
	rdma_connect rdma_datagram kernel_ud_srq multicast_chain recv_lists qp_sqd modify_live_uc loopback_full
	rc_lost_ack dup_requests dup_mismatch resp_order credits_sender retry_mixed path_bits mad_pkey_table srq_pd uc_srq_lost link_down send_lat_events)
one "matrix.sample" env SIDES="hw-sw sw-hw sw-sw" testbench/scripts/matrix.sh "${sample[@]}"

# --- what these runs have shown

one "list.behaviours" grep -Eq $'^DUP-1\trc_lost_ack\tpass$' <("$hcasim" list --behaviours)
one "list.behaviours_text" grep -Eq $'^DUP-1\trc_lost_ack\tpass\tA duplicate SEND' <("$hcasim" list --behaviours=text)
one "list.iwarp" grep -Eq $'^1\tiwarp_kinds\town\tpass$' <("$hcasim" list --iwarp)
