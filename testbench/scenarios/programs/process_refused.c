/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware refuses a command of each verb of a process twice. The verb fails both times for the same
 * reason, so the first failure has left nothing behind, neither a lock nor an object nor memory of the process,
 * and the third call succeeds. What the verb has made is destroyed again.
 */
#include "host_driver/uverbs/lib.h"
#include "model/interface/commands.h"
#include "testbench/harm.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"

enum { LEN = 64, ENTRIES = 40, QKEY = 5 };

struct maker {
	struct program p;
	struct ibv_qp *ud;
};

static int failed(void)
{
	return errno ? errno : -1;
}

static int region(void *arg)
{
	struct maker *m = arg;
	struct ibv_mr *mr = ibv_reg_mr(m->p.pd, m->p.buf, LEN, IBV_ACCESS_LOCAL_WRITE);

	return mr ? ibv_dereg_mr(mr) : failed();
}

static int window(void *arg)
{
	struct maker *m = arg;
	struct ibv_mw *mw = ibv_alloc_mw(m->p.pd, IBV_MW_TYPE_2);

	return mw ? ibv_dealloc_mw(mw) : failed();
}

static int queue(void *arg)
{
	struct maker *m = arg;
	struct ibv_cq *cq = ibv_create_cq(m->p.context, 1, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : failed();
}

static int queue_size(void *arg)
{
	struct maker *m = arg;

	return ibv_resize_cq(m->p.cq, ENTRIES);
}

static int shared_queue(void *arg)
{
	struct maker *m = arg;
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(m->p.pd, &init);

	return srq ? ibv_destroy_srq(srq) : failed();
}

static int domain(void *arg)
{
	struct maker *m = arg;
	int rc;

	errno = 0;
	rc = program_open_xrcd(&m->p);
	return rc ? failed() : program_close_xrcd(&m->p);
}

static int queue_pair(void *arg)
{
	struct maker *m = arg;
	struct ibv_qp_init_attr init = {
		.send_cq = m->p.cq,
		.recv_cq = m->p.cq,
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	m->ud = ibv_create_qp(m->p.pd, &init);
	return m->ud ? 0 : failed();
}

static int to_init(void *arg)
{
	struct maker *m = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	return ibv_modify_qp(m->ud, &attr,
			     IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
}

static int to_receive(void *arg)
{
	struct maker *m = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	return ibv_modify_qp(m->ud, &attr, IBV_QP_STATE);
}

static int query(void *arg)
{
	struct maker *m = arg;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	return ibv_query_qp(m->ud, &attr, IBV_QP_STATE, &init);
}

static int group(void *arg)
{
	struct maker *m = arg;
	const union ibv_gid gid = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 9}};
	int rc = ibv_attach_mcast(m->ud, &gid, 0);

	return rc ? rc : ibv_detach_mcast(m->ud, &gid, 0);
}

static const union ibv_gid left = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 8}};

static int join(void *arg)
{
	struct maker *m = arg;

	return ibv_attach_mcast(m->ud, &left, 0);
}

/* A group that cannot be left holds the queue pair. */
static int leave(void *arg)
{
	struct maker *m = arg;
	int rc = ibv_detach_mcast(m->ud, &left, 0);

	return rc && ibv_destroy_qp(m->ud) != EBUSY ? -1 : rc;
}

static int close_all(void *arg)
{
	struct maker *m = arg;

	return ibv_destroy_qp(m->ud) || ibv_dereg_mr(m->p.mr) || ibv_destroy_cq(m->p.cq) ||
	       ibv_dealloc_pd(m->p.pd) || ibv_close_device(m->p.context);
}

static const struct {
	const char *name;
	int (*verb)(void *arg);
	uint32_t opcode;
} rows[] = {
	{"a region", region, HCR_SW2HW_MPT},
	{"a window", window, HCR_SW2HW_MPT},
	{"a CQ", queue, HCR_SW2HW_CQ},
	{"the size of a CQ", queue_size, HCR_MODIFY_CQ},
	{"an SRQ", shared_queue, HCR_SW2HW_SRQ},
	{"an XRC domain", domain, HCR_SW2HW_CQ},
	{"INIT", to_init, HCR_RST2INIT_QP},
	{"RTR", to_receive, HCR_INIT2RTR_QP},
	{"a query", query, HCR_QUERY_QP},
	{"a group, read", group, HCR_READ_MCG},
	{"a group, written", group, HCR_WRITE_MCG},
	{"a group, joined", join, HCR_WRITE_MCG},
	{"a group, left", leave, HCR_WRITE_MCG},
};

SCENARIO(process_refused, "the firmware refuses each verb twice, and the third time it succeeds",
	 .no_qps = true, .any_packets = true)
{
	struct maker m = {.p = {.file = "domain"}};
	struct process *worker = start_worker(b);
	const struct uv_process *process;
	unsigned pieces;

	run_in(worker, program_open, &m.p);
	run_in(worker, queue_pair, &m);
	if (!still_right())
		return;
	process = uv_process_of(m.p.context);
	pieces = heap_pieces(process);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		fail_command(b, rows[i].opcode, HCR_STATUS_EXCEED_LIM, 2);
		run_in_expect(worker, rows[i].verb, &m, ENOMEM);
		run_in_expect(worker, rows[i].verb, &m, ENOMEM);
		run_in(worker, rows[i].verb, &m);
		expect_equal(heap_pieces(process), pieces);
	}
	run_in(worker, close_all, &m);
	end_worker(worker);
}
