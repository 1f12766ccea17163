/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device refuses the memory for its tables (MAP_ICM) when an object is the first one in a chunk
 * of ICM, and refuses objects after their memory was mapped. The driver takes everything back: as
 * many pages are used and mapped as before, and the same call succeeds the next time.
 */
/* behaviours: FAULT-map-icm */
#include "model/interface/commands.h"
#include "testbench/harm.h"

enum { TRIES = 5000, REGION = 160 << 20 };

struct pages {
	size_t used, mapped;
};

static struct pages pages_now(const struct tb_end *end)
{
	return (struct pages){host_pages_used(end->host), host_pages_mapped(end->host)};
}

static void same_pages(struct tb *tb, const struct tb_end *end, struct pages before)
{
	const struct pages now = pages_now(end);

	expect_equal(now.used, before.used);
	expect_equal(now.mapped, before.mapped);
}

/* Queue pairs take numbers until one is the first in its chunk. */
static void queue_pairs(struct tb *tb, struct tb_end *a)
{
	const struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.send_cq = a->cq,
		.recv_cq = a->cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct drv_qp *qp = NULL;
	struct pages before = pages_now(a);
	int rc = 0;

	fail_command(a, HCR_MAP_ICM, HCR_STATUS_EXCEED_LIM, 1);
	for (unsigned i = 0; i < TRIES && !rc; i++) {
		before = pages_now(a);
		rc = drv_qp_create(a->pd, &init, &qp);
		if (!rc)
			must(drv_qp_destroy(qp));
	}
	expect_equal(rc, -ENOMEM);
	same_pages(tb, a, before);
	must(drv_qp_create(a->pd, &init, &qp));
	must(drv_qp_destroy(qp));
	same_pages(tb, a, before);
}

/* A region whose translations fill chunks of their own. */
static void region(struct tb *tb, struct tb_end *a)
{
	uint64_t bus;
	void *memory = a->platform->ops->pages_alloc(a->platform, REGION, &bus);
	const struct pages before = pages_now(a);
	struct drv_mr *mr;

	expect_true(memory);
	fail_command(a, HCR_MAP_ICM, HCR_STATUS_BAD_SIZE, 1);
	must_fail(-ENOMEM, drv_mr_reg_iova(a->pd, memory, REGION, bus, 0, &mr));
	same_pages(tb, a, before);
	fail_command(a, HCR_SW2HW_MPT, HCR_STATUS_EXCEED_LIM, 1);
	must_fail(-ENOMEM, drv_mr_reg_iova(a->pd, memory, REGION, bus, 0, &mr));
	same_pages(tb, a, before);
	must(drv_mr_reg_iova(a->pd, memory, REGION, bus, 0, &mr));
	must(drv_mr_dereg(mr));
	same_pages(tb, a, before);
	if (memory)
		a->platform->ops->pages_free(a->platform, memory, REGION);
}

/* Refused after its buffer, record and number were taken, again and again: they come back. */
static void others(struct tb *tb, struct tb_end *a)
{
	struct drv_srq_init init = {.max_wr = 100, .max_sge = 1};
	const struct pages before = pages_now(a);
	struct drv_cq *cq;
	struct drv_srq *srq;
	struct drv_mw *mw;

	for (unsigned i = 0; i < 4 && still_right(); i++) {
		fail_command(a, HCR_SW2HW_CQ, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_cq_create(a->dev, 1000, 0, &cq));
		fail_command(a, HCR_SW2HW_SRQ, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_srq_create(a->pd, &init, &srq));
		fail_command(a, HCR_SW2HW_MPT, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_mw_alloc(a->pd, IBV_MW_TYPE_2, &mw));
		fail_command(a, HCR_MODIFY_CQ, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_cq_resize(a->cq, 1000));
		same_pages(tb, a, before);
	}
}

/* The second group of a hash bucket is refused, again and again: its place in the table comes back. */
static void groups(struct tb *tb, struct tb_end *a)
{
	const uint8_t first[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b};
	const uint8_t second[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [13] = 1, [15] = 1};
	struct drv_qp *qp = new_qp(a, .type = IBV_QPT_UD);

	start_ud(qp, 1, 1);
	must(drv_mcast_attach(qp, first, false));
	for (unsigned i = 0; i < 4 && still_right(); i++) {
		fail_command(a, HCR_WRITE_MCG, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_mcast_attach(qp, second, false));
	}
	must(drv_mcast_attach(qp, second, false));
	must(drv_mcast_detach(qp, second));
	must(drv_mcast_detach(qp, first));
	destroy_qp(qp);
}

SCENARIO(harm_map_icm, "memory for tables, and objects after it, refused: all is taken back")
{
	queue_pairs(tb, a);
	region(tb, a);
	others(tb, a);
	groups(tb, a);
}
