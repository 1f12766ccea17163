/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wireshark reads the MADs of the scenario cm_messages. It knows some messages of connection
 * management and path queries itself (REQ, REP, RTU, REJ, DREQ, DREP, PathRecord). The others are
 * read by the dissector that is made from the rows (build/hcasim_cm.lua; cm_rows_test.c checks its
 * offsets). The packet rate in a REQ is left out: Wireshark 4.0 shows 0 whatever its byte contains.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tests/dir_of.h"

enum { TEXT = 8192 };

static int make(void **state)
{
	return test_dir_make(state);
}

static int remove_all(void **state)
{
	struct test_dir *d = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/run", d->path);
	return system(command) || test_dir_remove(state);
}

static const char *build(void)
{
	const char *o = getenv("O");

	return o ? o : "build";
}

static void capture(struct test_dir *d)
{
	char command[512];

	snprintf(command, sizeof(command), "%s/hcasim run cm_messages -o %s/run >/dev/null 2>&1",
		 build(), d->path);
	assert_int_equal(system(command), 0);
}

/* Lists the fields of the sent messages with that attribute, one line for each message. */
static void fields(struct test_dir *d, const char *filter, const char *names, char out[TEXT])
{
	char command[2048], list[1024];
	int n = 0;
	size_t got;
	FILE *p;

	for (const char *w = names; *w; w += strcspn(w, " "), w += strspn(w, " "))
		n += snprintf(list + n, sizeof(list) - (size_t)n, " -e %.*s", (int)strcspn(w, " "),
			      w);
	snprintf(command, sizeof(command),
		 "tshark -X lua_script:%s/hcasim_cm.lua -r %s/run/packets.pcapng -T fields%s -Y "
		 "'frame.packet_flags_direction == 2 && !_ws.malformed && %s' 2>/dev/null",
		 build(), d->path, list, filter);
	p = popen(command, "r");
	assert_non_null(p);
	got = fread(out, 1, TEXT - 1, p);
	out[got] = 0;
	assert_int_equal(pclose(p), 0);
}

static void expect(struct test_dir *d, const char *filter, const char *names, const char *want)
{
	char out[TEXT];

	fields(d, filter, names, out);
	assert_string_equal(out, want);
}

#define REQ "infiniband.cm.req."
#define REP "infiniband.cm.rep."

