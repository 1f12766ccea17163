/* SPDX-License-Identifier: Apache-2.0 */
/* See rig.h. */
#define _GNU_SOURCE /* memfd_create */
#include "testbench/fuzz/rig.h"
#include "testbench/services.h"
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "traces/trace_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	INPUTS_PER_RIG = 200,
	BRING_UP_LIMIT_S = 60,
	QUEUE = 16,
	AREA = 16 << 10,
	SRQ_RECEIVES = 4,
	UD_QKEY = 1,
	PORT = 1,
};

const char *const *fuzz_rig_settings;
const uint8_t fuzz_mgid[DRV_GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 7};

static struct fuzz_rig *rig_now;
static bool rig_spoilt;

static const struct scenario fuzz_scenario = {
	.interface = SCENARIO_INTERFACE,
	.name = "fuzz",
	.setup = {TB_SETUP_DEFAULTS, .qps = FUZZ_QPS, .memory = AREA,
		  .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			       IBV_ACCESS_MW_BIND,
		  .queue = QUEUE, .timeout = 4, .retry_cnt = 1, .rnr_retry = 1, .min_rnr_timer = 1},
};

/* --- bytes --- */

uint64_t fuzz_take(struct fuzz_bytes *b, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | (b->at < b->end ? *b->at++ : 0);
	return v;
}

size_t fuzz_take_some(struct fuzz_bytes *b, size_t max, const uint8_t **bytes)
{
	size_t n = (size_t)(b->end - b->at);

	n = n < max ? n : max;
	*bytes = n ? b->at : (const uint8_t *)""; /* libFuzzer's empty input is NULL */
	b->at += n;
	return n;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) {
		perror("memfd");
		abort();
	}
	return path;
}

/* --- the machine --- */

/* From now on everything is traced as text and as a capture, and both are discarded: the decoders read
 * the same bytes. Bringing the rig up is not traced, because it is the same each time, and tracing it
 * took five of six instructions of an input that needs a new rig. */
static void trace_to_nowhere(struct trace *tr)
{
	static const struct trace_sink_ops *const sinks[] = {&trace_log_ops, &trace_pcapng_ops};

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++) {
		void *sink;

		if (sinks[i]->open(&sink, "/dev/null", UINT32_MAX) ||
		    trace_sink_add(tr, sinks[i], sink, 0))
			abort();
	}
}

static struct fuzz_rig *rig_create(void)
{
	struct fuzz_rig *rig = calloc(1, sizeof(*rig));
	struct machine_options options = {.fw_path = getenv("FUZZ_FW")};
	char err[256];

	if (!options.fw_path)
		options.fw_path = "build/fw/hcasim-fw.elf";
	rig->config = malloc(sizeof(*rig->config));
	if (!rig->config)
		abort();
	cfg_defaults(rig->config);
	for (const char *const *s = fuzz_rig_settings; s && *s; s++)
		if (cfg_set(rig->config, *s, "fuzz", stderr))
			abort();
	options.config = rig->config;
	options.trace = trace_create();
	if (machine_create(&rig->machine, &options, err, sizeof(err)) ||
	    tb_create(&rig->tb, &fuzz_scenario, &rig->machine, NULL, rig->config)) {
		fprintf(stderr, "fuzz: %s\n", err);
		abort();
	}
	return rig;
}

static void abandon_all(struct fuzz_rig *rig, void *arg)
{
	tb_give_up(&rig->tb);
}

static void rig_destroy(struct fuzz_rig *rig)
{
	struct trace *trace = rig->machine.trace;

	machine_destroy(&rig->machine);
	tb_destroy(&rig->tb);
	trace_close(trace);
	free(rig->config);
	free(rig);
}

struct call {
	struct fuzz_rig *rig;
	void (*fn)(struct fuzz_rig *rig, void *arg);
	void *arg;
	bool done;
};

static void call_thread(void *arg)
{
	struct call *call = arg;

	call->rig->tb.thread = kernel_thread_self(call->rig->machine.kernel);
	call->fn(call->rig, call->arg);
	call->done = true;
	kernel_stop(call->rig->machine.kernel);
}

bool fuzz_rig_call(struct fuzz_rig *rig, void (*fn)(struct fuzz_rig *rig, void *arg), void *arg,
		   uint64_t limit_ps)
{
	static struct call call; /* static, because a thread that did not end still refers to it */

	call = (struct call){.rig = rig, .fn = fn, .arg = arg};
	kernel_thread_start(rig->machine.kernel, "fuzz", call_thread, &call);
	kernel_run(rig->machine.kernel, rig->machine.core.now_ps + limit_ps);
	if (!call.done) {
		rig->given_up = true;
		fuzz_rig_spoil();
	}
	return call.done;
}

void fuzz_rig_pass(struct fuzz_rig *rig, uint64_t ps)
{
	kernel_run(rig->machine.kernel, rig->machine.core.now_ps + ps);
}

static void post_receives(struct tb_end *end, struct drv_qp *qp, unsigned n)
{
	const struct drv_sge sge = {
		.addr = tb_va(end, end->dst), .length = 4096, .lkey = drv_mr_lkey(end->mr)};
	const struct drv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};

	while (n--)
		drv_post_recv(qp, &wr, NULL);
}

