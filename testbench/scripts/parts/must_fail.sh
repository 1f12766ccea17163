# SPDX-License-Identifier: Apache-2.0
# Scenarios that must fail, each with the message that it must print. Sourced by run_tests.sh.
#
#	must_fail NAME WORDS [SETUP] <<'END'
#	body
#	END
#
# WORDS: one or more lines; the run must print each of them. SETUP: members of struct tb_setup.

# make_scenario NAME SETUP: writes a scenario file with the body from standard input; prints its path
make_scenario()
{
	local file=$scratch/$1.c
	{
		printf '#include "model/engine/chip/processor.h"\n#include "testbench/harm.h"\nSCENARIO(%s, "of the tests", %s)\n{\n' "$1" "$2"
		cat
		printf '}\n'
	} >"$file"
	echo "$file"
}

# says_all STATUS WORDS COMMAND...: the command ends with this status and prints each line of WORDS
says_all()
{
	local want=$1 words=$2 rc line; shift 2
	"$@" >"$scratch/said" 2>&1
	rc=$?
	cat "$scratch/said"
	[ $rc -eq "$want" ] || { echo "exit status $rc"; return 1; }
	while read -r line; do
		grep -qF -- "$line" "$scratch/said" || { echo "it does not say '$line'"; return 1; }
	done <<<"$words"
}

must_fail()
{
	local file; file=$(make_scenario "$1" "${3:-}")
	one "must_fail.$1" says_all 1 "$2" "$hcasim" run "$file" --trace none -o "$scratch/must_fail"
}

# --- things that the body does not expect

must_fail guest_error_after_many 'expected: no further guest error
got:      register_size of hca0' <<'END'
	const uint8_t byte = 1;

	for (unsigned i = 0; i < 100; i++)
		drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, 0x1000, 1);
	drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR, &byte, sizeof(byte));
	pass_time(CFG_US(10));
	expect_guest_error(a, register_unknown);
END

must_fail guest_errors_too_many 'expected: at most 65536 guest errors, got 464 more' <<'END'
	for (unsigned i = 0; i < 66000; i++)
		drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, 0x1000, 1);
	pass_time(CFG_US(1));
	expect_guest_error(a, register_unknown);
END

must_fail catastrophe_of_the_other 'expected: a catastrophic error of b' '.no_qps = true, .stays_up = true' <<'END'
	hca_catastrophe(host_hca(a->host), ERR_BUF_INJECTED, 0, "a test");
	ignore_events(a);
	expect_catastrophe(b);
END

must_fail device_left_up 'expected: the device of host b is removed: take_down() is missing' '.bare = true' <<'END'
	bring_up(b);
END

must_fail event_after_many 'expected: no further event
got:      event' '.qps = 70, .queue = 8' <<'END'
	ignore_packets();
	for (unsigned i = 0; i < 70; i++)
		inject(b, RC_READ_REQUEST, .qpn = drv_qp_num(b->qp[i]), .psn = 0xfffffe, .rkey = 1, .dma_len = 8);
	pass_time(CFG_MS(1));
	for (unsigned i = 0; i < 64; i++)
		expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
END

# a completion is discarded unread with its queue pair or its CQ
must_fail completion_gone_with_reset 'completion_gone_with_reset.c:9: completion_gone_with_reset failed
expected: no completion thrown away unseen
got:      1 at host 0; the first: wr_id 9, status 0 (success)' '.any_packets = true' <<'END'
	rdma_write(a, .wr_id = 9, .len = 64);
	expect_data(b, .len = 64);
	pass_time(CFG_US(20));

	move_qp(a->qp[0], IBV_QPS_RESET);
	pass_time(CFG_US(20));
END

must_fail completions_flushed_and_gone 'got:      2 at host 1; the first: wr_id 4, status 5' <<'END'
	post_recv(b, .wr_id = 4, .len = 64, .repeat = 2);
	move_qp(b->qp[0], IBV_QPS_ERR);
	pass_time(CFG_US(100));
	reconnect(0);
END

must_fail completion_gone_with_destroy 'got:      1 at host 0; the first: wr_id 9, status 0' '.any_packets = true' <<'END'
	struct drv_cq *cq = new_cq(a, 15, 0);
	struct drv_qp *x = new_qp(a, .send_cq = cq), *y = new_qp(b);

	connect_two(x, y);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 9, .len = 64);
	expect_data(b, .len = 64);
	pass_time(CFG_US(20));
	destroy_qp(x);
	destroy_cq(cq);
	destroy_qp(y);
END

must_fail discarded_counted 'expected: 3 completions thrown away unseen at b
got:      2' <<'END'
	post_recv(b, .wr_id = 4, .len = 64, .repeat = 2);
	move_qp(b->qp[0], IBV_QPS_ERR);
	pass_time(CFG_US(100));
	reconnect(0);
	expect_discarded(b, 3);
