/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a log line of each kind. The offsets of bytes made by hand are those of the mlx4 interface
 * and do not come from the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tests/packets.h"
#include "traces/trace_impl.h"

static void line_is(const struct trace_record *r, const char *expect)
{
	struct trace_text t = {0};

	trace_log_line(&t, r);
	assert_string_equal(t.s, expect);
	trace_text_free(&t);
}

#define LINE(expect, ...) line_is(&(struct trace_record){__VA_ARGS__}, expect)

static void text_of_plain_kinds(void **state)
{
	LINE("     12.345678 hca0 doorbell      send doorbell qpn 0x41 uar 5\n",
	     .time_ps = 12345678, .point = TP_DOORBELL_SEND, .qpn = 0x41, .args = {5});
	LINE("      0.000000      scenario      begin\n", .point = TP_NOTE, .hca = TRACE_NO_HCA,
	     .text = "begin\n");
	LINE("      0.000000 hca1 doorbell      arm cqn 0x84 ci 3 sn 1 solicited 0\n",
	     .point = TP_DOORBELL_CQ_ARM, .hca = 1, .args = {0x84, 3, 1, 0});
	LINE("      0.000000 hca0 retry         qpn 0x41 ack timer until 67.108864\n",
	     .point = TP_TIMER_START, .qpn = 0x41, .text = "ack", .args = {67108864});
	LINE("      0.000000 hca0 driver        mlx4_cmd returns -16\n", .point = TP_DRV_EXIT,
	     .text = "mlx4_cmd", .args = {(uint64_t)-16});
	LINE("      0.000000 hca0 pcie          dma write 0x12340 length 64 cqe\n",
	     .point = TP_DMA_WRITE, .text = "cqe", .args = {0x12340, 64});
	LINE("      0.000000 hca0 interrupt     msi-x vector 2\n", .point = TP_IRQ_RAISE,
	     .args = {2});
	LINE("      0.000000 hca0 fw            port 0x2\n", .point = TP_FW_NUMBER, .text = "port",
	     .args = {2});
	LINE("      0.000000 hca1 guest_error   cq_ci cqn 0x84 passed its producer\n",
	     .point = TP_GUEST_ERROR, .hca = 1, .text = "cq_ci cqn 0x84 passed its producer");
	LINE("      0.000000 hca0 fault         drop\n", .point = TP_FAULT, .text = "drop");
	LINE("      0.000000 hca0 link_port     port 1 training\n", .point = TP_LINK_STATE,
	     .port = 1, .text = "training");
	LINE("9999999.999999 hca0 scenario      two lines\n", .time_ps = 9999999999999,
	     .point = TP_NOTE, .text = "two\nlines");
}

static void text_of_registers(void **state)
{
	/* go 1, event 1, op_mod 2, opcode 0x23 */
	LINE("      0.000000 hca0 pcie          write bar0 0x80698 value 0x00c02023 hcr+0x18, go "
	     "1, "
	     "event 1, op_mod 2, opcode 0x23\n",
	     .point = TP_REG_WRITE, .args = {0, 0x80698, 0x00c02023, 4});
	LINE("      0.000000 hca0 pcie          write bar0 0x80684 value 0x00001000 hcr+0x4, "
	     "in_param low\n",
	     .point = TP_REG_WRITE, .args = {0, 0x80684, 0x1000, 4});
	LINE("      0.000000 hca0 pcie          read bar0 0x8069c value 0x00000000 ownership\n",
	     .point = TP_REG_READ, .args = {0, 0x8069c, 0, 4});
	LINE("      0.000000 hca0 pcie          write bar0 0x0 value 0x00000001\n",
	     .point = TP_REG_WRITE, .args = {0, 0, 1, 4});
}