static void make_ud(struct fuzz_rig *rig, struct tb_end *end)
{
	const struct drv_qp_init init = {
		.type = IBV_QPT_UD,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {.max_send_wr = QUEUE,
			.max_recv_wr = QUEUE,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	if (drv_qp_create(end->pd, &init, &rig->ud[end->index]) ||
	    drv_ud_qp_start(rig->ud[end->index], PORT, 0, UD_QKEY, 0))
		abort();
	post_receives(end, rig->ud[end->index], QUEUE / 2);
}

static void make_srq(struct fuzz_rig *rig)
{
	struct tb_end *a = &rig->tb.ends[0], *b = &rig->tb.ends[1];
	const struct drv_srq_init srq = {.max_wr = QUEUE, .max_sge = 1};
	struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.cap = {.max_send_wr = QUEUE,
			.max_recv_wr = QUEUE,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct drv_rc_path path;

	if (drv_srq_create(a->pd, &srq, &rig->srq) || drv_qp_create(b->pd, &init, &rig->peer_qp))
		abort();
	init.send_cq = init.recv_cq = a->cq;
	init.srq = rig->srq;
	init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	if (drv_qp_create(a->pd, &init, &rig->srq_qp))
		abort();
	path = path_to(b, drv_qp_num(rig->peer_qp));
	if (drv_qp_connect(rig->srq_qp, &path))
		abort();
	path = path_to(a, drv_qp_num(rig->srq_qp));
	if (drv_qp_connect(rig->peer_qp, &path))
		abort();
	for (unsigned i = 0; i < SRQ_RECEIVES; i++) {
		const struct drv_sge sge = {tb_va(a, a->dst), 4096, drv_mr_lkey(a->mr)};
		const struct drv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		drv_post_srq_recv(rig->srq, &wr, NULL);
	}
}

static void make_uc(struct fuzz_rig *rig)
{
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &rig->tb.ends[i];
		const struct drv_qp_init init = {
			.type = IBV_QPT_UC,
			.send_cq = end->cq,
			.recv_cq = end->cq,
			.cap = {QUEUE, QUEUE, 1, 1, 0},
		};

		if (drv_qp_create(end->pd, &init, &rig->uc[i]))
			abort();
	}
	for (unsigned i = 0; i < TB_ENDS; i++) {
		const struct drv_rc_path path = path_to(&rig->tb.ends[!i], drv_qp_num(rig->uc[!i]));

		if (drv_qp_connect(rig->uc[i], &path))
			abort();
		post_receives(&rig->tb.ends[i], rig->uc[i], QUEUE / 2);
	}
}

static void make_regions(struct fuzz_rig *rig, struct tb_end *end)
{
	struct drv_mr **fast = &rig->fast[end->index];

	if (drv_mr_alloc_fast(end->pd, AREA / PLATFORM_PAGE_SIZE, fast) ||
	    drv_mr_fast_set(*fast, end->dst, AREA) ||
	    drv_mw_alloc(end->pd, IBV_MW_TYPE_2, &rig->mw[end->index]))
		abort();
}

static void bring_all_up(struct fuzz_rig *rig, void *arg)
{
	struct tb *tb = &rig->tb;

	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_bring_up(tb, "fuzz", &tb->ends[i]);
	tb_activate_ports(tb, "fuzz");
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_make_objects(tb, "fuzz", &tb->ends[i]);
	tb_connect(tb, "fuzz");
	if (tb->failed)
		abort();
	for (unsigned i = 0; i < TB_ENDS; i++) {
		tb->events[i].ignore = true;
		make_ud(rig, &tb->ends[i]);
		for (unsigned q = 0; q < FUZZ_QPS; q++)
			post_receives(&tb->ends[i], tb->ends[i].qp[q], QUEUE / 2);
		make_regions(rig, &tb->ends[i]);
	}
	make_srq(rig);
	make_uc(rig);
}

static bool all_in_rts(struct fuzz_rig *rig)
{
	struct qpc qpc;

	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &rig->tb.ends[i];

		for (unsigned q = 0; q < FUZZ_QPS; q++)
			if (hca_context_read(host_hca(end->host), HCA_QP, drv_qp_num(end->qp[q]),
					     &qpc, sizeof(qpc)) <= 0 ||
			    qpc_get_state(&qpc) != QP_STATE_RTS)
				return false;
	}
	return true;
}

void fuzz_rig_reconnect(struct fuzz_rig *rig)
{
	struct tb *tb = &rig->tb;

	if (rig->given_up)
		return;
	/* completions that are not polled keep occupying the queues */
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct drv_wc wc[8];

		while (drv_cq_poll(tb->ends[i].cq, 8, wc) > 0)
			;
	}
	if (rig->inputs % 16 && all_in_rts(rig))
		return;
	for (unsigned q = 0; q < FUZZ_QPS; q++)
		tb_reconnect(tb, "fuzz", q);
	if (tb->failed)
		fuzz_rig_spoil();
	for (unsigned i = 0; i < TB_ENDS; i++)
		for (unsigned q = 0; q < FUZZ_QPS && !tb->failed; q++)
			post_receives(&tb->ends[i], tb->ends[i].qp[q], QUEUE / 2);
}

static void rig_drop(void)
{
	if (!rig_now)
		return;
	fuzz_rig_call(rig_now, abandon_all, NULL, CFG_S(1));
	rig_destroy(rig_now);
	rig_now = NULL;
	rig_spoilt = false;
}

struct fuzz_rig *fuzz_rig_get(void)
{
	if (rig_now &&
	    (rig_spoilt || rig_now->machine.catastrophes || rig_now->inputs++ == INPUTS_PER_RIG))
		rig_drop();
	if (rig_now)
		return rig_now;
	rig_now = rig_create();
	rig_now->inputs = 1;
	rig_spoilt = false;
	if (!fuzz_rig_call(rig_now, bring_all_up, NULL, CFG_S(BRING_UP_LIMIT_S)))
		abort();
	trace_to_nowhere(rig_now->machine.trace);
	return rig_now;
}

void fuzz_rig_spoil(void)
{
	rig_spoilt = true;
}
