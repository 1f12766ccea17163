/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the control socket: see ctl.h. */
#include "testbench/app/ctl.h"

#include "model/engine/base/engine.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/guest_clock.h"
#include "testbench/app/ctl_dump.h"
#include "testbench/os/hex.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16, PPM = 1000000, PERCENT = 100, LATE_MAX_MS = 10000 };

struct words {
	const char *word[WORDS_MAX];
	unsigned count;
};

/* W(word, function, "arguments", "meaning") */
#define CTL_COMMANDS(W)                                                                            \
	W("help", help, "", "list the commands")                                                   \
	W("link", link, "up|down [hcaN] [portN]", "plug in or pull the cable of a port")           \
	W("drop", drop, "[N%] [OPCODE] [hcaN] [xN]",                                               \
	  "lose packets: N% of them, of OPCODE, sent by hcaN; xN: N times at most")                \
	W("corrupt", corrupt, "[N%] [OPCODE] [hcaN] [xN]",                                         \
	  "damage packets; the words mean the same as for drop")                                   \
	W("duplicate", duplicate, "[N%] [OPCODE] [hcaN] [xN]",                                     \
	  "send packets twice; the same words")                                                    \
	W("reorder", reorder, "[N%] [OPCODE] [hcaN] [xN]",                                         \
	  "let the next two packets overtake packets; the same words")                             \
	W("inject", inject, "HEX [hcaN]",                                                          \
	  "bring a packet to port 1 of hcaN: its bytes from LRH to pad; the CRCs are added")       \
	W("faults", faults, "[clear]", "show what each fault has done; clear removes all faults")  \
	W("command", command, "OPCODE STATUS [xN] [hcaN]",                                         \
	  "make the device refuse this HCR command with STATUS, once or N times")                  \
	W("state", state, "", "show the time, the clients and the ports")                          \
	W("counters", counters, "[TEXT]", "show the counters whose name contains TEXT")            \
	W("stuck", stuck, "",                                                                      \
	  "show receives not flushed, and completions and events that the driver has not taken")   \
	W("dump", dump, "", "write the same and every context to contexts.txt")                    \
	W("late", late, "MS [hcaN]",                                                               \
	  "delay interrupts to the guest by MS milliseconds; 0 ends the delay")                    \
	W("go", go, "", "let guests in simulated time go on that --stop-at or --stop-on holds")    \
	W("trace", trace, "on|off", "trace everything, or only commands")                          \
	W("catastrophe", catastrophe, "[hcaN]", "stop the device with a catastrophic error")       \
	W("quit", quit, "", "end the server")

#define W(word, function, arguments, meaning)                                                      \
	static void do_##function(const struct ctl_target *t, const struct words *w, FILE *out);
CTL_COMMANDS(W)
#undef W

static const struct {
	const char *word;
	void (*run)(const struct ctl_target *t, const struct words *w, FILE *out);
	const char *arguments, *meaning;
} commands[] = {
#define W(word, function, arguments, meaning) {word, do_##function, arguments, meaning},
	CTL_COMMANDS(W)
#undef W
};

void ctl_command(const struct ctl_target *target, char *line, FILE *answer)
{
	struct words w = {.count = 0};
	char *rest;

	for (char *p = strtok_r(line, " \t\r", &rest); p; p = strtok_r(NULL, " \t\r", &rest)) {
		if (w.count == WORDS_MAX) {
			fprintf(answer, "error: expected at most %d words", WORDS_MAX);
			return;
		}
		w.word[w.count++] = p;
	}
	for (size_t i = 0; w.count && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(w.word[0], commands[i].word)) {
			commands[i].run(target, &w, answer);
			return;
		}
	fprintf(answer, "error: no command '%s'; try help", w.count ? w.word[0] : "");
}

static void do_help(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fprintf(out, "ok");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "%s %s%s%s (%s)", i ? ";" : "", commands[i].word,
			*commands[i].arguments ? " " : "", commands[i].arguments,
			commands[i].meaning);
}

