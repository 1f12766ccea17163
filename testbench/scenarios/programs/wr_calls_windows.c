/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window that is bound by a call of ibv_wr_bind_mw, with a key of the program's choice, opens exactly its
 * bytes. It is taken away by a call of its own queue pair, bound anew, and taken away by a message that
 * the peer posts by a call. Each call sets fields of a request that no other call sets.
 */
/* behaviours: POST-calls IBA-9.4.1-remote-invalidate IBA-10.6.7-type2 */
#include "testbench/scenarios/programs/by_calls.h"
#include "testbench/scenarios/programs/refuses.h"

#include <stdlib.h>

enum { KEY_TAG = 0x5c, WINDOW_AT = HALF + 5000, WINDOW_LEN = 16 };

/* The peer binds a window by a call, too. Its key is the window's with another last byte. */
static int bind_window(struct by_calls *x, struct ibv_mw *mw, uint64_t wr_id, uint8_t tag)
{
	struct ibv_qp_ex *peer = ibv_qp_to_qp_ex(x->qp[1]);
	const struct ibv_mw_bind_info info = {.mr = x->mr,
					      .addr = at(x, WINDOW_AT),
					      .length = WINDOW_LEN,
					      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	const uint32_t rkey = (mw->rkey & ~0xffu) | tag;

	ibv_wr_start(peer);
	peer->wr_id = wr_id;
	peer->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(peer, mw, rkey, &info);
	if (ibv_wr_complete(peer) || IS(x, 1, .wr_id = wr_id, .opcode = IBV_WC_BIND_MW))
		return __LINE__;
	mw->rkey = rkey;
	return 0;
}

/* Writes the first `len` bytes of the memory to the window. */
static int write_window(struct by_calls *x, const struct ibv_mw *mw, uint64_t wr_id, uint32_t len)
{
	ibv_wr_start(x->calls);
	x->calls->wr_id = wr_id;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(x->calls, mw->rkey, at(x, WINDOW_AT));
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 0), len);
	return ibv_wr_complete(x->calls);
}

/* ibv_bind_mw, which is for windows of type 1: what it refuses, and that the right call then binds. */
static int bind_the_other_way(struct by_calls *x)
{
	struct ibv_pd *foreign = ibv_alloc_pd(x->context);
	struct ibv_mr *mr =
		ibv_reg_mr(foreign, x->buf, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(x->pd, IBV_MW_TYPE_1),
		      *two = ibv_alloc_mw(x->pd, IBV_MW_TYPE_2),
		      *theirs = ibv_alloc_mw(foreign, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 35,
				   .send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.addr = at(x, WINDOW_AT), .length = WINDOW_LEN}};
	struct ibv_qp *idle;
	uint32_t key;

	if (!mr || !mw || !two || !theirs)
		return __LINE__;
	key = mw->rkey;
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), EINVAL); /* bytes of no region */
	bind.bind_info.length = 0;
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), EINVAL);
	bind.bind_info = (struct ibv_mw_bind_info){.length = WINDOW_LEN};
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), EINVAL);
	bind.bind_info.addr = at(x, WINDOW_AT);
	bind.bind_info.mr = mr;
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), EPERM);
	GIVES(ibv_bind_mw(x->qp[1], theirs, &bind), EPERM); /* of the queue pair alone */
	GIVES(ibv_dealloc_mw(theirs), 0);
	bind.bind_info.mr = x->mr;
	GIVES(ibv_bind_mw(x->qp[1], two, &bind), EINVAL);
	bind.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), EINVAL);
	bind.bind_info.mw_access_flags = 0;
	idle = open_qp(x, 0); /* in RESET it posts nothing */
	GIVES(ibv_bind_mw(idle, mw, &bind), EINVAL);
	GIVES(ibv_destroy_qp(idle), 0);
	if (mw->rkey != key || nothing_else(x))
		return __LINE__;
	GIVES(ibv_bind_mw(x->qp[1], mw, &bind), 0);
	if (mw->rkey == key || IS(x, 1, .wr_id = 35, .opcode = IBV_WC_BIND_MW))
		return __LINE__;
	return ibv_dealloc_mw(mw) || ibv_dealloc_mw(two) || ibv_dereg_mr(mr) ||
			       ibv_dealloc_pd(foreign)
		       ? __LINE__
		       : 0;
}

static int invalidate_here(struct by_calls *x, const struct ibv_mw *mw)
{
	struct ibv_qp_ex *peer = ibv_qp_to_qp_ex(x->qp[1]);

	ibv_wr_start(peer);
	peer->wr_id = 32;
	ibv_wr_local_inv(peer, mw->rkey);
	return ibv_wr_complete(peer) || IS(x, 1, .wr_id = 32, .opcode = IBV_WC_LOCAL_INV) ? __LINE__
											  : 0;
}

static int invalidate_there(struct by_calls *x, const struct ibv_mw *mw)
{
	if (receive(x, 25, HALF, 64))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 11;
	ibv_wr_send_inv(x->calls, mw->rkey);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 300), 20);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 11, .opcode = IBV_WC_SEND) ||
	    IS(x, 1, .wr_id = 25, .opcode = IBV_WC_RECV, .byte_len = 20,
	       .wc_flags = IBV_WC_WITH_INV, .invalidated_rkey = mw->rkey))
		return __LINE__;
	memcpy(x->image + HALF, x->image + 300, 20);
	return nothing_else(x) ? __LINE__ : 0;
}

static int windows(struct by_calls *x)
{
	struct ibv_mw *mw = ibv_alloc_mw(x->pd, IBV_MW_TYPE_2);

	if (!mw || bind_window(x, mw, 31, KEY_TAG) || write_window(x, mw, 10, WINDOW_LEN))
		return __LINE__;
	memcpy(x->image + WINDOW_AT, x->image, WINDOW_LEN);
	if (IS(x, 0, .wr_id = 10, .opcode = IBV_WC_RDMA_WRITE) || nothing_else(x))
		return __LINE__;
	if (ibv_dereg_mr(x->mr) != EBUSY || invalidate_here(x, mw))
		return __LINE__;
	/* a window that is still bound could not be bound again */
	if (bind_window(x, mw, 33, KEY_TAG + 1) || invalidate_there(x, mw))
		return __LINE__;
	if (bind_window(x, mw, 34, KEY_TAG + 2) || write_window(x, mw, 12, WINDOW_LEN + 1) ||
	    IS(x, 0, .wr_id = 12, .status = IBV_WC_REM_ACCESS_ERR) || nothing_else(x))
		return __LINE__;
	return ibv_dealloc_mw(mw) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = IBV_QPT_RC,
			       .ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_INV,
			       .peer_ops = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV};
	rc = open_by_calls(x);
	if (!rc)
		rc = bind_the_other_way(x);
	if (!rc)
		rc = windows(x);
	if (!rc)
		rc = close_by_calls(x);
	free(x);
	return rc;
}

SCENARIO(wr_calls_windows, "a window is bound and taken away by calls", .no_qps = true,
	 .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
