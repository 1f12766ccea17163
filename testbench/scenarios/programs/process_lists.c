/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process posts lists of any length with one call, also longer than the library has room for at hand: each
 * request completes once, in order, and one call takes all completions. Of a list with a wrong request in any
 * place those before it are posted, and the wrong one is named.
 */
#include "testbench/scenarios/completion/to_itself.h"
#include "testbench/scenarios/programs/refuses.h"

enum { LONGEST = 35, ROOM = 64, NO_ENTRIES = -1, PAUSE_US = 200 };

static const unsigned lengths[] = {1, 7, 8, 9, 10, 16, 17, 33, LONGEST};

/* All completions are there, and one call takes them. */
static int take(struct ibv_cq *cq, unsigned n)
{
	struct ibv_wc wc[ROOM];

	memset(wc, 0x77, sizeof(wc));
	process_sleep_us(PAUSE_US);
	GIVES(ibv_poll_cq(cq, ROOM, wc), (int)n);
	for (unsigned i = 0; i < n; i++)
		if (wc[i].wr_id != i + 1 || wc[i].status || wc[i].opcode != IBV_WC_RDMA_WRITE)
			return __LINE__;
	GIVES(ibv_poll_cq(cq, ROOM, wc), 0);
	return 0;
}

/* The request of that place is wrong; n: none is. */
static int post(struct all *x, unsigned n, unsigned wrong)
{
	struct ibv_send_wr wr[LONGEST], *bad = NULL;

	for (unsigned i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i + 1,
					     .next = i + 1 < n ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .num_sge = i == wrong ? NO_ENTRIES : 0,
					     .send_flags = IBV_SEND_SIGNALED};
	GIVES(ibv_post_send(x->qp, wr, &bad), wrong < n ? EINVAL : 0);
	if (wrong < n && bad != &wr[wrong])
		return __LINE__;
	return take(x->cq, wrong < n ? wrong : n);
}

/* The queue is full before the wrong request is reached: the first one that has no room is named. */
static int post_full(struct all *x)
{
	struct ibv_send_wr wr[ROOM + 2], *bad = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	unsigned room;

	GIVES(ibv_query_qp(x->qp, &attr, IBV_QP_CAP, &init), 0);
	room = attr.cap.max_send_wr;
	if (room > ROOM)
		return __LINE__;
	for (unsigned i = 0; i < room + 2; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i + 1,
					     .next = i < room + 1 ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .num_sge = i == room + 1 ? NO_ENTRIES : 0,
					     .send_flags = IBV_SEND_SIGNALED};
	GIVES(ibv_post_send(x->qp, wr, &bad), ENOMEM);
	if (bad != &wr[room])
		return __LINE__;
	return take(x->cq, room);
}

/* It was connected by a LID. */
static int path_without_grh(struct all *x)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0x77, sizeof(attr));
	GIVES(ibv_query_qp(x->qp, &attr, IBV_QP_AV, &init), 0);
	return attr.ah_attr.is_global || attr.alt_ah_attr.is_global || !attr.ah_attr.dlid ? __LINE__
											  : 0;
}

static int program(void *arg)
{
	struct all x = {0};

	if (open_all(&x) || ibv_resize_cq(x.cq, ROOM) || connect_self(&x))
		return __LINE__;
	GIVES(path_without_grh(&x), 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const unsigned n = lengths[i];
		int rc = post(&x, n, n);

		if (!rc)
			rc = post(&x, n, n - 1);
		if (!rc)
			rc = post(&x, n, n / 2);
		if (rc)
			return 100 * (int)n + rc;
	}
	GIVES(post_full(&x), 0);
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_lists, "lists of requests of any length, and a wrong one in any place",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
