/* SPDX-License-Identifier: Apache-2.0 */
/* The account that a run prints: counters, phases, progress. */
#include "testbench/language/counters.h"
#include "testbench/language/software.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_STRIDE = 256, PROGRESS_NS = 100000000 };

/* --- counters --- */

static size_t stat_find(const struct stat_value *v, size_t n, const char *stage,
			const char *counter)
{
	size_t i = 0;

	while (i < n && (strcmp(v[i].stage, stage) || strcmp(v[i].counter, counter)))
		i++;
	return i;
}

static uint64_t stat_of_host(struct tb *tb, unsigned host, const char *stage, const char *counter,
			     bool since_body)
{
	struct stat_value *v;
	size_t n = counters_read(host_hca(tb->machine->hosts[host]), &v),
	       i = stat_find(v, n, stage, counter);
	uint64_t value = i < n ? v[i].value : 0;

	if (since_body && i < n && tb->stats_at_body)
		value -= tb->stats_at_body[(host ? n : 0) + i];
	free(v);
	if (i == n)
		tb_failf(tb, tb->here, "there is no counter %s.%s", stage, counter);
	return value;
}

/* Whether the device counts there: one without the transport counts only what passes its link and
 * its bus. */
static bool counts(const struct tb_end *end, const char *stage)
{
	static const char *const of_all[] = {"pcie", "port1", "port2", "link_port", "interrupt"};

	if (!tb_in_software(end))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(of_all); i++)
		if (!strcmp(of_all[i], stage))
			return true;
	return false;
}

uint64_t tb_stat(struct tb_end *end, const char *stage, const char *counter)
{
	char *text = end->tb->counters;
	const size_t n = strlen(text);
	uint64_t value = 0;

	if (counts(end, stage))
		value = stat_of_host(end->tb, end->host_index, stage, counter, true);
	else if (drv_counter(end->dev, stage, counter, &value))
		tb_lacks(end->tb, end->tb->here, end, "counter %s.%s", stage, counter);
	snprintf(text + n, TB_ROW_CHARS - n, "%s%s.%s of %s %" PRIu64, n ? ", " : ": ", stage,
		 counter, end->name, value);
	return value;
}

void tb_expect_stat(struct tb *tb, const char *here, struct tb_end *end, const char *stage,
		    const char *counter, uint64_t value)
{
	char what[96];
	uint64_t unused;

	/* what is only a detail of a scenario is judged where it is counted */
	if (!counts(end, stage) && drv_counter(end->dev, stage, counter, &unused))
		return;
	snprintf(what, sizeof(what), "%s.%s of %s", stage, counter, end->name);
	tb_expect_equal(tb, here, what, tb_stat(end, stage, counter), value);
}

unsigned tb_devices(const struct tb *tb, const struct hca *hcas[static MACHINE_HOSTS])
{
	for (unsigned h = 0; h < MACHINE_HOSTS; h++)
		hcas[h] = host_hca(tb->machine->hosts[h]);
	return MACHINE_HOSTS;
}

int tb_stats_write(const struct tb *tb, FILE *out)
{
	const struct hca *hcas[MACHINE_HOSTS];

	return counters_write(hcas, tb_devices(tb, hcas), out);
}

/* --- phases --- */

static struct tb_totals totals(struct tb *tb)
{
	struct tb_totals t = {.time_ps = tb->machine->core.now_ps,
			      .payload_bytes = tb->payload_bytes};

	for (unsigned h = 0; h < MACHINE_HOSTS; h++) {
		t.packets += stat_of_host(tb, h, "link_port", "tx_packets", false);
		t.resent += stat_of_host(tb, h, "retry", "retransmitted", false);
	}
	return t;
}

void tb_phase_end(struct tb *tb)
{
	if (tb->phases_count)
		tb->phases[tb->phases_count - 1].end = totals(tb);
}

static void phase_trace(struct tb *tb, const char *phase)
{
	if (!trace_on(tb->trace, TP_PHASE))
		return;
	trace_emit(tb->trace, &(struct trace_record){.time_ps = tb->machine->core.now_ps,
						     .point = TP_PHASE,
						     .hca = TRACE_NO_HCA,
						     .text = phase});
}

void tb_phase(struct tb *tb, const char *here, const char *text)
{
	struct tb_phase *grown;

	if (!tb_go(tb, here))
		return;
	tb_phase_end(tb);
	grown = realloc(tb->phases, (tb->phases_count + 1) * sizeof(*grown));
	if (!grown) {
		tb_failf(tb, here, "memory for %u phases", tb->phases_count + 1);
		return;
	}
	tb->phases = grown;
	tb->phases[tb->phases_count++] = (struct tb_phase){.text = text, .begin = totals(tb)};
	phase_trace(tb, text);
	tb->progress_wall_ns = 0;
	tb_progress(tb);
}

