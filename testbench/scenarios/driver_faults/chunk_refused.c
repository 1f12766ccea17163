/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new object is the first one in a chunk of ICM, so the driver has to map the chunk: in each of the
 * tables that an object has an entry in. Memory lacks at each place of that, and the firmware refuses
 * each command, in turn. All is given back, and the chunk of the next attempt is mapped from the start.
 * Other scenarios stay in chunks that are mapped, where a table is never refused.
 */
/* behaviours: FAULT-no-memory FAULT-command-status */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/harm.h"

enum { PLACES_MAX = 100, PAGES = 40 };

struct wanted {
	const char *name;
	int (*make)(struct tb_end *end);
	void (*unmake)(void);
	enum drv_table table; /* with an entry of the object */
};

static union {
	struct drv_cq *cq;
	struct drv_srq *srq;
	struct drv_qp *qp;
	struct drv_mr *mr;
	struct drv_mw *mw;
} made;

static int make_cq(struct tb_end *end)
{
	return drv_cq_create(end->dev, 4, 0, &made.cq);
}

static void unmake_cq(void)
{
	drv_cq_destroy(made.cq);
}

static int make_srq(struct tb_end *end)
{
	const struct drv_srq_init init = {.max_wr = 4, .max_sge = 1};

	return drv_srq_create(end->pd, &init, &made.srq);
}

static void unmake_srq(void)
{
	drv_srq_destroy(made.srq);
}

static int make_qp(struct tb_end *end)
{
	const struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	return drv_qp_create(end->pd, &init, &made.qp);
}

static void unmake_qp(void)
{
	drv_qp_destroy(made.qp);
}

static int make_mr(struct tb_end *end)
{
	return drv_mr_alloc_fast(end->pd, PAGES, &made.mr);
}

/* Its translations fill two chunks, which nobody else has. */
static int make_large(struct tb_end *end)
{
	return drv_mr_alloc_fast(end->pd, 2 * DRV_CHUNK_BYTES / sizeof(struct mtt_entry), &made.mr);
}

static void unmake_mr(void)
{
	drv_mr_dereg(made.mr);
}

static int make_mw(struct tb_end *end)
{
	return drv_mw_alloc(end->pd, IBV_MW_TYPE_1, &made.mw);
}

static void unmake_mw(void)
{
	drv_mw_free(made.mw);
}

static const struct wanted rows[] = {
	{"CQ", make_cq, unmake_cq, DRV_T_CQC},
	{"SRQ", make_srq, unmake_srq, DRV_T_SRQC},
	{"QP", make_qp, unmake_qp, DRV_T_QPC},
	{"region", make_mr, unmake_mr, DRV_T_DMPT},
	{"window", make_mw, unmake_mw, DRV_T_DMPT},
	{"large region", make_large, unmake_mr, DRV_T_MTT},
};

static struct drv_bitmap *numbers_of(struct drv_device *dev, enum drv_table table)
{
	switch (table) {
	case DRV_T_CQC:
		return &dev->cqs;
	case DRV_T_SRQC:
		return &dev->srqs;
	case DRV_T_QPC:
		return &dev->qps;
	default:
		return &dev->mpts;
	}
}

/* The next number is the first one of the second chunk. */
static void next_chunk(struct drv_device *dev, enum drv_table table)
{
	numbers_of(dev, table)->last = DRV_CHUNK_BYTES / dev->tables[table].entry_bytes;
}

static void refused(struct tb *tb, struct tb_end *a, const struct wanted *w, bool memory)
{
	next_chunk(a->dev, w->table);
	for (unsigned nth = 1; still_right(); nth++) {
		const size_t pages = host_pages_used(a->host);
		bool came;
		int rc;

		name_row("%s, %s %u", w->name, memory ? "memory" : "command", nth);
		if (memory)
			lack_memory(nth);
		else
			refuse_command(a, nth, HCR_STATUS_EXCEED_LIM);
		rc = w->make(a);
		came = memory ? lack_memory(0) : refuse_command(a, 0, 0);
		/* a chunk may do with smaller pieces than it has asked for first */
		if (rc || !came || !memory)
			expect_equal(rc, came ? -ENOMEM : 0);
		if (!rc)
			w->unmake();
		expect_that(host_pages_used(a->host), <=, pages + 1);
		expect_that(nth, <, PLACES_MAX);
		if (!came)
			return;
	}
}

SCENARIO(chunk_refused, "the first object of a chunk of ICM is refused at each place in turn",
	 .of_mlx4 = "chunks of ICM", .any_packets = true)
{
	for_each_row(i, rows) {
		refused(tb, a, &rows[i], true);
		refused(tb, a, &rows[i], false);
	}
}
