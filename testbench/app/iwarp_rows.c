/* SPDX-License-Identifier: Apache-2.0 */
/* The table of situations in connection set-up, and who judges each: see iwarp.h. */
#include "testbench/app/iwarp.h"

#include "model/interface/macros.h"
#include "testbench/os/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * R(row, where, test, judge). where: SCENARIO, CAPTURE (tshark reads what a scenario has put on the
 * cable), AGREE, READY, STREAM, FRAMES (a unit test), VM (a check of make vm-test).
 * judge: who says that it is right; "own": only this tree's reading of the documents.
 */
#define IWARP_ROWS(R)                                                                              \
	R(1, SCENARIO, "iwarp_kinds", "own")                                                       \
	R(1, SCENARIO, "iwarp_rtr_write", "own")                                                   \
	R(1, SCENARIO, "iwarp_client_first", "own")                                                \
	R(1, CAPTURE, "iwarp_kinds", "tshark")                                                     \
	R(1, AGREE, "row_1_kinds_crc_markers", "own")                                              \
	R(1, AGREE, "row_1_send_is_eaten", "own")                                                  \
	R(1, AGREE, "row_1_send_without_receive", "own")                                           \
	R(1, AGREE, "row_1_markers_refused", "own")                                                \
	R(1, FRAMES, "vectors_without_data", "RFC 5044")                                           \
	R(1, FRAMES, "figures_of_rfc_5044", "RFC 5044")                                            \
	R(1, VM, "siw.kinds", "siw")                                                               \
	R(1, VM, "siw.write", "siw")                                                               \
	R(1, VM, "siw.read_crc", "siw")                                                            \
	R(1, VM, "siw.ucmatose", "siw")                                                            \
	R(1, SCENARIO, "iwarp_markers", "own")                                                     \
	R(1, CAPTURE, "iwarp_markers", "tshark")                                                   \
	R(2, SCENARIO, "iwarp_revisions", "own")                                                   \
	R(2, AGREE, "row_2_revisions", "own")                                                      \
	R(2, VM, "siw.rev_1", "siw")                                                               \
	R(3, SCENARIO, "iwarp_no_common_kind", "own")                                              \
	R(3, AGREE, "row_3_no_common_kind", "own")                                                 \
	R(3, AGREE, "row_3_reply_names_more", "own")                                               \
	R(3, VM, "siw.never_ready", "siw")                                                         \
	R(3, VM, "siw.reply_names_more", "siw")                                                    \
	R(4, SCENARIO, "iwarp_depths", "own")                                                      \
	R(4, AGREE, "row_4_depths", "own")                                                         \
	R(4, AGREE, "row_4_read_needs_depth", "own")                                               \
	R(4, AGREE, "row_4_ord_too_high", "own")                                                   \
	R(4, VM, "siw.depths", "siw")                                                              \
	R(5, SCENARIO, "iwarp_fence", "own")                                                       \
	R(5, SCENARIO, "iwarp_start_together", "own")                                              \
	R(5, CAPTURE, "iwarp_fence", "tshark")                                                     \
	R(5, READY, "row_5_no_early_byte", "own")                                                  \
	R(5, READY, "row_5_fence_is_flushed", "own")                                               \
	R(5, READY, "row_5_early_sender", "own")                                                   \
	R(5, VM, "siw.too_early", "siw")                                                           \
	R(6, SCENARIO, "iwarp_wrong_rtr", "own")                                                   \
	R(6, READY, "row_6_wrong_rtr", "own")                                                      \
	R(6, READY, "row_6_wrong_marker", "own")                                                   \
	R(6, READY, "row_6_tolerant", "own")                                                       \
	R(6, READY, "row_6_twice", "own")                                                          \
	R(6, READY, "row_6_none_at_all", "own")                                                    \
	R(6, READY, "row_6_late", "own")                                                           \
	R(6, VM, "siw.wrong_fpdu", "siw")                                                          \
	R(6, VM, "siw.rtr_again", "siw")                                                           \
	R(6, VM, "siw.never_ready", "siw")                                                         \
	R(6, SCENARIO, "iwarp_breaks", "own")                                                      \
	R(7, SCENARIO, "iwarp_bad_frames", "own")                                                  \
	R(7, STREAM, "row_7_bad_requests", "own")                                                  \
	R(7, STREAM, "row_7_both_initiate", "own")                                                 \
	R(7, STREAM, "row_7_request_in_halves", "own")                                             \
	R(7, STREAM, "row_7_byte_before_reply", "own")                                             \
	R(7, STREAM, "row_7_no_reply", "own")                                                      \
	R(7, STREAM, "row_7_reply_not_enhanced", "own")                                            \
	R(7, VM, "siw.bad_requests", "siw")                                                        \
	R(7, VM, "siw.bad_replies", "siw")                                                         \
	R(8, SCENARIO, "iwarp_revisions", "own")                                                   \
	R(8, SCENARIO, "iwarp_fallback", "own")                                                    \
	R(8, AGREE, "row_8_fallback", "own")                                                       \
	R(9, SCENARIO, "iwarp_private_data", "own")                                                \
	R(9, SCENARIO, "iwarp_rdma_connect", "own")                                                \
	R(9, AGREE, "row_9_private_data", "own")                                                   \
	R(9, VM, "siw.private_data", "siw")                                                        \
	R(10, SCENARIO, "iwarp_no_common_kind", "own")                                             \
	R(10, AGREE, "row_10_reply_without_a", "own")                                              \
	R(10, AGREE, "row_10_write_for_read", "own")                                               \
	R(10, AGREE, "row_10_stag", "own")                                                         \
	R(11, SCENARIO, "iwarp_rtr_frame", "own")                                                  \
	R(11, SCENARIO, "iwarp_rtr_frame_old", "own")                                              \
	R(11, READY, "row_11_rtr_frame", "own")                                                    \
	R(11, READY, "row_11_new_against_old", "own")                                              \
	R(11, READY, "row_11_frame_missing", "own")                                                \
	R(11, READY, "row_11_frame_to_old", "own")                                                 \
	R(12, SCENARIO, "iwarp_tcp", "own")                                                        \
	R(12, CAPTURE, "iwarp_tcp", "tshark")                                                      \
	R(12, SCENARIO, "iwarp_told_once", "own")                                                  \
	R(12, SCENARIO, "iwarp_losses", "own")                                                     \
	R(12, CAPTURE, "iwarp_losses", "tshark")                                                   \
	R(12, SCENARIO, "iwarp_window", "own")                                                     \
	R(12, SCENARIO, "iwarp_orphan", "own")                                                     \
	R(12, STREAM, "row_12_stream", "own")                                                      \
	R(12, STREAM, "row_12_nothing_said", "own")