/* "hca1" with prefix "hca" is 1. False when the word is something else. */
static bool numbered(const char *word, const char *prefix, unsigned *n)
{
	size_t len = strlen(prefix);
	char *end;
	unsigned long v;

	if (strncmp(word, prefix, len) || word[len] < '0' || word[len] > '9')
		return false;
	v = strtoul(word + len, &end, 10);
	if (*end || v > UINT32_MAX)
		return false;
	*n = (unsigned)v;
	return true;
}

/* --- the wire --- */

static void do_link(const struct ctl_target *t, const struct words *w, FILE *out)
{
	unsigned hca = 0, port = 1;
	bool up = w->count > 1 && !strcmp(w->word[1], "up");

	if (w->count < 2 || (!up && strcmp(w->word[1], "down"))) {
		fprintf(out, "error: expected up or down");
		return;
	}
	for (unsigned i = 2; i < w->count; i++)
		if (!numbered(w->word[i], "hca", &hca) && !numbered(w->word[i], "port", &port)) {
			fprintf(out, "error: expected hcaN or portN, got '%s'", w->word[i]);
			return;
		}
	if (hca >= t->device_count || !port || port > t->devices[hca].hca->params->hca_ports) {
		fprintf(out, "error: there is no hca%u port%u", hca, port);
		return;
	}
	hca_link_set(t->devices[hca].hca, port, up);
	fprintf(out, "ok hca%u port%u %s", hca, port, w->word[1]);
}

static bool opcode_named(const char *word, uint8_t *opcode)
{
	for (unsigned i = 0; i < ARRAY_SIZE(bth_ops); i++)
		if (bth_ops[i].name && !strcmp(bth_ops[i].name, word)) {
			*opcode = (uint8_t)i;
			return true;
		}
	return false;
}

/* "0.5%" is 5000. */
static bool share(const char *word, uint32_t *ppm)
{
	char *end;
	double percent = strtod(word, &end);

	if (strcmp(end, "%") || !(percent > 0) || percent > PERCENT)
		return false;
	*ppm = (uint32_t)(percent / PERCENT * PPM + 0.5);
	return *ppm != 0;
}

static void fault_add(const struct ctl_target *t, const struct words *w, enum fault_action action,
		      FILE *out)
{
	struct fault_rule rule = {.action = action, .copies = 1, .behind = 2};
	int rc;

	for (unsigned i = 1; i < w->count; i++) {
		const char *word = w->word[i];

		if (opcode_named(word, &rule.opcode)) {
			rule.match |= FAULT_MATCH_OPCODE;
		} else if (numbered(word, "hca", &rule.hca)) {
			rule.match |= FAULT_MATCH_HCA;
		} else if (!numbered(word, "x", &rule.limit) && !share(word, &rule.chance_ppm)) {
			fprintf(out, "error: expected N%%, an opcode, hcaN or xN, got '%s'", word);
			return;
		}
	}
	rc = fault_plan_add(t->plan, &rule);
	if (rc < 0)
		fprintf(out, "error: %s", strerror(-rc));
	else
		fprintf(out, "ok fault %d: %s", rc, fault_action_name(action));
}

static void do_drop(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fault_add(t, w, FAULT_DROP, out);
}

static void do_corrupt(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fault_add(t, w, FAULT_CORRUPT, out);
}

static void do_duplicate(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fault_add(t, w, FAULT_DUPLICATE, out);
}

static void do_reorder(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fault_add(t, w, FAULT_REORDER, out);
}

static void do_inject(const struct ctl_target *t, const struct words *w, FILE *out)
{
	unsigned hca = 0;
	uint8_t wire[CTL_INJECT_BYTES + CRC_BYTES];
	size_t len = w->count > 1 ? hex_read(w->word[1], wire, CTL_INJECT_BYTES) : 0;

	if (len < LRH_BYTES) {
		fprintf(out, "error: expected a packet of %d to %d bytes as hexadecimal digits",
			LRH_BYTES, CTL_INJECT_BYTES);
		return;
	}
	if (w->count > 2 && !numbered(w->word[2], "hca", &hca)) {
		fprintf(out, "error: expected hcaN, got '%s'", w->word[2]);
		return;
	}
	if (hca >= t->device_count) {
		fprintf(out, "error: there is no hca%u", hca);
		return;
	}
	if (link_port_config(t->devices[hca].hca, 1)->eth) {
		fprintf(out, "error: port 1 of hca%u is an Ethernet port", hca);
		return;
	}
	len += crc_make(wire, len);
	hca_inject(t->devices[hca].hca, 1, wire, len);
	fprintf(out, "ok %zu bytes to hca%u", len, hca);
}