void tb_show_ladder(struct tb *tb, const char *here)
{
	FILE *out;

	if (!tb_go(tb, here) || !tb->trace || tb->ladder || !tb->phases_count)
		return;
	out = open_memstream(&tb->ladder, &tb->ladder_size);
	if (!out)
		return;
	trace_ladder_print(tb->trace, tb->phases[tb->phases_count - 1].begin.time_ps, out);
	fclose(out);
}

static void print_bytes(FILE *out, uint64_t bytes)
{
	if (bytes >= 10u << 20)
		fprintf(out, "%9.1f MiB", (double)bytes / (1 << 20));
	else if (bytes >= 10u << 10)
		fprintf(out, "%9.1f KiB", (double)bytes / (1 << 10));
	else
		fprintf(out, "%9" PRIu64 " B  ", bytes);
}

static void print_phase(FILE *out, const struct tb_phase *p, int width)
{
	uint64_t ps = p->end.time_ps - p->begin.time_ps,
		 bytes = p->end.payload_bytes - p->begin.payload_bytes;

	fprintf(out, "  %-*s %14.3f %14.3f %9" PRIu64 " %7" PRIu64 " ", width, p->text,
		(double)p->begin.time_ps / 1e6, (double)ps / 1e6, p->end.packets - p->begin.packets,
		p->end.resent - p->begin.resent);
	print_bytes(out, bytes);
	if (bytes && ps)
		fprintf(out, " %8.3f Gb/s", (double)bytes * 8e3 / (double)ps);
	fprintf(out, "\n");
}

static void json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fprintf(out, (unsigned char)*text < ' ' ? "\\u%04x" : "%c", *text);
	fputc('"', out);
}

int tb_account_write(struct tb *tb, bool passed, FILE *out)
{
	fprintf(out, "{\n  \"scenario\": ");
	json_text(out, tb->scenario->name);
	fprintf(out, ",\n  \"shows\": ");
	json_text(out, tb->scenario->shows);
	fprintf(out, ",\n  \"passed\": %s,\n  \"failure\": ", passed ? "true" : "false");
	json_text(out, tb->failure);
	fprintf(out, ",\n  \"told\": ");
	json_text(out, tb->told ? tb->told : "");
	fprintf(out, ",\n  \"simulated_ps\": %" PRIu64 ",\n  \"phases\": [",
		tb->machine->core.now_ps);
	for (unsigned i = 0; i < tb->phases_count; i++) {
		const struct tb_phase *p = &tb->phases[i];

		fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
		json_text(out, p->text);
		fprintf(out,
			", \"begin_ps\": %" PRIu64 ", \"takes_ps\": %" PRIu64
			", \"packets\": %" PRIu64 ", \"resent\": %" PRIu64
			", \"payload_bytes\": %" PRIu64 "}",
			p->begin.time_ps, p->end.time_ps - p->begin.time_ps,
			p->end.packets - p->begin.packets, p->end.resent - p->begin.resent,
			p->end.payload_bytes - p->begin.payload_bytes);
	}
	fprintf(out, "\n  ]\n}\n");
	return ferror(out) ? -EIO : 0;
}

void tb_account_print(struct tb *tb)
{
	FILE *out = tb->account;
	int width = 10;

	tb_progress_clear(tb);
	for (unsigned i = 0; i < tb->phases_count; i++)
		if ((int)strlen(tb->phases[i].text) > width)
			width = (int)strlen(tb->phases[i].text);
	fprintf(out, "%s: %s\n", tb->scenario->name, tb->scenario->shows);
	fprintf(out, "  %-*s %14s %14s %9s %7s %13s %13s\n", width, "phase", "begins (us)",
		"takes (us)", "packets", "resent", "payload", "throughput");
	for (unsigned i = 0; i < tb->phases_count; i++)
		if (tb->phases[i].end.time_ps != tb->phases[i].begin.time_ps)
			print_phase(out, &tb->phases[i], width);
	if (tb->ladder && *tb->ladder)
		fprintf(out, "  some of its packets (times in us):\n%s", tb->ladder);
}

void tb_figure(struct tb *tb, const char *name, double value)
{
	if (tb_right(tb))
		fprintf(tb->account, "figure %s %.3f\n", name, value);
}

/* --- progress --- */

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void tb_progress(struct tb *tb)
{
	uint64_t now;

	if (!tb->progress || !tb->phases_count ||
	    (tb->progress_packets++ % PROGRESS_STRIDE && tb->progress_wall_ns))
		return;
	now = wall_ns();
	if (tb->progress_wall_ns && now - tb->progress_wall_ns < PROGRESS_NS)
		return;
	tb->progress_wall_ns = now;
	fprintf(stderr, "\r\033[K%s: %.3f ms, %" PRIu64 " packets seen, %s", tb->scenario->name,
		(double)tb->machine->core.now_ps / 1e9, tb->progress_packets,
		tb->phases[tb->phases_count - 1].text);
}

void tb_progress_clear(struct tb *tb)
{
	if (tb->progress)
		fprintf(stderr, "\r\033[K");
}