static void text_of_doorbell_pages(void **state)
{
	LINE("      0.000000 hca0 pcie          write bar2 0x80014 value 0x00004100 uar 128+0x14, "
	     "qpn 0x41\n",
	     .point = TP_REG_WRITE, .args = {2, 128 * 4096 + 0x14, 0x4100, 4});
	LINE("      0.000000 hca0 pcie          write bar2 0x80020 value 0x1200008400000003 uar "
	     "128+0x20, "
	     "sn 1, cmd next, cqn 0x84, ci 3\n",
	     .point = TP_REG_WRITE, .args = {2, 128 * 4096 + 0x20, 0x1200008400000003, 8});
	LINE("      0.000000 hca0 pcie          write bar2 0x1808 value 0x80000005 uar 1+0x808, "
	     "eqn 5, arm 1, "
	     "ci 5\n",
	     .point = TP_REG_WRITE, .args = {2, 4096 + 0x808, 0x80000005, 4});
	LINE("      0.000000 hca0 pcie          write bar2 0x481100 value 0x0000000000000000 "
	     "blueflame 129+0x100\n",
	     .point = TP_REG_WRITE, .args = {2, 0x400000 + 129 * 4096 + 0x100, 0, 8});
	LINE("      0.000000 hca0 pcie          config write 0x4 value 0x0006\n",
	     .point = TP_CFG_WRITE, .args = {0, 4, 6, 2});
}

static void text_of_commands(void **state)
{
	uint8_t mailbox[4096] = {0};

	LINE("      0.000000 hca0 fw            done nop status bad_op token 0xffff\n",
	     .point = TP_HCR_DONE, .corr = 0xffff, .args = {0x31, 0, 0x1f, 0, 0, 2});
	LINE("      0.000000 hca0 fw            command set_icm_size op_mod 0 in_mod 0x0 in_param "
	     "0x4000000 "
	     "token 0x12 event\n",
	     .point = TP_HCR_POST, .corr = 0x12, .args = {0xffd, 0, 0, 0x4000000, 0, 1});
	/* two entries: ICM page 0x10000 from 0x7f000000, 2^6 pages; 0x50000 from 0x7e000000, one
	 * page */
	memcpy(mailbox, "\0\0\0\0\0\1\0\0\0\0\0\0\x7f\0\0\6\0\0\0\0\0\5\0\0\0\0\0\0\x7e\0\0\0", 32);
	LINE("      0.000000 hca0 fw            command map_icm op_mod 0 in_mod 0x2 in_param "
	     "0x3000 token "
	     "0xffff poll, va 0x10000, pa 0x7f000000, log_size 6, va 0x50000, pa 0x7e000000\n",
	     .point = TP_HCR_POST, .corr = 0xffff, .args = {0xffa, 0, 2, 0x3000, 0, 0},
	     .bytes = mailbox, .len = sizeof(mailbox));
	memset(mailbox, 0, sizeof(mailbox));
	/* QUERY_FW: 0x300 pages, 2.42.5000 as major, subminor, minor; command interface 3 */
	memcpy(mailbox, "\3\0\0\2\x13\x88\0\x2a\0\0\0\3", 12);
	LINE("      0.000000 hca0 fw            done query_fw status ok out_param 0x4000 token "
	     "0xffff, "
	     "fw_pages 768, major 2, subminor 0x1388, minor 0x2a, cmd_if_rev 3\n",
	     .point = TP_HCR_DONE, .corr = 0xffff, .args = {4, 0, 0, 0, 0x4000, 0},
	     .bytes = mailbox, .len = sizeof(mailbox));
	LINE("      0.000000 hca0 fw            command 0x7e op_mod 0 in_mod 0x0 token 0x0 poll\n",
	     .point = TP_HCR_POST, .args = {0x7e});
}

static void text_of_a_qp_transition(void **state)
{
	uint8_t mailbox[4096] = {0};

	/* opt mask RRE | RWE; context at 8: state 3 and service 0 in its first dword, MTU 4 (2048)
	 * at 4 */
	mailbox[3] = 0x0a;
	mailbox[8] = 0x30;
	mailbox[8 + 0x13] = 0x41; /* local_qpn */
	LINE("      0.000000 hca0 fw            command rtr2rts_qp op_mod 0 in_mod 0x41 in_param "
	     "0x3000 token "
	     "0x7 event, opt_mask 0xa, state rts, local_qpn 0x41\n",
	     .point = TP_HCR_POST, .corr = 7, .args = {0x1b, 0, 0x41, 0x3000, 0, 1},
	     .bytes = mailbox, .len = sizeof(mailbox));
}

