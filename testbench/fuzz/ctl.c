/* SPDX-License-Identifier: Apache-2.0 */
/* Sends lines to the control socket of a server. The server has two devices, and no client has
 * connected to them. */
#include "model/engine/base/event_core.h"
#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/vfio_user/device.h"
#include "testbench/app/ctl.h"
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 2, LINES_MAX = 64, INPUTS = 100 };

static struct {
	struct config config;
	struct event_core core;
	struct fault_plan plan;
	struct vfu_server *server;
	struct vfu_device devices[DEVICES];
	struct trace *trace;
	FILE *answers;
	char dir[32], path[48];
	bool stop;
	unsigned inputs;
} rig;

static void down(void)
{
	char dump[64];

	if (!rig.server)
		return;
	vfu_server_destroy(rig.server);
	for (unsigned i = 0; i < DEVICES; i++)
		vfu_device_destroy(&rig.devices[i]);
	event_core_free(&rig.core);
	fault_plan_free(&rig.plan);
	trace_close(rig.trace);
	fclose(rig.answers);
	snprintf(dump, sizeof(dump), "%s/contexts.txt", rig.dir);
	unlink(dump);
	rmdir(rig.dir);
	memset(&rig, 0, sizeof(rig));
}

static void need(bool is)
{
	if (!is)
		abort();
}

static void up(void)
{
	static const struct vfu_watcher nobody;
	const char *fw = getenv("FUZZ_FW");
	char err[256];

	cfg_defaults(&rig.config);
	event_core_init(&rig.core);
	fault_plan_init(&rig.plan, 1);
	rig.server = vfu_server_create(&rig.core, &rig.config.sim);
	rig.trace = trace_create();
	rig.answers = fopen("/dev/null", "w");
	strcpy(rig.dir, "/tmp/fuzz_ctl_XXXXXX");
	need(rig.server && rig.trace && rig.answers && mkdtemp(rig.dir));
	for (unsigned i = 0; i < DEVICES; i++)
		need(!vfu_device_create(&rig.devices[i], i, &rig.config.hca[i], &rig.config.host[i],
					&rig.core, NULL, fw ? fw : "build/fw/hcasim-fw.elf",
					&nobody, err, sizeof(err)));
	hca_link(rig.devices[0].hca, 1, rig.devices[1].hca, 1, &rig.plan);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static bool registered;
	char *text = malloc(size + 1), *line, *rest = text;

	if (!registered)
		registered = !atexit(down);
	if (rig.inputs++ == INPUTS)
		down();
	if (!rig.server)
		up();
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	for (unsigned n = 0; n < LINES_MAX && (line = strsep(&rest, "\n")); n++) {
		const struct ctl_target target = {
			.core = &rig.core,
			.server = rig.server,
			.devices = rig.devices,
			.device_count = DEVICES,
			.plan = &rig.plan,
			.seed = 1,
			.trace = rig.trace,
			.traced = true,
			.dir = rig.dir,
			.stop = &rig.stop,
		};

		ctl_command(&target, line, rig.answers);
	}
	free(text);
	return 0;
}
