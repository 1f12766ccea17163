/* SPDX-License-Identifier: Apache-2.0 */
/* See serve.h. */
#include "testbench/app/serve.h"

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"
#include "model/engine/chip/processor.h"
#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/sim/file.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/guest_clock.h"
#include "model/vfio_user/protocol.h"
#include "model/vfio_user/server.h"
#include "model/wire/wire.h"
#include "testbench/app/ctl.h"
#include "testbench/app/ending.h"
#include "testbench/dsan/guest.h"
#include "testbench/machine/stall.h"
#include "testbench/os/outdir.h"
#include "testbench/os/place.h"
#include "testbench/app/serve_report.h"
#include "traces/trace.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The longest sleep, and the timer slack to set in the kernel (its default is 50 us). */
enum { PATH_CHARS = 4096, ERROR_CHARS = 512, TIMER_SLACK_NS = 1000 };
static const uint64_t wait_max_ns = 10000000000;
/* How long a debugger of the firmware may have to wait. */
static const uint64_t debugger_wait_ns = 50000000;

struct serve {
	struct vfu_source signals; /* first: cast back */
	const struct run_options *run;
	const struct serve_options *options;
	struct config config;
	struct outdir dir;
	char fw[PATH_CHARS];
	struct event_core core;
	struct fault_plan plan;
	struct trace *trace;
	uint32_t points; /* trace->kinds with the trace files */
	uint32_t quiet;  /* for the report's only */
	struct vfu_device devices[SERVE_SOCKETS_MAX];
	unsigned device_count;
	struct hca *outside; /* the second device of the configuration, when there is a wire */
	struct wires wires;
	struct checker *checkers[SERVE_SOCKETS_MAX]; /* NULL: the driver is not watched */
	struct vfu_server *server;
	struct guest_clock *clock; /* NULL: the wall clock leads */
	int gdb_port;              /* where a debugger of the firmware can come; 0: none can */
	struct event stop_at;
	bool told_held;
	struct ctl *ctl;
	struct serve_report report;
	bool stop;
};

/* --- what the devices tell --- */

static void say_time(const struct vfu_device *device)
{
	printf("%.6f us hca%u ", (double)device->core->now_ps / 1e6, device->index);
}

static void on_log(void *arg, const struct vfu_device *device, const char *line)
{
	say_time(device);
	printf("%s\n", line);
	fflush(stdout);
}

static void on_guest_error(void *arg, const struct vfu_device *device,
			   const struct guest_error *error)
{
	struct serve *s = arg;
	char calls[GUEST_CALLS_TEXT] = "";

	if (s->options->stops_on && error->rule == s->options->stop_on)
		guest_clock_hold(s->clock);
	if (s->clock && s->report.guest_errors < REPORT_NOTES)
		guest_clock_calls(s->clock, device, calls);
	report_guest_error(&s->report, device, error, calls);
	if (s->report.guest_errors > REPORT_NOTES)
		return;
	say_time(device);
	printf("guest error %s: %s\n", error->name, error->text);
	if (*calls)
		printf("    calls:    %s\n", calls);
	fflush(stdout);
}

static void on_catastrophe(void *arg, const struct vfu_device *device, const char *text)
{
	struct serve *s = arg;

	s->report.catastrophes++;
	say_time(device);
	printf("catastrophic error: %s\n", text);
	fflush(stdout);
}

static void on_limit(void *arg, const struct vfu_device *device, const char *text)
{
	struct serve *s = arg;

	report_limit(&s->report, device, text);
	on_log(arg, device, text);
}

static void on_access(void *arg, const struct vfu_device *device, const struct vfu_access *access)
{
	struct serve *s = arg;

	report_access(&s->report, device, access);
}

static void on_dma_unmap(void *arg, const struct vfu_device *device, uint64_t bus, uint64_t size)
{
	struct serve *s = arg;

	if (s->checkers[device->index])
		guest_checker_unmapped(s->checkers[device->index], bus, size);
}

static void on_dma_map(void *arg, const struct vfu_device *device, const struct guest_map *map)
{
	struct serve *s = arg;

	if (s->checkers[device->index])
		guest_checker_mapped(s->checkers[device->index], map->start, map->size, map->fd,
				     map->offset);
}