static void text_of_send_wqes(void **state)
{
	/* RDMA WRITE: control (3 units, CQE wanted), remote address, one data segment */
	static const uint8_t write[64] = {
		0x80, 0, 0,    0x08, 0, 0,    0,    0x03, 0, 0, 0,    0x0c, 0, 0,    0,    0,
		0,    0, 0,    0,    0, 0x12, 0x30, 0,    0, 0, 0x11, 0x22, 0, 0,    0,    0,
		0,    0, 0x10, 0,    0, 0,    0x33, 0x44, 0, 0, 0,    0,    0, 0x45, 0x60, 0,
	};
	/* SEND with 5 bytes inline */
	static const uint8_t inl[64] = {
		0, 0, 0, 0x0a, 0, 0, 0, 0x02, 0,   0,   0,   0,   0,
		0, 0, 0, 0x80, 0, 0, 5, 'h',  'e', 'l', 'l', 'o',
	};

	LINE("      0.000000 hca0 wqe_fetch     send wqe qpn 0x41 index 9 rdma_write, ds 3, cqe 3; "
	     "raddr, va "
	     "0x123000, rkey 0x1122; data, byte_count 4096, lkey 0x3344, addr 0x456000\n",
	     .point = TP_WQE_SEND, .qpn = 0x41, .corr = 9, .bytes = write, .len = sizeof(write));
	LINE("      0.000000 hca0 wqe_fetch     send wqe qpn 0x41 index 0 send, ds 2; inline 5 "
	     "bytes 68656c6c6f\n",
	     .point = TP_WQE_SEND, .qpn = 0x41, .bytes = inl, .len = sizeof(inl));
	/* longer than what was fetched */
	LINE("      0.000000 hca0 wqe_fetch     send wqe qpn 0x41 index 0 send, ds 2; inline 5 "
	     "bytes 68\n",
	     .point = TP_WQE_SEND, .qpn = 0x41, .bytes = inl, .len = 21);
}

static void text_of_receive_wqes(void **state)
{
	/* a data segment, then one of no bytes with the invalid key 0x100 */
	static const uint8_t recv[48] = {
		0, 0, 0, 64, 0, 0, 0, 0x55, 0, 0, 0, 0, 0, 0, 0x70, 0, 0, 0, 0, 0, 0, 0, 1,
	};
	static const uint8_t srq[32] = {
		0, 0, 0, 6,  0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0,    0,
		0, 0, 0, 64, 0, 0, 0, 0x55, 0, 0, 0, 0, 0, 0, 0x70, 0,
	};

	LINE("      0.000000 hca1 wqe_fetch     receive wqe qpn 0x42 index 3; data, byte_count 64, "
	     "lkey 0x55, "
	     "addr 0x7000\n",
	     .point = TP_WQE_RECV, .hca = 1, .qpn = 0x42, .corr = 3, .bytes = recv,
	     .len = sizeof(recv));
	LINE("      0.000000 hca1 wqe_fetch     receive wqe qpn 0x42 index 3 srqn 0x40; next, "
	     "next_wqe_index 6; "
	     "data, byte_count 64, lkey 0x55, addr 0x7000\n",
	     .point = TP_WQE_RECV, .hca = 1, .qpn = 0x42, .corr = 3, .bytes = srq,
	     .len = sizeof(srq), .args = {0x40});
}

