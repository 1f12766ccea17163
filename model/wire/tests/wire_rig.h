/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of wires: the port at the near end belongs to a device without a host, too, and the test
 * is its outside. */
#ifndef MODEL_WIRE_TESTS_WIRE_RIG_H
#define MODEL_WIRE_TESTS_WIRE_RIG_H

#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/wire/wire.h"
#include "traces/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RIG_FRAME = 60, RIG_SEEN = 2048, RIG_LINES = 16, RIG_LINE = 256 };

struct rig_frame {
	uint64_t at_ps;
	size_t len;
	uint8_t head[RIG_FRAME];
};

static struct rig {
	struct config config;
	struct event_core core;
	struct fault_plan plan;
	struct trace *trace;
	struct hca *near, *far;
	struct wires wires;
	bool open, up;
	unsigned seen;
	struct rig_frame frames[RIG_SEEN]; /* what came to the near port */
	unsigned n_lines;
	char lines[RIG_LINES][RIG_LINE];
	char folder[64];
} rig;

static enum hca_outside_answer rig_frame(void *ctx, unsigned port, const void *frame, size_t len)
{
	struct rig_frame *f = &rig.frames[rig.seen++];

	assert_true(rig.seen < RIG_SEEN);
	f->at_ps = rig.core.now_ps;
	f->len = len;
	memcpy(f->head, frame, RIG_FRAME);
	return OUTSIDE_TOOK;
}

static void rig_link(void *ctx, unsigned port, bool up)
{
	rig.up = up;
}

static const struct hca_outside rig_world = {.frame = rig_frame, .link = rig_link, .pause = true};

static void rig_say(void *arg, const char *line)
{
	assert_true(rig.n_lines < RIG_LINES);
	snprintf(rig.lines[rig.n_lines++], RIG_LINE, "%s", line);
}

static bool rig_said(const char *words)
{
	for (unsigned i = 0; i < rig.n_lines; i++)
		if (strstr(rig.lines[i], words))
			return true;
	return false;
}

static inline uint64_t rig_stat(const struct hca *hca, const char *stage, const char *counter)
{
	struct stat_value values[512];
	const size_t n = hca_stats(hca, values, 512);

	assert_true(n <= 512);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(values[i].stage, stage) && !strcmp(values[i].counter, counter))
			return values[i].value;
	fail_msg("no counter %s.%s", stage, counter);
	return 0;
}

static void rig_set(const char *format, ...)
{
	char setting[512];
	va_list args;

	va_start(args, format);
	vsnprintf(setting, sizeof(setting), format, args);
	va_end(args);
	assert_int_equal(cfg_set(&rig.config, setting, "test", stderr), 0);
}

static struct hca *rig_device(unsigned index)
{
	static const struct hca_env nobody = {0};
	char err[256] = "";
	struct hca *hca = hca_create(index, &rig.config.hca[index], &rig.config.host[index],
				     &rig.core, &nobody, rig.trace, NULL, err, sizeof(err));

	if (!hca)
		fail_msg("%s", err);
	return hca;
}

/* The configuration is made; now the devices. */
static void rig_make(void)
{
	rig.config.hca[0].hca_personality = rig.config.hca[1].hca_personality =
		CFG_PERSONALITY_outside;
	assert_int_equal(wires_suit(&rig.config, stderr), 0);
	event_core_init(&rig.core);
	fault_plan_init(&rig.plan, 1);
	rig.trace = trace_create();
	rig.near = rig_device(0);
	rig.far = rig_device(1);
}

/* 0 or what wires_open() says. */
static int rig_open(struct vfu_server *server, FILE *err)
{
	const struct wires_env env = {.near = rig.near,
				      .far = rig.far,
				      .core = &rig.core,
				      .plan = &rig.plan,
				      .server = server,
				      .say = rig_say};
	const int rc = wires_open(&rig.wires, &env, &rig.config, err);

	rig.open = !rc;
	hca_outside_set(rig.near, &rig_world);
	return rc;
}

static void rig_close(void)
{
	if (rig.open)
		wires_close(&rig.wires);
	rig.open = false;
}

static int rig_setup(void **state)
{
	memset(&rig, 0, sizeof(rig));
	cfg_defaults(&rig.config);
	rig_set("hca.port1.type=eth");
	strcpy(rig.folder, "/tmp/hcasim-wire.XXXXXX");
	return mkdtemp(rig.folder) ? 0 : -1;
}

static void rig_unmake(void)
{
	rig_close();
	/* each may hold packets of the other one's pool */
	if (rig.near) {
		hca_pci_reset(rig.near);
		hca_pci_reset(rig.far);
		hca_destroy(rig.near);
		hca_destroy(rig.far);
		trace_close(rig.trace);
		fault_plan_free(&rig.plan);
		event_core_free(&rig.core);
	}
	rig.near = rig.far = NULL;
}

static int rig_teardown(void **state)
{
	rig_unmake();
	return rmdir(rig.folder);
}

#endif