/* W(name, prefix, place, file, pass, fail): the file that has the result, and the line that says it, %s
 * being the test. The prefix is for the reader of the table. */
#define UNIT_LOG(test) "host_driver.iwarp.tests." test ".log"
#define IWARP_PLACES(W)                                                                            \
	W(SCENARIO, "", TEST_LOGS, "results", "pass scenario.%s", "fail scenario.%s")              \
	W(CAPTURE, "tshark on ", TEST_LOGS, "results", "pass iwarp_capture.%s",                    \
	  "fail iwarp_capture.%s")                                                                 \
	W(AGREE, "agree_test.", TEST_LOGS, UNIT_LOG("agree_test"), "ok - %s", "not ok - %s")       \
	W(READY, "ready_test.", TEST_LOGS, UNIT_LOG("ready_test"), "ok - %s", "not ok - %s")       \
	W(STREAM, "stream_test.", TEST_LOGS, UNIT_LOG("stream_test"), "ok - %s", "not ok - %s")    \
	W(FRAMES, "mpa_test.", TEST_LOGS, UNIT_LOG("mpa_test"), "ok - %s", "not ok - %s")          \
	W(VM, "vm-test ", VM_RESULTS, "results.csv", "%s,pass", "%s,fail")

enum where {
#define W(name, prefix, place, file, pass, fail) IN_##name,
	IWARP_PLACES(W)
#undef W
};

static const struct {
	const char *prefix;
	enum place place;
	const char *file, *pass, *fail;
} places[] = {
#define W(name, prefix, place, file, pass, fail) {prefix, PLACE_##place, file, pass, fail},
	IWARP_PLACES(W)
#undef W
};

static const struct {
	unsigned row;
	enum where where;
	const char *test, *judge;
} rows[] = {
#define R(row, where, test, judge) {row, IN_##where, test, judge},
	IWARP_ROWS(R)
#undef R
};

enum { LINE_CHARS = 512, PATH_CHARS = 4096 };

/* A line of TAP has a number: "ok 3 - name" is "ok - name". */
static void number_drop(char *line)
{
	char *dash = strstr(line, " - "), *blank = dash;

	while (blank && blank > line && blank[-1] != ' ')
		blank--;
	if (blank && blank > line)
		memmove(blank, dash + 1, strlen(dash));
}

/* `form` with the test's name is the whole line, or what is before a comma. */
static bool line_is(const char *line, const char *form, const char *test)
{
	char wanted[LINE_CHARS];
	const size_t n = (size_t)snprintf(wanted, sizeof(wanted), form, test);

	return !strncmp(line, wanted, n) && strchr(",\n", line[n]);
}

static const char *result_of(enum where where, const char *test)
{
	const char *result = "not-run";
	char path[PATH_CHARS], line[LINE_CHARS];
	FILE *in;

	if (place_find(places[where].place, places[where].file, path, sizeof(path), NULL))
		return result;
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in)) {
		number_drop(line);
		if (line_is(line, places[where].pass, test))
			result = "pass";
		if (line_is(line, places[where].fail, test))
			result = "fail";
	}
	if (in)
		fclose(in);
	return result;
}

int iwarp_rows_print(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fprintf(out, "%u\t%s%s\t%s\t%s\n", rows[i].row, places[rows[i].where].prefix,
			rows[i].test, rows[i].judge, result_of(rows[i].where, rows[i].test));
	return ferror(out) ? -EIO : 0;
}