END

# --- expectations that must be told apart

must_fail nak_is_no_ack 'expected: b_to_a rc_acknowledge psn 0xfffffe
got:      nak 2, expected a positive ack: rc_acknowledge psn 0xfffffe' <<'END'
	inject(b, RC_READ_REQUEST, .psn = 0xfffffe, .rkey = 1, .dma_len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
END

must_fail rnr_is_no_ack 'got:      rnr 12, expected a positive ack' '.rnr_retry = 1' <<'END'
	post_send(a, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
END

must_fail ack_is_no_nak 'got:      no nak: rc_acknowledge psn 0xfffffe' <<'END'
	rdma_write(a, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .pad = 0, .grh = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .nak = TB_SOME);
END

must_fail allowed_is_named 'expected: b_to_a rc_acknowledge psn 0x7
got:      nak 2, expected a positive ack: rc_acknowledge psn 0xfffffe' <<'END'
	allow_pkt(b_to_a, RC_ACKNOWLEDGE);
	inject(b, RC_READ_REQUEST, .psn = 0xfffffe, .rkey = 1, .dma_len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 7);
END

must_fail mad_unexpected 'expected: no further packet
got:      mads_a_to_b ud_send_only' <<'END'
	struct drv_port_attr attr;

	check_mads();
	must(sm_run(a->dev, 1, NULL, NULL));
	must(drv_query_port(a->dev, 1, &attr));
END

must_fail grh_is_none 'got:      grh 0, expected 1' <<'END'
	rdma_write(a, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .grh = 1);
END

must_fail data_of_no_length 'expected: how many bytes: .len' <<'END'
	expect_data(b);
END

must_fail imm_that_is_none 'expected: completion at b, status 0 (success), imm 0' '.any_packets = true' <<'END'
	post_recv(b, .len = 64);
	post_send(a, .len = 64);
	expect_cqe(b, .imm = 0);
END

must_fail length_of_an_error 'expected: completion at b, status 5 (Work Request Flushed Error), byte_len 64' <<'END'
	post_recv(b, .len = 64);
	move_qp(b->qp[0], IBV_QPS_ERR);
	expect_cqe(b, .status = IBV_WC_WR_FLUSH_ERR, .byte_len = 64);
END

must_fail send_that_is_a_receive 'expected: completion at b, status 5 (Work Request Flushed Error), opcode 0' <<'END'
	post_recv(b, .len = 64);
	move_qp(b->qp[0], IBV_QPS_ERR);
	expect_cqe(b, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_SEND);
END

must_fail error_that_is_none 'expected: completion at a, any error
got:      status 0 (success)' '.any_packets = true' <<'END'
	rdma_write(a, .len = 64);
	expect_cqe(a, .status = ANY_ERROR);
END

must_fail one_of_these_is_not 'expected: completion at a, status 0 (success), wr_id 9
got:      status 0 (success), wr_id 2,' '.any_packets = true' <<'END'
	rdma_write(a, .wr_id = 1, .len = 64, .repeat = 3);
	expect_cqes_of(a, CQE(.wr_id = 3), CQE(.wr_id = 9), CQE(.wr_id = 1));
END

must_fail late_twice 'expected: one late DMA of a after the other: one has not come' <<'END'
	late_read(a, "payload", CFG_US(5));
	late_read(a, "wqe", CFG_US(5));
END

must_fail fault_of_too_few_packets 'expected: every fault to happen
fired 1 of 3 times' '.timeout = 8, .any_packets = true' <<'END'
	drop_next(a_to_b, RC_WRITE_ONLY, .times = 3, .transmission = 1);
	rdma_write(a, .len = 64);
	expect_cqe(a);
	expect_data(b, .len = 64);
END

must_fail pair_beside_queue_pair 'expected: no .qp beside the queue pair' <<'END'
	send_on(a, a->qp[0], .qp = 1, .len = 64);
END

must_fail number_of_a_completion 'expected: completion at a, status 0 (success), src_qp 5, qpn 000
got:      status 0 (success), wr_id 3, opcode 1, src_qp 0, qp 0, qpn 000' '.any_packets = true' <<'END'
	rdma_write(a, .wr_id = 3, .len = 64);
	expect_cqe(a, .on = a->qp[0], .src_qp = 5);
END

must_fail injected_too_long 'expected: a packet of at most' <<'END'
	inject(b, RC_WRITE_ONLY, .len = 5000, .dma_len = 5000);
END

# --- how a failure is reported

must_fail quiet_names_the_qp 'expected: nothing in flight in either device
got:      qpn 0x' '.timeout = 31, .any_packets = true' <<'END'
	drop_next(a_to_b, RC_WRITE_ONLY);
	rdma_write(a, .len = 64);
END

must_fail comparison_shows_values 'expected: tb_stat(a, "retry", "ack_timeouts") > 5
got:      0 (0x0) and 5 (0x5)' <<'END'
	expect_that(tb_stat(a, "retry", "ack_timeouts"), >, 5);
END

must_fail statement_shows_counters 'expected: tb_stat(a, "retry", "ack_timeouts") > 5
got:      it is not so: retry.ack_timeouts of a 0' <<'END'
	expect_true(tb_stat(a, "retry", "ack_timeouts") > 5);
END

must_fail row_is_named 'row_is_named.c:9: row_is_named failed
row:      1 (second)' <<'END'
	static const char *const rows[] = {"first", "second", "third"};

	for_each_row(i, rows) {
		name_row("%s", rows[i]);
		expect_equal(i, 0);
	}
END

# the body ends at its first failure, and does not go on with an object that was not made
must_fail nothing_runs_on 'nothing_runs_on.c:5: nothing_runs_on failed
expected: drv_srq_create gives 0' <<'END'
	struct drv_srq *srq = new_srq(a, .max_wr = 1u << 30);

	b->dst[drv_srq_num(srq)] = 1;
END

# --- guest errors are told first, with the driver's calls

must_fail told_of_doorbell 'guest error dma_unmapped of hca0, qp 0x
the address was unmapped
the last doorbell was rung
mlx4_post_send()  host_driver/mlx4/post.c:
look at:  who unmapped or freed that address' <<'END'
	a->platform->ops->dma_unmap(a->platform, host_bus(a->host, a->src), 8192);
	rdma_write(a, .wr_id = 9, .len = 64);
	expect_cqe(a, .wr_id = 9);
END

must_fail told_of_command 'guest error qp_transition of hca0, qp 0x
what:     RTR2RTS_QP: not legal in RTS, modifier 0x
the last command, RTR2RTS_QP, was given
mlx4_cmd()  host_driver/mlx4/cmd.c:
look at:  the state that the driver thinks the QP has' <<'END'
	static const uint8_t mailbox[256];
	struct drv_raw_cmd cmd = {.op = HCR_RTR2RTS_QP, .in_mod = drv_qp_num(a->qp[0]), .in = mailbox, .in_len = sizeof(mailbox)};

	drv_cmd(a->dev, &cmd);
	expect_no_more(CFG_US(1));
END

# told_first: the guest error is the first line that a failed run prints
told_first()
{
	local file; file=$(make_scenario told_first '')
	"$hcasim" run "$file" --trace none -o "$scratch/must_fail" 2>"$scratch/told" >/dev/null
	[ $? -eq 1 ] && sed -n 1p "$scratch/told" | grep '^guest error register_unknown of hca0 at'
}
one must_fail.told_first told_first <<'END'
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, 0x1000, 1);
	pass_time(CFG_US(5));
	expect_that(1, ==, 2);
END

# a command that the firmware refused
must_fail told_of_refusal 'refused:  QUERY_CQ of hca0, modifier 0xfff0: status BAD_RESOURCE
mlx4_cmd()  host_driver/mlx4/cmd.c:' <<'END'
	struct drv_raw_cmd cmd = {.op = HCR_QUERY_CQ, .in_mod = 0xfff0};

	drv_cmd(a->dev, &cmd);
	expect_guest_error(a, object_dead);
	expect_that(1, ==, 2);
END

# nothing happens: what waits for what
must_fail told_of_stall 'what the devices and the driver wait for:
hca0 qp 0x208: no receive is left by its doorbell record (0 posted, 0 taken)
hca1 qp 0x208: no receive is left' <<'END'
	expect_pkt(a_to_b, RC_SEND_ONLY);
END

# a QP whose context names no P_Key
must_fail told_of_pkey "hca0 qp 0x209: entry 5 of port 1's P_Key table, which its context names, is not valid" <<'END'
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	connect_two(x, y, .pkey_index = 5);
	expect_pkt(a_to_b, RC_SEND_ONLY);
END

# what comes after the failure is called a consequence
must_fail told_of_consequences 'more guest errors came after the failure, while the driver was taken down: they are its consequences' '.any_packets = true' <<'END'
	rdma_write(a, .wr_id = 8, .len = 4096, .repeat = 64);
	expect_that(1, ==, 2);
END

one tool.rules_one grep -q "^  shown by: hcasim run guest_dma_unmapped" <("$hcasim" rules dma_unmapped)

# --- settings that are not what the scenario asks for

one must_fail.overridden says_all 1 'note:     two_ports asks for hca.port2.type=ib, and this run has another value' \
	"$hcasim" run two_ports -s hca.port2.type=eth --trace none -o "$scratch/must_fail"