static void do_faults(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fprintf(out, "ok");
	for (size_t i = 0; i < t->plan->count; i++) {
		const struct fault_entry *e = &t->plan->entries[i];

		fprintf(out, "%s fault %zu: %s, seen %" PRIu64 ", fired %" PRIu64, i ? ";" : "", i,
			fault_action_name(e->rule.action), e->seen, e->fired);
	}
	if (w->count > 1 && !strcmp(w->word[1], "clear")) {
		fault_plan_free(t->plan);
		fault_plan_init(t->plan, t->seed);
		fprintf(out, "%scleared", t->plan->count ? "; " : " ");
	}
}

/* --- commands --- */

static bool command_named(const char *word, uint32_t *opcode)
{
	const struct hcr_row *row;

	for (unsigned i = 0; (row = hcr_row_at(i)); i++)
		if (!strcmp(row->name, word)) {
			*opcode = row->op;
			return true;
		}
	return false;
}

static bool status_named(const char *word, uint8_t *status)
{
	for (unsigned i = 1; i <= UINT8_MAX; i++) {
		const struct hcr_status_row *row = hcr_status_find(i);

		if (row && !strcmp(row->name, word)) {
			*status = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static void do_command(const struct ctl_target *t, const struct words *w, FILE *out)
{
	unsigned hca = 0, times = 1;
	uint32_t opcode;
	uint8_t status;

	if (w->count < 3 || !command_named(w->word[1], &opcode) ||
	    !status_named(w->word[2], &status)) {
		fprintf(out, "error: expected a command and a status, such as SW2HW_CQ EXCEED_LIM");
		return;
	}
	for (unsigned i = 3; i < w->count; i++)
		if (!numbered(w->word[i], "hca", &hca) && !numbered(w->word[i], "x", &times)) {
			fprintf(out, "error: expected xN or hcaN, got '%s'", w->word[i]);
			return;
		}
	if (hca >= t->device_count) {
		fprintf(out, "error: there is no hca%u", hca);
		return;
	}
	if (hca_command_fail(t->devices[hca].hca,
			     &(const struct hca_command_fault){
				     .opcode = opcode, .status = status, .times = times})) {
		fprintf(out, "error: hca%u has no commands, its personality is %s", hca,
			hca_personality(t->devices[hca].hca));
		return;
	}
	fprintf(out, "ok hca%u %s gives %s, %u times", hca, w->word[1], w->word[2], times);
}

/* --- looking --- */

static void port_state(const struct vfu_device *d, unsigned port, FILE *out)
{
	const struct port_config *c = link_port_config(d->hca, port);
	static const char *const states[] = {"?", "down", "init", "armed", "active"};

	fprintf(out, "%s{\"port\": %u, \"state\": \"%s\", \"physical\": %u, \"lid\": %u}",
		port > 1 ? ", " : "", port,
		c->logical < ARRAY_SIZE(states) ? states[c->logical] : "?", c->phys, c->lid);
}

static void do_state(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fprintf(out, "ok {\"time_us\": %.6f", (double)t->core->now_ps / 1e6);
	if (t->clock)
		fprintf(out, ", \"held\": %s", guest_clock_is_held(t->clock) ? "true" : "false");
	for (unsigned i = 0; i < t->device_count; i++) {
		const struct vfu_device *d = &t->devices[i];

		fprintf(out, ", \"hca%u\": {\"client\": %s, \"quiet\": %s, \"stopped\": %s, ", i,
			vfu_server_has_client(t->server, d) ? "true" : "false",
			hca_is_quiet(d->hca) ? "true" : "false",
			d->hca->stopped ? "true" : "false");
		fprintf(out, "\"dma_ranges\": %zu, \"interrupts\": %" PRIu64 ", \"ports\": [",
			guest_memory_count(&d->memory), d->irqs.signalled);
		for (unsigned port = 1; port <= d->hca->params->hca_ports; port++)
			port_state(d, port, out);
		fprintf(out, "]}");
	}
	fprintf(out, "}");
}

static void do_counters(const struct ctl_target *t, const struct words *w, FILE *out)
{
	const char *separator = "ok {";
	char name[128];

	for (unsigned i = 0; i < t->device_count; i++) {
		size_t n = hca_stats(t->devices[i].hca, NULL, 0);
		struct stat_value *v = calloc(n + 1, sizeof(*v));

		if (!v)
			break;
		hca_stats(t->devices[i].hca, v, n);
		for (size_t k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "hca%u.%s.%s", i, v[k].stage, v[k].counter);
			if (w->count > 1 && !strstr(name, w->word[1]))
				continue;
			fprintf(out, "%s\"%s\": %" PRIu64, separator, name, v[k].value);
			separator = ", ";
		}
		free(v);
	}
	fprintf(out, "%s}", *separator == 'o' ? separator : "");
}

static void do_stuck(const struct ctl_target *t, const struct words *w, FILE *out)
{
	ctl_stuck(t, out);
}

static void do_dump(const struct ctl_target *t, const struct words *w, FILE *out)
{
	ctl_dump(t, out);
}

/* --- the server --- */

static void do_late(const struct ctl_target *t, const struct words *w, FILE *out)
{
	unsigned hca = 0, first = 0, last = t->device_count, ms;

	if (w->count < 2 || !numbered(w->word[1], "", &ms) || ms > LATE_MAX_MS) {
		fprintf(out, "error: expected 0 to %d milliseconds", LATE_MAX_MS);
		return;
	}
	if (w->count > 2) {
		if (!numbered(w->word[2], "hca", &hca) || hca >= t->device_count) {
			fprintf(out, "error: expected hcaN, got '%s'", w->word[2]);
			return;
		}
		first = hca;
		last = hca + 1;
	}
	for (unsigned i = first; i < last; i++)
		t->devices[i].late.delay_ps = CFG_MS(ms);
	fprintf(out, "ok interrupts %u ms late", ms);
}

static void do_go(const struct ctl_target *t, const struct words *w, FILE *out)
{
	fprintf(out, t->clock && guest_clock_go(t->clock)
			     ? "ok; a guest with a debugger waits for the debugger"
			     : "error: nothing is held");
}

static void do_trace(const struct ctl_target *t, const struct words *w, FILE *out)
{
	bool on = w->count > 1 && !strcmp(w->word[1], "on");

	if (w->count < 2 || (!on && strcmp(w->word[1], "off"))) {
		fprintf(out, "error: expected on or off");
		return;
	}
	if (!t->traced) {
		fprintf(out, "error: serve was started without --trace");
		return;
	}
	trace_listen(t->trace, on ? t->points : t->quiet);
	fprintf(out, "ok trace %s", w->word[1]);
}

static void do_catastrophe(const struct ctl_target *t, const struct words *w, FILE *out)
{
	unsigned hca = 0;

	if (w->count > 1 && !numbered(w->word[1], "hca", &hca)) {
		fprintf(out, "error: expected hcaN, got '%s'", w->word[1]);
		return;
	}
	if (hca >= t->device_count) {
		fprintf(out, "error: there is no hca%u", hca);
		return;
	}
	hca_catastrophe(t->devices[hca].hca, ERR_BUF_INJECTED, 0,
			"requested through the control socket");
	fprintf(out, "ok hca%u stopped", hca);
}

static void do_quit(const struct ctl_target *t, const struct words *w, FILE *out)
{
	*t->stop = true;
	fprintf(out, "ok");
}
