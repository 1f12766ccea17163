/* SPDX-License-Identifier: Apache-2.0 */
/* Value changes in the format of IEEE 1364-2005 clause 18, from records made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tests/dir_of.h"
#include "traces/trace.h"

static char *text_of(struct test_dir *d)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = fopen(test_dir_file(d, "waves.vcd"), "r");

	assert_non_null(f);
	assert_true(getdelim(&text, &n, 0, f) > 0);
	fclose(f);
	return text;
}

/* Finds the VCD code of a signal in the scopes of that HCA and stage. */
static void code_of(const char *text, const char *hca, const char *stage, const char *signal,
		    char *code)
{
	char words[64];
	const char *at, *end;

	snprintf(words, sizeof(words), "$scope module %s $end\n", hca);
	at = strstr(text, words);
	assert_non_null(at);
	snprintf(words, sizeof(words), "$scope module %s $end\n", stage);
	at = strstr(at, words);
	assert_non_null(at);
	end = strstr(at, "$upscope");
	snprintf(words, sizeof(words), " %s ", signal);
	at = strstr(at, words);
	assert_true(at && at < end);
	for (end = at; end[-1] != ' '; end--)
		;
	memcpy(code, end, (size_t)(at - end));
	code[at - end] = 0;
}

static struct trace *open_waves(struct test_dir *d)
{
	struct trace *tr = trace_create();

	assert_int_equal(trace_open(tr, "vcd", d->path, stderr), 0);
	return tr;
}

#define EMIT(tr, ...) trace_emit(tr, &(struct trace_record){__VA_ARGS__})

static void spans(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = open_waves(d);
	char expect[512], busy[8], queue[8], qpn[8], cqn[8], index[8];
	char *text;

	/* two that overlap, and a third that follows the second without a gap */
	EMIT(tr, .time_ps = 100, .point = TP_CQE_RUN, .hca = 1, .qpn = 5, .args = {300, 7, 1, 1});
	EMIT(tr, .time_ps = 200, .point = TP_CQE_RUN, .hca = 1, .qpn = 5, .args = {400, 7, 2, 1});
	EMIT(tr, .time_ps = 400, .point = TP_CQE_RUN, .hca = 1, .qpn = 6, .args = {450, 7, 3, 1});
	trace_advance(tr, 500);
	EMIT(tr, .time_ps = 500, .point = TP_NOTE, .hca = TRACE_NO_HCA, .text = "not shown");
	EMIT(tr, .time_ps = 500, .point = TP_DOORBELL_EQ_CI);
	assert_int_equal(trace_close(tr), 0);
	text = text_of(d);
	code_of(text, "hca1", "cqe_write", "busy", busy);
	code_of(text, "hca1", "cqe_write", "queue", queue);
	code_of(text, "hca1", "cqe_write", "qpn", qpn);
	code_of(text, "hca1", "cqe_write", "cqn", cqn);
	code_of(text, "hca1", "cqe_write", "index", index);
	snprintf(expect, sizeof(expect),
		 "#100\n1%s\nb1 %s\nb101 %s\nb111 %s\nb1 %s\n"
		 "#200\nb10 %s\nb10 %s\n"
		 "#300\nb1 %s\n"
		 "#400\nb110 %s\nb11 %s\n"
		 "#450\n0%s\nb0 %s\n"
		 "#500\n1",
		 busy, queue, qpn, cqn, index, queue, index, queue, qpn, index, busy, queue);
	assert_memory_equal(strstr(text, "#100\n"), expect, strlen(expect));
	free(text);
}

static void moments_and_texts(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = open_waves(d);
	char expect[256], text_code[8], qpn[8], send[8];
	char *text;

	EMIT(tr, .time_ps = 10, .point = TP_REQ_STATE, .qpn = 0, .text = "waits for credits");
	EMIT(tr, .time_ps = 10, .point = TP_DOORBELL_SEND, .qpn = 0xabcdef);
	EMIT(tr, .time_ps = 10, .point = TP_DOORBELL_SEND, .qpn = 0xabcdef);
	EMIT(tr, .time_ps = 20, .point = TP_REQ_STATE, .qpn = 0, .text = "waits for credits");
	EMIT(tr, .time_ps = 20, .point = TP_DOORBELL_SEND, .qpn = 0xabcdef);
	assert_int_equal(trace_close(tr), 0);
	text = text_of(d);
	code_of(text, "hca0", "requester", "state", text_code);
	code_of(text, "hca0", "doorbell", "qpn", qpn);
	code_of(text, "hca0", "doorbell", "send", send);
	snprintf(expect, sizeof(expect),
		 "swaits_for_credits %s\n1%s\nb101010111100110111101111 %s\n#20\n1%s\n", text_code,
		 send, qpn, send);
	/* one pulse, though it rang twice; unchanged values are not repeated */
	assert_string_equal(strstr(text, "swaits"), expect);
	free(text);
}

/* A port or virtual lane that has no signal, and an HCA that does not exist. */
static void outside(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = open_waves(d);
	char *text;

	EMIT(tr, .time_ps = 10, .point = TP_LINK_QUEUE, .port = 1, .args = {64, 15});
	EMIT(tr, .time_ps = 10, .point = TP_LINK_QUEUE, .port = 3, .args = {64, 0});
	EMIT(tr, .time_ps = 10, .point = TP_LINK_QUEUE, .hca = 2, .port = 1, .args = {64, 0});
	EMIT(tr, .time_ps = 30, .point = TP_LINK_QUEUE, .hca = 1, .port = 2, .args = {64, 7});
	assert_int_equal(trace_close(tr), 0);
	text = text_of(d);
	assert_non_null(strstr(text, "#30\nb1000000 "));
	assert_null(strstr(text, "#10\n"));
	assert_non_null(strstr(text, "$timescale 1ps $end"));
	assert_null(strstr(text, "$date"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(spans, test_dir_make, test_dir_remove),
		cmocka_unit_test_setup_teardown(moments_and_texts, test_dir_make, test_dir_remove),
		cmocka_unit_test_setup_teardown(outside, test_dir_make, test_dir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
