/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for a free number comes to the end of its table and goes on at the begin. The same places
 * then have other numbers: each number is larger than that before it, so nobody gets the one of an object
 * that was just destroyed. The uppermost byte of the number of a region or window is the lowest one of its
 * key.
 */
/* behaviours: MEM-3 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

enum { BEFORE = 3, OBJECTS = 8 };

static struct {
	const struct drv_bitmap *numbers;
	uint32_t before;
} was;

/* The numbers go round, too, when they have no further bits. */
static void follows(struct tb *tb, uint32_t number)
{
	const uint32_t mask = was.numbers->mask;

	expect_that(number, <=, mask);
	expect_that((number - was.before - 1) & mask, <, mask / 2);
	was.before = number;
}

static void region(struct tb *tb, struct tb_end *end)
{
	struct drv_mr *mr;
	uint32_t index;

	must(drv_mr_alloc_fast(end->pd, 1, &mr));
	if (!still_right())
		return;
	index = mr->index;
	follows(tb, index);
	expect_equal(drv_mr_rkey(mr), index << 8 | index >> 24);
	expect_equal(drv_mr_lkey(mr), index << 8 | index >> 24);
	must(drv_mr_dereg(mr));
}

static void window(struct tb *tb, struct tb_end *end)
{
	struct drv_mw *mw;
	uint32_t index;

	must(drv_mw_alloc(end->pd, IBV_MW_TYPE_2, &mw));
	if (!still_right())
		return;
	index = mw->index;
	follows(tb, index);
	expect_equal(drv_mw_rkey(mw), index << 8 | index >> 24);
	must(drv_mw_free(mw));
}

static void queue_pair(struct tb *tb, struct tb_end *end)
{
	struct drv_qp *qp = new_qp(end);
	uint32_t qpn;

	if (!still_right())
		return;
	qpn = drv_qp_num(qp);
	follows(tb, qpn);
	expect_true(mlx4_qp_find(end->dev, qpn) == qp);
	destroy_qp(qp);
}

static void domain(struct tb *tb, struct tb_end *end)
{
	struct drv_pd *pd;

	must(drv_pd_alloc(end->dev, &pd));
	if (!still_right())
		return;
	follows(tb, pd->pdn);
	must(drv_pd_free(pd));
}

/* `rounds` of a table have passed. Behind this one, the uppermost byte of a key's number is another. */
static const struct {
	const char *name;
	void (*make)(struct tb *tb, struct tb_end *end);
	size_t numbers; /* in struct drv_device */
	unsigned rounds, reserved;
} rows[] = {
	{"domains", domain, offsetof(struct drv_device, pds), 1, 0},
	{"domains, all rounds", domain, offsetof(struct drv_device, pds), UINT32_MAX, 0},
	{"regions", region, offsetof(struct drv_device, mpts), 0x5a * 32 - 1, 0},
	{"windows", window, offsetof(struct drv_device, mpts), 0x2d * 32 - 1, 0},
	{"queue pairs", queue_pair, offsetof(struct drv_device, qps), 3, DRV_TOP_QPS},
	{"queue pairs, all rounds", queue_pair, offsetof(struct drv_device, qps), UINT32_MAX,
	 DRV_TOP_QPS},
};

SCENARIO(numbers_go_round, "the first numbers of a table are used again, with other high bits",
	 .of_mlx4 = "tables of numbers")
{
	for_each_row(i, rows) {
		struct drv_bitmap *numbers =
			(struct drv_bitmap *)((uint8_t *)a->dev + rows[i].numbers);

		name_row("%s", rows[i].name);
		numbers->top = rows[i].rounds * numbers->size & numbers->mask;
		numbers->last = numbers->size - rows[i].reserved - BEFORE;
		was.numbers = numbers;
		was.before = numbers->top | (numbers->last - 1);
		for (unsigned n = 0; n < OBJECTS && still_right(); n++)
			rows[i].make(tb, a);
	}
}