/* Linux ib_qib, of the other personality, unmaps its memory after it has let the device go: qib_postinit_cleanup */
static void on_mastering(void *arg, const struct vfu_device *device, bool on)
{
	struct serve *s = arg;

	if (s->checkers[device->index] &&
	    s->config.hca[device->index].hca_personality == CFG_PERSONALITY_mlx4)
		guest_checker_mastering(s->checkers[device->index], on, device->memory.ranges,
					device->memory.count);
}

/* --- what the guests' drivers do, in simulated time --- */

static void on_watched(void *arg, uint64_t page, bool watched)
{
	const struct vfu_device *device = arg;
	const struct serve *s = device->watcher.arg;

	guest_clock_watch_page(s->clock, device, page, watched);
}

static void on_memory(void *arg, const struct vfu_device *device, const struct guest_access *access,
		      const struct guest_code *code, uint32_t machine)
{
	struct serve *s = arg;

	guest_checker_access(s->checkers[device->index], access->address, access->bytes,
			     access->store, code, machine);
}

static void on_register(void *arg, const struct vfu_device *device, uint32_t region,
			uint64_t offset, const void *bytes, uint32_t count,
			const struct guest_code *code, uint32_t machine)
{
	struct serve *s = arg;

	if (region == VFU_REGION_BAR0 || region == VFU_REGION_BAR2)
		guest_checker_register(s->checkers[device->index], region, offset, bytes, count,
				       code, machine);
}

static bool guest_read(void *arg, uint64_t bus, void *buf, size_t len)
{
	struct vfu_device *device = arg;

	return !guest_memory_read(&device->memory, bus, buf, len);
}

/* --- making it --- */

/*
 * BlueFlame is not announced to the guest unless the user asks for it. A virtual machine does not
 * combine writes: each 8 bytes of a WQE that a driver copies into a BlueFlame register leave the
 * guest separately. BlueFlame therefore costs eight times as much as a doorbell, and a guest that
 * posts READs (rdma-core's mlx4 uses BlueFlame for those) reaches an eighth of the rate.
 */
static void suit_guests(struct config *config)
{
	for (unsigned i = 0; i < SERVE_SOCKETS_MAX; i++)
		config->hca[i].doorbell_blueflame = 0;
}

static int configure(struct serve *s)
{
	const struct run_options *o = s->run;
	char seed[64];
	int rc = 0;

	cfg_defaults(&s->config);
	suit_guests(&s->config);
	for (size_t i = 0; i < o->inis && !rc; i++)
		rc = cfg_load_ini(&s->config, o->ini[i], stderr);
	for (size_t i = 0; i < o->setting_count && !rc; i++)
		rc = cfg_set(&s->config, o->settings[i], "-s", stderr);
	if (!rc && o->seed) {
		snprintf(seed, sizeof(seed), "sim.seed=%s", o->seed);
		rc = cfg_set(&s->config, seed, "--seed", stderr);
	}
	if (!rc)
		rc = wires_suit(&s->config, stderr);
	if (!rc && wires_wanted(&s->config) && s->options->socket_count > 1) {
		fprintf(stderr, "hcasim: hca0 has a wire to the outside, so there is no second "
				"device: give one --socket\n");
		rc = -EINVAL;
	}
	return rc;
}

static int find_paths(struct serve *s)
{
	char runs[PATH_CHARS - 64];
	int rc = place_firmware(s->run->fw, s->fw, sizeof(s->fw));

	if (rc)
		return rc;
	if (s->run->dir) {
		outdir_name(&s->dir, "%s", s->run->dir);
		return 0;
	}
	rc = place_runs(runs, sizeof(runs));
	if (!rc)
		outdir_name(&s->dir, "%s/serve", runs);
	return rc;
}

static int make_devices(struct serve *s)
{
	const struct vfu_watcher watcher = {
		.arg = s,
		.guest_error = on_guest_error,
		.catastrophe = on_catastrophe,
		.limit = on_limit,
		.access = on_access,
		.dma_map = on_dma_map,
		.dma_unmap = on_dma_unmap,
		.mastering = on_mastering,
		.log = on_log,
	};
	char err[ERROR_CHARS];

	for (unsigned i = 0; i < s->options->socket_count; i++) {
		int rc = vfu_device_create(&s->devices[i], i, &s->config.hca[i], &s->config.host[i],
					   &s->core, s->trace, s->fw, &watcher, err, sizeof(err));

		if (rc) {
			fprintf(stderr, "hcasim: %s\n", err);
			return rc;
		}
		if (s->config.sim.sim_jitter)
			hca_jitter(s->devices[i].hca, s->config.sim.sim_seed);
		s->device_count++;
		if (!s->options->check)
			continue;
		s->checkers[i] =
			guest_checker_create(s->devices[i].hca, guest_read, &s->devices[i]);
		if (!s->checkers[i] ||
		    (s->options->clock_count &&
		     !guest_checker_watch(s->checkers[i], on_watched, &s->devices[i])))
			return -ENOMEM;
	}
	return 0;
}