static void tshark_names_what_it_knows(void **state)
{
	struct test_dir *d = *state;

	if (system("tshark --version >/dev/null 2>&1"))
		skip();
	capture(d);
	expect(d, "infiniband.mad.mgmtclass == 7", "infiniband.mad.attributeid",
	       "0x0010\n0x0012\n0x0010\n0x0011\n0x0013\n0x0014\n0x0019\n0x001a\n0x0015\n0x0016\n"
	       "0x0017\n0x0018\n");
	expect(d,
	       "infiniband.mad.mgmtclass == 7 && !(infiniband.mad.method == 3 && "
	       "infiniband.mad.classversion == 2 && infiniband.bth.destqp == 1)",
	       "frame.number", "");
	expect(d, REQ "serviceid == 0x1000",
	       "infiniband.cm.req " REQ "serviceid " REQ "localcaguid " REQ "localqpn " REQ
	       "responderres " REQ "initdepth " REQ "remoteresptout " REQ "transpsvctype " REQ
	       "e2eflowctrl " REQ "startpsn " REQ "localresptout " REQ "retrcount " REQ "pkey " REQ
	       "pppmtu " REQ "rnrretrcount " REQ "maxcmretr " REQ "srq",
	       "0x00000001\t0x0000000000001000\t0x0002c90300a00000\t0x000208\t0x04\t0x03\t0x10\t"
	       "0x00\t0x01\t0xfffffe\t0x10\t0x07\t0xffff\t0x05\t0x06\t0x03\t0x00\n");
	expect(d, REQ "serviceid == 0x1000",
	       REQ "prim_locallid " REQ "prim_remotelid " REQ "prim_localgid " REQ
		   "prim_remotegid " REQ "prim_sl " REQ "prim_subnetlocal " REQ
		   "prim_localacktout " REQ "alt_locallid",
	       "2\t4\tfe80::2:c903:a0:1\tfe80::2:c903:a0:11\t0x00\t0x01\t0x10\t0\n");
	expect(d, "infiniband.cm.rej.localcommid",
	       "infiniband.cm.rej.localcommid infiniband.cm.rej.remotecommid "
	       "infiniband.cm.rej.msgrej infiniband.cm.rej.reason infiniband.cm.rej.rejinfolen",
	       "0x00000000\t0x00000001\t0x00\t0x0008\t0x00\n");
	expect(d, "infiniband.cm.rep",
	       "infiniband.cm.rep " REP "remotecommid " REP "localqpn " REP "startpsn " REP
	       "respres " REP "initdepth " REP "tgtackdelay " REP "failoveracc " REP
	       "e2eflowctrl " REP "rnrretrcount " REP "srq " REP "localcaguid",
	       "0x00100002\t0x00000001\t0x000208\t0xfffffd\t0x03\t0x04\t0x0f\t0x00\t0x01\t0x05\t"
	       "0x00\t0x0002c90300a00010\n");
	expect(d, "infiniband.cm.rtu.localcommid",
	       "infiniband.cm.rtu.localcommid infiniband.cm.rtu.remotecommid",
	       "0x00000001\t0x00100002\n");
	expect(d, "infiniband.cm.dreq.localcommid",
	       "infiniband.cm.dreq.localcommid infiniband.cm.dreq.remotecommid "
	       "infiniband.cm.req.remoteqpneecn",
	       "0x00000001\t0x00100002\t0x000208\n");
	expect(d, "infiniband.cm.drsp.localcommid",
	       "infiniband.cm.drsp.localcommid infiniband.cm.drsp.remotecommid",
	       "0x00100002\t0x00000001\n");
	expect(d, "infiniband.mad.mgmtclass == 3",
	       "infiniband.mad.method infiniband.pathrecord.dlid infiniband.pathrecord.slid "
	       "infiniband.pathrecord.mtu infiniband.pathrecord.rate "
	       "infiniband.pathrecord.packetlifetime",
	       "0x01\t0x0000\t0x0000\t0x00\t0x00\t0x00\n0x81\t0x0004\t0x0002\t0x05\t0x0c\t0x0c\n");
}

static void the_rows_name_the_rest(void **state)
{
	struct test_dir *d = *state;

	if (system("tshark --version >/dev/null 2>&1"))
		skip();
	capture(d);
	expect(d, "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == 0x11",
	       "hcasim.cm_mra.local_comm_id hcasim.cm_mra.remote_comm_id "
	       "hcasim.cm_mra.message_mraed hcasim.cm_mra.service_timeout",
	       "0x00100002\t0x00000001\t0x00\t0x12\n");
	expect(d, "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == 0x19",
	       "hcasim.cm_lap.remote_qpn hcasim.cm_lap.remote_cm_response_timeout "
	       "hcasim.cm_lap_path.local_lid hcasim.cm_lap_path.remote_lid "
	       "hcasim.cm_lap_path.packet_rate hcasim.cm_lap_path.ack_timeout",
	       "0x00000208\t0x00000010\t0x0003\t0x0005\t0x0c\t0x10\n");
	expect(d, "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == 0x1a",
	       "hcasim.cm_apr.ap_status hcasim.cm_apr.info_length", "0x00\t0x02\n");
	expect(d, "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == 0x17",
	       "hcasim.cm_sidr_req.request_id hcasim.cm_sidr_req.pkey "
	       "hcasim.cm_sidr_req.service_id",
	       "0x00000002\t0xffff\t0x0000000000001000\n");
	expect(d, "infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == 0x18",
	       "hcasim.cm_sidr_rep.request_id hcasim.cm_sidr_rep.status hcasim.cm_sidr_rep.qpn "
	       "hcasim.cm_sidr_rep.qkey hcasim.cm_sidr_rep.info_length",
	       "0x00000002\t0x00\t0x00345678\t0x11223344\t0x04\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tshark_names_what_it_knows, make, remove_all),
		cmocka_unit_test_setup_teardown(the_rows_name_the_rest, make, remove_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
