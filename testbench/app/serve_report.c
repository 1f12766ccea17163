/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_report.h. */
#include "testbench/app/serve_report.h"

#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/vfio_user/protocol.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* A management packet as MAD_IFC returns it: IBA 13.4.2. */
enum {
	MAD_CLASS = 1,
	MAD_STATUS = 4,
	MAD_ATTRIBUTE = 16,
	MAD_HEADER = 24,
	MAD_STATUS_REASON = 0x1c,
};

enum { REPORT_OBJECT = 64 };

static __attribute__((format(printf, 2, 3))) void tally(struct report_tally *t, const char *format,
							...)
{
	char text[REPORT_TEXT];
	struct report_line *l = t->lines;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	while (l < t->lines + t->count && strcmp(l->text, text))
		l++;
	if (l == t->lines + REPORT_LINES) {
		t->lost++;
		return;
	}
	if (l == t->lines + t->count) {
		t->count++;
		l->count = 0;
		memcpy(l->text, text, sizeof(text));
	}
	l->count++;
}

static void tally_print(const struct report_tally *t, FILE *out)
{
	for (unsigned i = 0; i < t->count; i++)
		fprintf(out, "  %s, %" PRIu64 " times\n", t->lines[i].text, t->lines[i].count);
	if (t->lost)
		fprintf(out, "  others, %" PRIu64 " times\n", t->lost);
}

/* --- guest errors --- */

static void accesses_keep(struct report_note *note, const struct vfu_device *device)
{
	uint64_t n = device->accessed < REPORT_NOTE_ACCESSES ? device->accessed
							     : (uint64_t)REPORT_NOTE_ACCESSES;

	note->accesses = (unsigned)n;
	for (uint64_t i = 0; i < n; i++)
		note->access[i] = device->accesses[(device->accessed - n + i) % VFU_ACCESSES];
}

void report_guest_error(struct serve_report *report, const struct vfu_device *device,
			const struct guest_error *error, const char *calls)
{
	if (error->rule == RULE_register_unknown && strstr(error->text, " bytes at "))
		tally(&report->lacks, "register: %s", error->text);
	if (report->guest_errors < REPORT_NOTES) {
		struct report_note *note = &report->notes[report->guest_errors];

		note->hca = device->index;
		note->time_ps = device->core->now_ps;
		note->rule = error->rule;
		note->object = error->object;
		snprintf(note->text, sizeof(note->text), "%s", error->text);
		snprintf(note->calls, sizeof(note->calls), "%s", calls);
		accesses_keep(note, device);
	}
	report->guest_errors++;
}

void report_limit(struct serve_report *report, const struct vfu_device *device, const char *text)
{
	if (report->limits < REPORT_LIMITS)
		snprintf(report->limit[report->limits], REPORT_TEXT, "%.6f us hca%u %s",
			 (double)device->core->now_ps / 1e6, device->index, text);
	report->limits++;
}

/* --- what the driver used and the model does not have --- */

/* The header and the three capabilities. A driver that writes elsewhere uses something that is not
 * modelled. */
