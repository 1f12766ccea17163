/* SPDX-License-Identifier: Apache-2.0 */
/* What hcasim report makes of a log: packets joined from both ends, and data that is shown as data
 * only. */
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
#include "traces/tests/run_made.h"

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

	snprintf(path, sizeof(path), "%s/" RECORDS_FILE, rig->dir);
	unlink(path);
	rmdir(rig->dir);
	report_packets_free(&rig->packets);
	report_texts_free(&rig->texts);
	run_files_free(&rig->run);
	free(rig);
	return 0;
}

static void packets_of(struct rig *rig, const struct trace_record *r, unsigned n)
{
	run_made_write(rig->dir, r, n);
	assert_int_equal(run_files_read(&rig->run, rig->dir, RUN_RECORDS, false, stderr), 0);
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

	struct test_packet send, nak;
	struct aeth *aeth;

	run_made_packet(&send, BTH_RC_SEND_ONLY, 0x300, 7, 64);
	run_made_packet(&nak, BTH_RC_ACKNOWLEDGE, 0x208, 6, 0);
	aeth = test_packet_ext(&nak, BTH_EXT_AETH);
	aeth_set_syndrome(aeth, AETH_NAK << 5 | NAK_PSN_SEQUENCE);
	aeth_set_msn(aeth, 5);
	packets_of(rig,
		   (struct trace_record[]){run_made_end(1000000, TP_PKT_OUT, 0, &send, 0x208, 3),
					   run_made_end(1010000, TP_PKT_OUT, 1, &nak, 0x300, 6),
					   run_made_end(1080000, TP_PKT_IN, 1, &send, 0x208, 3),
					   run_made_end(1090000, TP_PKT_IN, 0, &nak, 0x300, 6)},
		   4);
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

static struct test_packet writes[5]; /* by PSN */

/* The record of one end of the WRITE with this PSN. */
static struct trace_record end_of(uint64_t time_ps, enum trace_point point, unsigned psn,
				  const char *fault, unsigned transmission)
{
	struct trace_record r =
		run_made_end(time_ps, point, point != TP_PKT_OUT, &writes[psn], 0x300, 1);

	r.text = fault;
	r.args[TRACE_ARG(PKT_OUT, transmission)] = transmission;
	return r;
}

static void lost_doubled_overtaken_discarded(void **state)
{
	struct rig *rig = *state;
	const struct report_packet *p;

	for (unsigned psn = 1; psn < 5; psn++)
		run_made_packet(&writes[psn], BTH_RC_WRITE_ONLY, 0x208, psn, 8);
	packets_of(rig,
		   (struct trace_record[]){end_of(1000000, TP_PKT_OUT, 1, "drop", 1),
					   end_of(1100000, TP_PKT_OUT, 2, "reorder", 1),
					   end_of(1200000, TP_PKT_OUT, 3, "duplicate", 1),
					   end_of(1300000, TP_PKT_OUT, 4, NULL, 1),
					   end_of(1300000, TP_PKT_IN, 3, "duplicate", 1),
					   end_of(1400000, TP_PKT_IN, 3, "duplicate", 1),
					   end_of(1500000, TP_PKT_IN, 2, "reorder", 1),
					   end_of(1500000, TP_PKT_DISCARD, 2, "vcrc", 1),
					   end_of(1600000, TP_PKT_OUT, 1, NULL, 2),
					   end_of(1700000, TP_PKT_IN, 1, NULL, 2)},
		   10);
	assert_int_equal(rig->packets.count, 6);
	p = rig->packets.packets;
	assert_int_equal(p[0].flags, REPORT_LOST | REPORT_FAULT);
	assert_int_equal(p[0].in_ps, MESSAGE_NEVER);
	assert_int_equal(p[1].flags, REPORT_FAULT | REPORT_DISCARDED);
	assert_int_equal(p[1].in_ps - p[1].out_ps, 400000);
	assert_int_equal(p[2].flags, REPORT_FAULT);
	assert_int_equal(p[2].in_ps - p[2].out_ps, 100000);
	assert_int_equal(p[3].flags, REPORT_LOST); /* no record gives a reason */
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

	run_made_write(rig->dir,
		       &(struct trace_record){.time_ps = 1000000,
					      .point = TP_GUEST_ERROR,
					      .text = "rule \"</script><b>\" \\ broken"},
		       1);
	assert_int_equal(report_write(rig->dir, out, stderr), 0);
	fclose(out);
	data = strstr(page, "id=\"data\">");
	assert_non_null(data);
	end = strstr(data, "</script>");
	assert_non_null(end);
	assert_non_null(strstr(data, "rule \\\"\\u003c/script>\\u003cb>\\\" \\\\ broken"));
	assert_true(strstr(data, "broken") < end);
	/* the page loads nothing from elsewhere */
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
