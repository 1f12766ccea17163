/* SPDX-License-Identifier: Apache-2.0 */
/* What hcasim report makes of a log: packets joined from both ends, and data that stays data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/messages.h"
#include "traces/report_impl.h"

struct rig {
	char dir[32];
	struct run_files run;
	struct report_packets packets;
	struct report_texts texts;
};

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	strcpy(rig->dir, "/tmp/report_XXXXXX");
	assert_non_null(mkdtemp(rig->dir));
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;
	char path[64];

	snprintf(path, sizeof(path), "%s/run.log", rig->dir);
	unlink(path);
	rmdir(rig->dir);
	report_packets_free(&rig->packets);
	report_texts_free(&rig->texts);
	run_files_free(&rig->run);
	free(rig);
	return 0;
}

static void log_write(struct rig *rig, const char *log)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/run.log", rig->dir);
	out = fopen(path, "w");
	fputs(log, out);
	fclose(out);
}

static void packets_of(struct rig *rig, const char *log)
{
	log_write(rig, log);
	assert_int_equal(run_files_read(&rig->run, rig->dir, RUN_LOG, false, stderr), 0);
	assert_int_equal(report_packets_find(&rig->packets, &rig->texts, &rig->run), 0);
}

static void text_is(struct rig *rig, uint32_t n, const char *expect)
{
	assert_int_equal(rig->texts.texts[n].len, strlen(expect));
	assert_memory_equal(rig->texts.texts[n].text, expect, strlen(expect));
}

static void arrival_belongs_to_departure(void **state)
{
	struct rig *rig = *state;
	const struct report_packet *p;

	packets_of(rig, "      1.000000 hca0 link_port     out port 1 rc_send_only slid 1 dlid 2 "
			"qpn 0x300 psn 7 "
			"payload 64 ack_req, from 0x208, wqe 3\n"
			"      1.010000 hca1 link_port     out port 1 rc_acknowledge slid 2 dlid 1 "
			"qpn 0x208 psn "
			"6, nak psn_sequence msn 5, from 0x300, wqe 6\n"
			"      1.080000 hca1 link_port     in port 1 rc_send_only slid 1 dlid 2 "
			"qpn 0x300 psn 7 "
			"payload 64 ack_req, from 0x208, wqe 3\n"
			"      1.090000 hca0 link_port     in port 1 rc_acknowledge slid 2 dlid 1 "
			"qpn 0x208 psn 6, "
			"nak psn_sequence msn 5, from 0x300, wqe 6\n");
	assert_int_equal(rig->packets.count, 2);
	p = rig->packets.packets;
	assert_int_equal(p[0].hca, 0);
	assert_int_equal(p[0].in_ps - p[0].out_ps, 80000);
	assert_int_equal(p[0].qpn, 0x300);
	assert_int_equal(p[0].from, 0x208);
	assert_int_equal(p[0].payload, 64);
	assert_int_equal(p[0].wqe, 3);
	assert_int_equal(p[0].flags, 0);
	text_is(rig, p[0].op, "rc_send_only");
	text_is(rig, p[0].note, "");
	assert_int_equal(p[1].in_ps - p[1].out_ps, 80000);
	assert_int_equal(p[1].flags, REPORT_RESPONSE | REPORT_NAK);
	text_is(rig, p[1].note, "nak psn_sequence msn 5");
}

#define OUT(time, psn, more)                                                                       \
	"      " time " hca0 link_port     out port 1 rc_write_only qpn 0x208 psn " psn            \
	" payload 8, wqe 1" more "\n"
#define IN(time, psn, more)                                                                        \
	"      " time " hca1 link_port     in port 1 rc_write_only qpn 0x208 psn " psn             \
	" payload 8, wqe 1" more "\n"

static void lost_doubled_overtaken_discarded(void **state)
{
	struct rig *rig = *state;
	const struct report_packet *p;

	packets_of(rig,
		   OUT("1.000000", "1", ", fault drop") OUT("1.100000", "2", ", fault reorder")
			   OUT("1.200000", "3", ", fault duplicate") OUT("1.300000", "4", "") IN(
				   "1.300000", "3", ", fault duplicate") IN("1.400000", "3",
									    ", fault duplicate")
				   IN("1.500000", "2",
				      ", fault reorder") "      1.500000 hca1 link_port     "
							 "discard port 1 rc_write_only qpn 0x208 "
							 "psn 2 payload 8, wqe 1, vcrc\n" OUT(
								 "1.600000", "1", ", try 2")
								 IN("1.700000", "1", ", try 2"));
	assert_int_equal(rig->packets.count, 6);
	p = rig->packets.packets;
	assert_int_equal(p[0].flags, REPORT_LOST | REPORT_FAULT);
	assert_int_equal(p[0].in_ps, MESSAGE_NEVER);
	assert_int_equal(p[1].flags, REPORT_FAULT | REPORT_DISCARDED);
	assert_int_equal(p[1].in_ps - p[1].out_ps, 400000);
	assert_int_equal(p[2].flags, REPORT_FAULT);
	assert_int_equal(p[2].in_ps - p[2].out_ps, 100000);
	assert_int_equal(p[3].flags, REPORT_LOST); /* nobody says why */
	assert_int_equal(p[4].flags, REPORT_FAULT | REPORT_DUPLICATE);
	assert_int_equal(p[5].flags, REPORT_RESENT);
}

static void texts_stand_once(void **state)
{
	struct rig *rig = *state;
	static char many[3000][8];

	for (unsigned i = 0; i < 3000; i++) {
		snprintf(many[i], sizeof(many[i]), "t%u", i);
		assert_int_equal(report_text(&rig->texts, many[i], strlen(many[i])), i);
	}
	assert_int_equal(report_text(&rig->texts, "t17", 3), 17);
	assert_int_equal(report_text(&rig->texts, "t2999 and more", 5), 2999);
	assert_int_equal(rig->texts.count, 3000);
}

static void data_does_not_end_its_script(void **state)
{
	struct rig *rig = *state;
	char *page = NULL, *data, *end;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);

	log_write(rig, "      1.000000 hca0 guest_error   rule \"</script><b>\" \\ broken\n");
	assert_int_equal(report_write(rig->dir, out, stderr), 0);
	fclose(out);
	data = strstr(page, "id=\"data\">");
	assert_non_null(data);
	end = strstr(data, "</script>");
	assert_non_null(end);
	assert_non_null(strstr(data, "rule \\\"\\u003c/script>\\u003cb>\\\" \\\\ broken"));
	assert_true(strstr(data, "broken") < end);
	/* nothing to fetch */
	assert_null(strstr(page, "http://"));
	assert_null(strstr(page, "https://"));
	assert_null(strstr(page, " src="));
	free(page);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(arrival_belongs_to_departure),
		T(lost_doubled_overtaken_discarded),
		T(texts_stand_once),
		T(data_does_not_end_its_script),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