static void text_of_completions(void **state)
{
	uint8_t cqe[32] = {0};

	cqe[3] = 0x41;           /* QP */
	cqe[0x17] = 64;          /* bytes */
	cqe[0x19] = 5;           /* WQE index */
	cqe[0x1f] = 0xc0 | 0x0a; /* owner, send queue, SEND */
	LINE("      0.000000 hca0 cqe_write     cqe cqn 0x84 index 2 send send, my_qpn 0x41, "
	     "byte_cnt 64, "
	     "wqe_index 5\n",
	     .point = TP_CQE_WRITE, .args = {0x84, 2}, .bytes = cqe, .len = 32);
	cqe[0x1f] = 0x02;
	LINE("      0.000000 hca0 cqe_write     cqe cqn 0x84 index 2 receive send_imm, my_qpn "
	     "0x41, byte_cnt 64, "
	     "wqe_index 5\n",
	     .point = TP_CQE_WRITE, .args = {0x84, 2}, .bytes = cqe, .len = 32);
	cqe[0x17] = 0;
	cqe[0x1b] = 0x15; /* retry exceeded */
	cqe[0x1f] = 0x40 | 0x1e;
	LINE("      0.000000 hca0 cqe_write     cqe cqn 0x84 index 2 send retry_exc_err, my_qpn "
	     "0x41, wqe_index 5\n",
	     .point = TP_CQE_WRITE, .args = {0x84, 2}, .bytes = cqe, .len = 32);
}

static void text_of_events(void **state)
{
	uint8_t eqe[32] = {0};

	eqe[1] = 0x0a; /* command, token at 6, status at 0xf */
	eqe[7] = 0x12;
	LINE("      0.000000 hca0 event_queue   eqe eqn 1 index 7 cmd, token 0x12\n",
	     .point = TP_EQE_WRITE, .args = {1, 7}, .bytes = eqe, .len = 32);
	memset(eqe, 0, sizeof(eqe));
	eqe[1] = 0x09; /* port change, subtype active, port 1 in the top bits of 0xc */
	eqe[3] = 4;
	eqe[0xc] = 0x10;
	LINE("      0.000000 hca0 event_queue   eqe eqn 1 index 7 port_change subtype 0x4, port "
	     "1\n",
	     .point = TP_EQE_WRITE, .args = {1, 7}, .bytes = eqe, .len = 32);
	memset(eqe, 0, sizeof(eqe));
	eqe[7] = 0x84; /* completion */
	LINE("      0.000000 hca0 event_queue   eqe eqn 2 index 0 comp, cqn 0x84\n",
	     .point = TP_EQE_WRITE, .args = {2, 0}, .bytes = eqe, .len = 32);
}

static void text_of_packets(void **state)
{
	LINE("      1.500000 hca1 link_port     out port 1 rc_acknowledge slid 1 dlid 4 sl 0 vl 0 "
	     "qpn 0x870408 "
	     "psn 13896277, ack credits 31 msn 1\n",
	     .time_ps = 1500000, .point = TP_PKT_OUT, .hca = 1, .port = 1, .bytes = captured_ack,
	     .len = sizeof(captured_ack));
	LINE("      0.000000 hca0 link_port     in port 2 ud_send_only slid 4 dlid 49152 sl 0 vl 0 "
	     "qpn 0xffffff "
	     "psn 8367 payload 60, sgid fe800000000000000002c9020024f636 dgid "
	     "ff12401bffff00000000"
	     "0000ffffffff, qkey 0xb1b, sqpn 0x405, wr_id 7, wqe 3, try 2, fault delay\n",
	     .point = TP_PKT_IN, .port = 2, .bytes = captured_grh, .len = sizeof(captured_grh),
	     .args = {TRACE_PACKET_WR_ID | TRACE_PACKET_WQE, 7, 3, 2}, .text = "delay");
	/* sent by a connected QP, whose own number differs from the destination QPN */
	LINE("      1.500000 hca1 link_port     out port 1 rc_acknowledge slid 1 dlid 4 sl 0 vl 0 "
	     "qpn 0x870408 "
	     "psn 13896277, ack credits 31 msn 1, from 0x41\n",
	     .time_ps = 1500000, .point = TP_PKT_OUT, .hca = 1, .port = 1, .qpn = 0x41,
	     .bytes = captured_ack, .len = sizeof(captured_ack));
	LINE("      0.000000 hca0 link_port     discard port 1 no transport packet, 3 bytes: "
	     "000200, length\n",
	     .point = TP_PKT_DISCARD, .port = 1, .bytes = captured_ack, .len = 3, .text = "length");
}