static void on_wire(void *arg, const char *line)
{
	struct serve *s = arg;

	on_log(arg, &s->devices[0], line);
}

static int make_wires(struct serve *s)
{
	static const struct hca_env nobody = {0};
	char err[ERROR_CHARS];
	struct wires_env env = {.near = s->devices[0].hca,
				.core = &s->core,
				.plan = &s->plan,
				.server = s->server,
				.say = on_wire,
				.arg = s};

	s->outside = hca_create(1, &s->config.hca[1], &s->config.host[1], &s->core, &nobody,
				s->trace, s->fw, err, sizeof(err));
	if (!s->outside) {
		fprintf(stderr, "hcasim: %s\n", err);
		return -EINVAL;
	}
	env.far = s->outside;
	return wires_open(&s->wires, &env, &s->config, stderr);
}

static int link_devices(struct serve *s)
{
	const uint64_t a = s->config.hca[0].hca_ports, b = s->config.hca[1].hca_ports;

	if (wires_wanted(&s->config))
		return make_wires(s);
	if (s->device_count == 1) {
		if (a > 1)
			hca_link(s->devices[0].hca, 1, s->devices[0].hca, 2, &s->plan);
		return 0;
	}
	for (unsigned port = 1; port <= a && port <= b; port++)
		hca_link(s->devices[0].hca, port, s->devices[1].hca, port, &s->plan);
	return 0;
}

static int write_file(struct serve *s, const char *name, int (*write)(struct serve *s, FILE *out))
{
	char path[PATH_CHARS];
	struct file_out f;
	int rc;

	outdir_file(&s->dir, name, path, sizeof(path));
	rc = file_create(&f, path, stderr);
	return rc ? rc : file_finish(&f, write(s, f.out), stderr);
}

static int write_config(struct serve *s, FILE *out)
{
	return cfg_save(&s->config, out);
}

static unsigned hcas_of(const struct serve *s, const struct hca *hcas[static SERVE_SOCKETS_MAX])
{
	unsigned n = 0;

	for (; n < s->device_count; n++)
		hcas[n] = s->devices[n].hca;
	if (s->outside)
		hcas[n++] = s->outside;
	return n;
}

static int write_stats(struct serve *s, FILE *out)
{
	const struct hca *hcas[SERVE_SOCKETS_MAX];

	return counters_write(hcas, hcas_of(s, hcas), out);
}

static int print_stats(const struct serve *s)
{
	const struct hca *hcas[SERVE_SOCKETS_MAX];

	return counters_print(hcas, hcas_of(s, hcas), s->run->stats, stdout);
}

static bool traced(const struct serve *s)
{
	return *s->run->traces && strcmp(s->run->traces, "none");
}

static int open_files(struct serve *s)
{
	int rc = report_listen(&s->report, s->trace);

	ending_watch_crashes();
	s->quiet = s->trace->kinds;
	if (!rc)
		rc = outdir_create(&s->dir, stderr);
	trace_snap(s->trace, (uint32_t)s->config.sim.pcapng_snaplen);
	if (!rc && traced(s))
		rc = trace_open(s->trace, s->run->traces, s->dir.path, stderr);
	if (!rc)
		rc = write_file(s, "config.ini", write_config);
	s->points = s->trace->kinds;
	return rc;
}

/* --- running it --- */

/*
 * A signal always ends serve. The handler only wakes the main loop; if the loop does not react in
 * time, whatever blocks it, the alarm ends the process.
 */
enum { OVERDUE_S = 5 };
static int stop_fd = -1;

static void on_signal(int number)
{
	const uint64_t one = 1;

	(void)!write(stop_fd, &one, sizeof(one));
	alarm(OVERDUE_S);
}

static void on_overdue(int number)
{
	static const char text[] = "hcasim: serve cannot finish; its trace files are incomplete\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILED);
}