static bool config_known(uint64_t offset)
{
	static const struct {
		unsigned start, size;
	} known[] = {
		{0, 0x40},
		{HCA_PCI_CAP_PM, 8},
		{HCA_PCI_CAP_EXPRESS, 0x3c},
		{HCA_PCI_CAP_MSIX, 12},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (offset >= known[i].start && offset < known[i].start + known[i].size)
			return true;
	return false;
}

void report_access(struct serve_report *report, const struct vfu_device *device,
		   const struct vfu_access *access)
{
	if (access->region == VFU_REGION_CONFIG && access->write && !config_known(access->offset))
		tally(&report->lacks, "configuration space: write of %u bytes at %" PRIx64,
		      access->size, access->offset);
}

static void mad_check(struct serve_report *report, const struct trace_record *r)
{
	const uint8_t *mad = r->bytes;
	unsigned status;

	if (!mad || r->len < MAD_HEADER)
		return;
	status = (unsigned)mad[MAD_STATUS] << 8 | mad[MAD_STATUS + 1];
	if (status & MAD_STATUS_REASON)
		tally(&report->lacks, "MAD_IFC class %02x attribute %02x%02x: status %x",
		      mad[MAD_CLASS], mad[MAD_ATTRIBUTE], mad[MAD_ATTRIBUTE + 1], status);
}

static int command_record(void *sink, const struct trace_record *r)
{
	struct serve_report *report = sink;
	const struct hcr_row *row = hcr_row_find((uint32_t)r->args[0]);

	if (r->point != TP_HCR_DONE)
		return 0;
	if (!row || r->args[5] == HCR_STATUS_BAD_OP)
		tally(&report->lacks,
		      "command: %s %" PRIx64 " modifier %" PRIx64 " gave status %" PRIx64,
		      row ? row->name : "unknown", r->args[0], r->args[1], r->args[5]);
	else if (r->args[5])
		tally(&report->refused, "hca%u %s: status %s", r->hca, row->name,
		      hcr_status_find((uint32_t)r->args[5])
			      ? hcr_status_find((uint32_t)r->args[5])->name
			      : "unknown");
	else if (row->op == HCR_MAD_IFC)
		mad_check(report, r);
	return 0;
}

static int command_close(void *sink)
{
	return 0;
}

int report_listen(struct serve_report *report, struct trace *trace)
{
	static const struct trace_sink_ops ops = {
		.name = "report", .record = command_record, .close = command_close};

	return trace_sink_add(trace, &ops, report, 1u << TRACE_HCR);
}

/* --- the end --- */

static void access_print(const struct vfu_access *a, FILE *out)
{
	static const char *const regions[VFU_REGIONS] = {[VFU_REGION_BAR0] = "bar0",
							 [VFU_REGION_BAR2] = "bar2",
							 [VFU_REGION_CONFIG] = "config"};

	fprintf(out, "      %.6f us %s %s %" PRIx64 " size %u value %" PRIx64,
		(double)a->time_ps / 1e6, a->write ? "write" : "read", regions[a->region],
		a->offset, a->size, a->value);
	if (a->pc)
		fprintf(out, " by code 0x%" PRIx64, a->pc);
	fputc('\n', out);
}

static void note_print(const struct report_note *note, FILE *out)
{
	const struct guest_rule_row *rule = &guest_rules[note->rule];
	char object[REPORT_OBJECT];

	fprintf(out, "  %.6f us hca%u %s: %s\n", (double)note->time_ps / 1e6, note->hca, rule->name,
		note->text);
	fprintf(out, "      means: %s\n", rule->meaning);
	if (note->object.kind != GUEST_NONE)
		fprintf(out, "      object: %s\n",
			guest_object_format(note->object, object, sizeof(object)));
	fprintf(out, "      look at: %s\n", rule->look);
	if (*note->calls)
		fprintf(out, "      calls: %s\n", note->calls);
}

void report_print(const struct serve_report *report, FILE *out)
{
	uint64_t kept =
		report->guest_errors < REPORT_NOTES ? report->guest_errors : (uint64_t)REPORT_NOTES;

	fprintf(out, "guest errors: %" PRIu64 "\n", report->guest_errors);
	for (uint64_t i = 0; i < kept; i++) {
		const struct report_note *note = &report->notes[i];

		note_print(note, out);
		for (unsigned k = 0; k < note->accesses; k++)
			access_print(&note->access[k], out);
	}
	if (kept < report->guest_errors)
		fprintf(out, "  and %" PRIu64 " more\n", report->guest_errors - kept);
	if (report->catastrophes)
		fprintf(out, "catastrophic errors: %" PRIu64 "\n", report->catastrophes);
	if (report->limits)
		fprintf(out, "limits reached, not an error of the driver: %" PRIu64 "\n",
			report->limits);
	for (uint64_t i = 0; i < report->limits && i < REPORT_LIMITS; i++)
		fprintf(out, "  %s\n", report->limit[i]);
	if (report->refused.count) {
		fprintf(out, "commands that the firmware refused:\n");
		tally_print(&report->refused, out);
	}
	fprintf(out, "used by the driver, but not modelled: %u\n", report->lacks.count);
	tally_print(&report->lacks, out);
}
