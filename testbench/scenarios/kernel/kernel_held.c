/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread of host a stands still for a while behind each register write, as if it were preempted
 * there. Meanwhile what the write asked for is done, and answers, completions and interrupts come: the
 * thread has to have noted before the write whom they are for. Management datagrams, connections in
 * both directions, commands and completions of several threads.
 */
/* behaviours: IBA-12.9-active IBA-12.9-passive CMD-concurrent */
#include "model/interface/macros.h"
#include "testbench/connect.h"
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

enum { SERVICE = 0x77, ASKED = 4, ROUND_TRIPS = 3, MESSAGES = 12, LEN = 64, WORKERS = 4 };

/* --- connections --- */

static void one_connection(struct tb *tb, struct tb_end *active, struct tb_end *passive)
{
	struct conn *listener = conn_listen(passive, SERVICE), *client = conn_new(active), *server;

	server = conn_establish(client, listener, .service = SERVICE);
	for (unsigned i = 0; i < ROUND_TRIPS && still_right(); i++) {
		conn_recv(server);
		conn_send(client);
		conn_recv(client);
		conn_send(server);
	}
	if (!still_right())
		return;
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}

/* --- completions --- */

struct request {
	struct ib_cqe cqe;
	unsigned done;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct request, cqe)->done += wc->status == IB_WC_SUCCESS;
}

/* Each message goes when the one before has come, so nothing else wakes the CQ. */
static void messages(struct tb *tb, struct tb_end *from, struct tb_end *to,
		     enum ib_poll_context ctx)
{
	struct request sent = {.cqe = {request_done}}, came = {.cqe = {request_done}};
	struct kv x, y;

	if (!kv_open(from, &x, .alloc_cq = true, .poll_ctx = ctx) ||
	    !kv_open(to, &y, .alloc_cq = true, .poll_ctx = ctx) || !kv_connect(&x, &y))
		return;
	for (unsigned i = 0; i < MESSAGES && still_right(); i++) {
		struct ib_sge source = kv_sge(&x, 0, LEN), target = kv_sge(&y, 0, LEN);
		const struct ib_recv_wr recv = {
			.wr_cqe = &came.cqe, .sg_list = &target, .num_sge = 1};
		const struct ib_send_wr send = {.wr_cqe = &sent.cqe,
						.sg_list = &source,
						.num_sge = 1,
						.opcode = IB_WR_SEND,
						.send_flags = IB_SEND_SIGNALED};

		must(ib_post_recv(y.qp, &recv, NULL));
		must(ib_post_send(x.qp, &send, NULL));
		kv_until(&came.done, i + 1);
		kv_until(&sent.done, i + 1);
	}
	ib_drain_qp(x.qp);
	ib_drain_qp(y.qp);
	kv_close(&y);
	kv_close(&x);
}

/* --- commands --- */

struct worker {
	struct ib_device *device;
	unsigned *done;
	int rc;
};

static void worker(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < MESSAGES && !w->rc; i++) {
		struct ib_pd *pd = ib_alloc_pd(w->device, 0);

		w->rc = IS_ERR(pd) ? (int)PTR_ERR(pd) : 0;
		if (!w->rc) {
			struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);

			w->rc = IS_ERR(mr) ? (int)PTR_ERR(mr) : ib_dereg_mr(mr);
			ib_dealloc_pd(pd);
		}
	}
	++*w->done;
}

static void commands(struct tb *tb, struct tb_end *end)
{
	struct worker workers[WORKERS];
	unsigned done = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){.device = ib_device_of(end), .done = &done};
		end->platform->ops->thread_start(end->platform, "worker", worker, &workers[i]);
	}
	kv_until(&done, WORKERS);
	for_each_row(i, workers)
		expect_equal(workers[i].rc, 0);
}

SCENARIO(kernel_held, "threads stand still behind each register write, while answers come",
	 .no_qps = true, .any_packets = true, .settings = {"host0.write_hold=50us"})
{
	struct smp answer;

	start_cm();
	phase("management");
	for (unsigned i = 0; i < ASKED && !a->ethernet; i++) {
		ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
		ask(b, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	}
	phase("connections");
	one_connection(tb, a, b);
	one_connection(tb, b, a);
	phase("completions");
	messages(tb, a, b, IB_POLL_SOFTIRQ);
	messages(tb, b, a, IB_POLL_SOFTIRQ);
	messages(tb, a, b, IB_POLL_WORKQUEUE);
	messages(tb, b, a, IB_POLL_WORKQUEUE);
	phase("commands");
	commands(tb, a);
}
