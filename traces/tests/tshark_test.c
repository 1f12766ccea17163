/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that Wireshark reads what the capture holds: opcodes, times, directions and comments, and
 * nothing malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "traces/tests/dir_of.h"
#include "model/interface/macros.h"
#include "traces/tests/packets.h"
#include "traces/trace.h"

static void both_ways(struct trace *tr, uint64_t time_ps, uint8_t from, const struct test_packet *p)
{
	struct trace_record r = {.time_ps = time_ps,
				 .point = TP_PKT_OUT,
				 .hca = from,
				 .port = 1,
				 .bytes = p->b,
				 .len = p->len,
				 .args = {TRACE_PACKET_WR_ID, 7}};

	trace_emit(tr, &r);
	r.time_ps += 5000;
	r.point = TP_PKT_IN;
	r.hca = !from;
	r.args[0] = 0;
	trace_emit(tr, &r);
}

static void make_mad(struct test_packet *p)
{
	struct mad_hdr *mad;

	test_packet_make(p, BTH_UD_SEND_ONLY, 1, 256, false);
	deth_set_qkey(test_packet_ext(p, BTH_EXT_DETH), 0x80010000);
	deth_set_sqpn(test_packet_ext(p, BTH_EXT_DETH), 1);
	mad = (struct mad_hdr *)(void *)(p->b +
					 bth_op_header_bytes(bth_op_find(BTH_UD_SEND_ONLY), false));
	memset(mad, 0, 256);
	mad_hdr_set_base_version(mad, 1);
	mad_hdr_set_mgmt_class(mad, MAD_CLASS_PERF);
	mad_hdr_set_class_version(mad, 1);
	mad_hdr_set_method(mad, MAD_METHOD_GET);
	mad_hdr_set_attr_id(mad, PMA_ATTR_PORT_COUNTERS);
	test_packet_seal(p);
}

static void make_capture(struct test_dir *d)
{
	static const struct {
		uint8_t opcode, from;
		uint32_t payload;
	} packets[] = {
		{BTH_RC_SEND_ONLY, 0, 64},       {BTH_RC_WRITE_FIRST, 0, 4096},
		{BTH_RC_WRITE_MIDDLE, 0, 4096},  {BTH_RC_WRITE_LAST, 0, 1},
		{BTH_RC_READ_REQUEST, 1, 0},     {BTH_RC_READ_RESP_FIRST, 0, 256},
		{BTH_RC_READ_RESP_LAST, 0, 255}, {BTH_RC_ACKNOWLEDGE, 1, 0},
	};
	struct trace *tr = trace_create();
	struct test_packet p;
	uint64_t now = 1234567890123;

	assert_int_equal(trace_open(tr, "pcapng", d->path, stderr), 0);
	for (size_t i = 0; i < ARRAY_SIZE(packets); i++, now += 1000000) {
		test_packet_make(&p, packets[i].opcode, (uint32_t)i, packets[i].payload, false);
		if (bth_op_has(bth_op_find(packets[i].opcode), BTH_EXT_RETH))
			reth_set_dma_len(test_packet_ext(&p, BTH_EXT_RETH), 8193);
		test_packet_seal(&p);
		both_ways(tr, now, packets[i].from, &p);
	}
	make_mad(&p);
	both_ways(tr, now, 0, &p);
	assert_int_equal(trace_close(tr), 0);
}

/* Runs tshark with these arguments, and puts what it prints into out. */
static void tshark(struct test_dir *d, const char *args, char *out, size_t room)
{
	char command[512];
	size_t n;
	FILE *p;

	snprintf(command, sizeof(command),
		 "tshark --disable-protocol rpcordma -r %s %s 2>/dev/null",
		 test_dir_file(d, "packets.pcapng"), args);
	p = popen(command, "r");
	assert_non_null(p);
	n = fread(out, 1, room - 1, p);
	out[n] = 0;
	assert_int_equal(pclose(p), 0);
}

static void tshark_decodes_everything(void **state)
{
	struct test_dir *d = *state;
	char out[4096];

	if (system("tshark --version >/dev/null 2>&1"))
		skip();
	make_capture(d);
	tshark(d, "-Y '_ws.malformed || !infiniband'", out, sizeof(out));
	assert_string_equal(out, "");
	tshark(d,
	       "-T fields -e infiniband.bth.opcode -e infiniband.bth.psn -Y "
	       "'frame.packet_flags_direction == 2'",
	       out, sizeof(out));
	assert_string_equal(out, "4\t0\n6\t1\n7\t2\n8\t3\n12\t4\n13\t5\n15\t6\n17\t7\n100\t1\n");
	tshark(d,
	       "-T fields -e infiniband.mad.mgmtclass -e infiniband.mad.attributeid -Y "
	       "infiniband.mad",
	       out, sizeof(out));
	assert_string_equal(out, "0x04\t0x0012\n0x04\t0x0012\n");
	tshark(d,
	       "-T fields -e frame.time_epoch -e frame.interface_name -e "
	       "frame.packet_flags_direction "
	       "-e frame.comment -c 2",
	       out, sizeof(out));
	assert_string_equal(out, "1.234567890\thca0.port1\t0x00000002\twr_id=7;\n"
				 "1.234567895\thca1.port1\t0x00000001\t\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tshark_decodes_everything, test_dir_make,
						test_dir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