static void text_of_negative_acknowledges(void **state)
{
	struct test_packet p;

	test_packet_make(&p, BTH_RC_ACKNOWLEDGE, 9, 0, false);
	p.b[20] = 0x62; /* NAK, remote access error */
	p.b[23] = 4;
	LINE("      0.000000 hca0 link_port     in port 1 rc_acknowledge slid 1 dlid 2 sl 0 vl 0 "
	     "qpn 0x41 psn 9, "
	     "nak rem_access msn 4\n",
	     .point = TP_PKT_IN, .port = 1, .bytes = p.b, .len = p.len);
	p.b[20] = 0x2c; /* RNR NAK, timer code 12 */
	LINE("      0.000000 hca0 link_port     in port 1 rc_acknowledge slid 1 dlid 2 sl 0 vl 0 "
	     "qpn 0x41 psn 9, "
	     "rnr nak timer 12 msn 4\n",
	     .point = TP_PKT_IN, .port = 1, .bytes = p.b, .len = p.len);
}

/* Every record, whatever its bytes, makes one line. */
static void any_bytes_make_one_line(void **state)
{
	uint8_t bytes[300];
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		struct trace_text t = {0};
		struct trace_record r = {.point = (enum trace_point)(i % TRACE_POINT_COUNT)};

		for (size_t k = 0; k < sizeof(bytes); k++) {
			random = random * 1664525 + 1013904223;
			bytes[k] = (uint8_t)(random >> 24);
		}
		for (int k = 0; k < 6; k++)
			r.args[k] = (uint64_t)bytes[k] << (bytes[k + 6] & 63);
		/* the buffer is exactly as long as the record says, so that the sanitizer sees a
		 * read past its end */
		r.len = bytes[20];
		r.bytes = memcpy(malloc(r.len ? r.len : 1), bytes, r.len);
		trace_log_line(&t, &r);
		assert_ptr_equal(strchr(t.s, '\n'), t.s + t.len - 1);
		trace_text_free(&t);
		free((void *)(uintptr_t)r.bytes);
	}
}

static bool is_field(const struct trace_point_row *row, const char *name, size_t n)
{
	for (const struct trace_field *f = row->fields; f->name; f++)
		if (strlen(f->name) == n && !memcmp(f->name, name, n))
			return true;
	return false;
}

/* The text of a row takes its values from the fields of the row, and all field names differ. */
static void texts_name_their_fields(void **state)
{
	for (unsigned p = 0; p < TRACE_POINT_COUNT; p++) {
		const struct trace_point_row *row = &trace_point_rows[p];

		for (const char *at = row->text; (at = strchr(at, '{')); at++)
			if (!is_field(row, at + 1, strcspn(at + 1, "}")))
				fail_msg("%s: no field %s", row->name, at);
		for (const struct trace_field *f = row->fields; f->name; f++)
			for (const struct trace_field *g = row->fields; g != f; g++)
				assert_string_not_equal(f->name, g->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_name_their_fields),
		cmocka_unit_test(text_of_plain_kinds),
		cmocka_unit_test(text_of_registers),
		cmocka_unit_test(text_of_doorbell_pages),
		cmocka_unit_test(text_of_commands),
		cmocka_unit_test(text_of_a_qp_transition),
		cmocka_unit_test(text_of_send_wqes),
		cmocka_unit_test(text_of_receive_wqes),
		cmocka_unit_test(text_of_completions),
		cmocka_unit_test(text_of_events),
		cmocka_unit_test(text_of_packets),
		cmocka_unit_test(text_of_negative_acknowledges),
		cmocka_unit_test(any_bytes_make_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
