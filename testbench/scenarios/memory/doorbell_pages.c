/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbell records fill the driver's page of them. A queue of each kind that then finds no memory,
 * whatever it asks for, is refused, leaves nothing, and can be made afterwards: its record is the first
 * of another page. Records that are given back, wherever they are in the page, are used again, and no
 * two queues ever have the same: each queue works.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/harm.h"

enum { SLOTS = 512, RECEIVES = 3, UARS_MAX = 1 << 14 };

static int cq_make(struct tb_end *end, void **made)
{
	return drv_cq_create(end->dev, 1, 0, (struct drv_cq **)made);
}

static int cq_end(void *made)
{
	return drv_cq_destroy(made);
}

static int srq_make(struct tb_end *end, void **made)
{
	const struct drv_srq_init init = {.max_wr = RECEIVES, .max_sge = 1};

	return drv_srq_create(end->pd, &init, (struct drv_srq **)made);
}

static int srq_end(void *made)
{
	return drv_srq_destroy(made);
}

static int qp_make(struct tb_end *end, void **made)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = end->cq,
					 .recv_cq = end->cq,
					 .cap = {.max_send_wr = 1,
						 .max_recv_wr = RECEIVES,
						 .max_send_sge = 1,
						 .max_recv_sge = 1}};

	return drv_qp_create(end->pd, &init, (struct drv_qp **)made);
}

static int qp_end(void *made)
{
	return drv_qp_destroy(made);
}

static const struct kind {
	const char *name;
	int (*make)(struct tb_end *end, void **made);
	int (*end)(void *made);
} kinds[] = {
	{"a CQ", cq_make, cq_end},
	{"an SRQ", srq_make, srq_end},
	{"a queue pair", qp_make, qp_end},
};

/* The nth allocation fails, for each n that the call has. */
static void lacks_memory(struct tb *tb, struct tb_end *a, const struct kind *kind)
{
	const unsigned used = host_pages_used(a->host), records = a->dev->db_records;
	void *made = NULL;

	for (unsigned nth = 1; still_right(); nth++) {
		const int rc = (lack_memory(nth), kind->make(a, &made));

		if (!lack_memory(0)) {
			must(rc);
			break;
		}
		must_fail(-ENOMEM, rc);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(a->dev->db_records, records);
	}
	if (!still_right())
		return;
	expect_equal(a->dev->db_records, records + 1);
	must(kind->end(made));
	expect_equal(host_pages_used(a->host), used);
	expect_equal(a->dev->db_records, records);
}

/* Messages through a queue pair whose record, and that of its CQ, have been used before. */
static void work(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_cq *cq = new_cq(a, RECEIVES, 0);
	struct drv_qp *x = new_qp(a, .recv_cq = cq), *y = new_qp(b);

	connect_two(x, y);
	recv_on(a, x, .len = 8, .repeat = RECEIVES);
	for (unsigned i = 0; i < RECEIVES && still_right(); i++) {
		must(drv_cq_arm(cq, false));
		send_on(b, y, .len = 8);
		must(drv_cq_wait_event(cq, tb_now(tb) + CFG_MS(1)));
		expect_cqe(b);
		expect_cqe(a, .cq = cq);
		expect_data(a, .dst = 8 * i, .len = 8);
	}
	destroy_qp(x);
	destroy_qp(y);
	destroy_cq(cq);
}

SCENARIO(doorbell_pages,
	 "doorbell records fill a page, memory lacks for another, records go and come",
	 .any_packets = true, .of_mlx4 = "doorbell records")
{
	static const unsigned gaps[] = {0, 31, 32, 40, 63, 64, 100, 127, 128, 200, 255, 256, 300};
	const unsigned before = a->dev->db_records, used = host_pages_used(a->host);
	struct drv_cq *cqs[SLOTS + 1] = {0};
	unsigned n = 0;

	for (; a->dev->db_records < SLOTS && still_right(); n++)
		must(drv_cq_create(a->dev, 1, 0, &cqs[n]));
	for_each_row(i, kinds) {
		name_row("%s", kinds[i].name);
		lacks_memory(tb, a, &kinds[i]);
	}
	must(drv_cq_create(a->dev, 1, 0, &cqs[n])); /* in a page of its own */
	if (!still_right())
		return;
	for_each_row(i, gaps) {
		name_row("the records before and behind the one at %u are in use", gaps[i]);
		must(drv_cq_destroy(cqs[gaps[i]]));
		must(drv_cq_create(a->dev, 1, 0, &cqs[gaps[i]]));
	}
	for_each_row(i, gaps)
		must(drv_cq_destroy(cqs[gaps[i]]));
	work(tb, a, b);
	for_each_row(i, gaps)
		must(drv_cq_create(a->dev, 1, 0, &cqs[gaps[i]]));
	for (unsigned i = 0; i <= n && still_right(); i++)
		must(drv_cq_destroy(cqs[i]));
	expect_equal(a->dev->db_records, before);
	expect_equal(host_pages_used(a->host), used);
}

/* Each process has a page of doorbells. When there is none left, the next one is refused and leaves no
 * memory; a page that is given back is had again, and its doorbells ring. */
SCENARIO(uars_exhausted,
	 "no page of doorbells is left: one more is refused until one is given back",
	 .any_packets = true, .of_mlx4 = "pages of doorbells")
{
	static struct drv_uar *uars[UARS_MAX], *more;
	unsigned n = 0;
	int rc = 0;

	while (n < UARS_MAX && !(rc = drv_uar_alloc(a->dev, &uars[n])))
		n++;
	expect_equal(rc, -ENOMEM);
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		struct drv_uar *again = uars[i ? n - 1 : 0];
		const uint32_t page = again->page;
		struct drv_cq *cq;

		must_fail(-ENOMEM, drv_uar_alloc(a->dev, &more));
		must(drv_uar_free(again));
		must(drv_uar_alloc(a->dev, &again));
		expect_equal(again->page, page);
		uars[i ? n - 1 : 0] = again;
		must(drv_cq_create_on(a->dev, again, 3, 0, &cq));
		must(drv_cq_arm(cq, false));
		must_fail(-EBUSY, drv_uar_free(again));
		must(drv_cq_destroy(cq));
	}
	for (unsigned i = 0; i < n && still_right(); i++)
		must(drv_uar_free(uars[i]));
}