static void signal_ready(struct vfu_source *source, uint32_t events)
{
	struct serve *s = (struct serve *)(void *)source;
	uint64_t count;

	if (read(source->fd, &count, sizeof(count)) == sizeof(count)) {
		alarm(0);
		s->stop = true;
	}
}

static int watch_signals(struct serve *s)
{
	const struct sigaction stop = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	const struct sigaction overdue = {.sa_handler = on_overdue};

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return -errno;
	s->signals = (struct vfu_source){stop_fd, signal_ready};
	sigaction(SIGALRM, &overdue, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	return vfu_server_watch(s->server, &s->signals, EPOLLIN);
}

/* A further signal wakes nobody: serve is about to print its report, and the alarm still bounds that. */
static void signals_leave(void)
{
	const int fd = stop_fd;

	stop_fd = -1;
	if (fd >= 0)
		close(fd);
}

static void stop_at_come(struct event *ev)
{
	struct serve *s = (struct serve *)(void *)((char *)ev - offsetof(struct serve, stop_at));

	guest_clock_hold(s->clock);
}

/* With one clock its guest has all devices; with two, each guest has one. */
static int open_clocks(struct serve *s, char *err, size_t err_size)
{
	const unsigned clocks = s->options->clock_count;
	const struct guest_clock_watcher watcher = {s, on_memory, on_register};
	int rc = 0;

	if (!clocks)
		return 0;
	s->clock = guest_clock_create(s->server, &s->core, &s->config.sim);
	if (!s->clock)
		return -ENOMEM;
	for (unsigned i = 0; i < clocks && !rc; i++)
		rc = guest_clock_listen(s->clock, s->options->clocks[i], err, err_size);
	for (unsigned i = 0; i < s->device_count && !rc; i++)
		guest_clock_attach(s->clock, clocks == 1 ? 0 : i, &s->devices[i]);
	if (s->options->check)
		guest_clock_watch(s->clock, &watcher);
	vfu_server_follow(s->server, s->clock);
	s->stop_at.job = stop_at_come;
	if (s->options->stops_at)
		event_set(&s->core, &s->stop_at, s->options->stop_at_ps);
	return rc;
}

/* A debugger of the firmware may come at any time. */
static int open_debugger(struct serve *s)
{
	if (!s->run->gdb)
		return 0;
	if (!s->devices[0].hca->processor) {
		fprintf(stderr, "hcasim: --fw-gdb: hca0 has no firmware\n");
		return -EINVAL;
	}
	s->gdb_port = processor_debug(s->devices[0].hca, s->run->gdb_port);
	return s->gdb_port < 0 ? s->gdb_port : 0;
}

static int open_ctl(struct serve *s, char *err, size_t err_size)
{
	const struct ctl_target target = {
		.core = &s->core,
		.server = s->server,
		.clock = s->clock,
		.devices = s->devices,
		.device_count = s->device_count,
		.plan = &s->plan,
		.seed = s->config.sim.sim_seed,
		.trace = s->trace,
		.traced = traced(s),
		.points = s->points,
		.quiet = s->quiet,
		.dir = s->dir.path,
		.stop = &s->stop,
	};

	if (!s->options->ctl)
		return 0;
	s->ctl = ctl_open(&target, s->options->ctl, err, err_size);
	return s->ctl ? 0 : -EINVAL;
}

static int open_sockets(struct serve *s)
{
	char err[ERROR_CHARS] = "out of memory";
	int rc = watch_signals(s);

	if (rc)
		snprintf(err, sizeof(err), "signals: %s", strerror(-rc));
	for (unsigned i = 0; i < s->device_count && !rc; i++)
		rc = vfu_server_offer(s->server, &s->devices[i], s->options->sockets[i], err,
				      sizeof(err));
	if (!rc)
		rc = open_clocks(s, err, sizeof(err));
	if (!rc)
		rc = open_ctl(s, err, sizeof(err));
	if (rc)
		fprintf(stderr, "hcasim: %s\n", err);
	return rc;
}

/*
 * Without the privilege, the speed depends on the load of the machine. On a single processor the
 * guests would get no CPU time while it simulates.
 */
static void hurry(const struct serve *s)
{
	const struct sched_param param = {.sched_priority = (int)s->config.sim.sim_pace_priority};

	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	if (param.sched_priority && sysconf(_SC_NPROCESSORS_ONLN) > 1)
		sched_setscheduler(0, SCHED_RR, &param);
}

/* Says that guests and devices are held, when that begins. */
static void held_tell(struct serve *s)
{
	const bool held = s->clock && guest_clock_is_held(s->clock);

	if (held && !s->told_held) {
		printf("held at %.6f us; go on: hcasim ctl SOCKET go, or continue in the guest's "
		       "debugger\n",
		       (double)s->core.now_ps / 1e6);
		fflush(stdout);
	}
	s->told_held = held;
}

static void run(struct serve *s)
{
	printf("listening:");
	for (unsigned i = 0; i < s->device_count; i++)
		printf(" hca%u on %s", i, s->options->sockets[i]);
	if (s->options->ctl)
		printf(" control on %s", s->options->ctl);
	for (unsigned i = 0; i < s->options->clock_count; i++)
		printf(" guest clock on %s", s->options->clocks[i]);
	if (s->gdb_port)
		printf(" gdb on port %d", s->gdb_port);
	printf("\n");
	fflush(stdout);
	if (!s->clock)
		hurry(s);
	while (!s->stop && !(s->clock && guest_clock_is_over(s->clock))) {
		vfu_server_turn(s->server, s->run->gdb ? debugger_wait_ns : wait_max_ns);
		held_tell(s);
		if (s->run->gdb)
			processor_debug_poll(s->devices[0].hca);
	}
}

/* Whether the guests, where their clocks led, all ended in order. */
static enum exit_status guests_status(const struct serve *s)
{
	const char *trouble = s->clock ? guest_clock_trouble(s->clock) : NULL;

	if (s->clock)
		guest_clock_report(s->clock, stdout);
	if (!trouble)
		return EXIT_RIGHT;
	fprintf(stderr, "hcasim: serve ends: %s\n", trouble);
	return EXIT_FAILED;
}

/* A device that still runs at the end may be one that a guest hangs on. */
static void stall_tell(const struct vfu_device *device)
{
	enum { STALL_LINES = 16 };

	if (!(device->hca->ctrl & FW_CTRL_RUN))
		return;
	printf("hca%u was still in use. What waits, for it or for the driver:\n", device->index);
	stall_print(device->hca, "  ", STALL_LINES, stdout);
}

static enum exit_status serve_all(struct serve *s)
{
	enum exit_status status = EXIT_INPUT;

	if (make_devices(s))
		return EXIT_INPUT;
	s->server = vfu_server_create(&s->core, &s->config.sim);
	if (!s->server) {
		fprintf(stderr, "hcasim: epoll: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	if (link_devices(s) || open_files(s) || open_debugger(s) || open_sockets(s)) {
		outdir_undo(&s->dir);
	} else {
		run(s);
		for (unsigned i = 0; i < s->device_count; i++)
			stall_tell(&s->devices[i]);
		status = write_file(s, "stats.json", write_stats) || print_stats(s)
				 ? EXIT_FAILED
				 : guests_status(s);
	}
	/* what the devices say while they are taken apart is no part of the run */
	trace_listen(s->trace, 0);
	ctl_close(s->ctl);
	wires_close(&s->wires);
	guest_clock_destroy(s->clock);
	vfu_server_destroy(s->server);
	signals_leave();
	return status;
}

enum exit_status serve(const struct run_options *run_options, const struct serve_options *options)
{
	struct serve *s = calloc(1, sizeof(*s));
	enum exit_status status = EXIT_INPUT;

	if (!s)
		return EXIT_FAILED;
	s->run = run_options;
	s->options = options;
	if (configure(s) || find_paths(s))
		goto out;
	event_core_init(&s->core);
	fault_plan_init(&s->plan, s->config.sim.sim_seed);
	s->trace = trace_create();
	if (s->trace)
		status = serve_all(s);
	if (s->outside) /* it may hold packets of the device */
		hca_pci_reset(s->outside);
	for (unsigned i = 0; i < s->device_count; i++) {
		guest_checker_destroy(s->checkers[i]);
		vfu_device_destroy(&s->devices[i]);
	}
	hca_destroy(s->outside);
	if (s->trace && trace_close(s->trace) && status == EXIT_RIGHT)
		status = EXIT_FAILED;
	fault_plan_free(&s->plan);
	event_core_free(&s->core);
	if (status != EXIT_INPUT)
		report_print(&s->report, stdout);
out:
	free(s);
	return status;
}
