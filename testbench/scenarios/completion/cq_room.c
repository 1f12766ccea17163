/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ holds as many completions as it says, and it says at least what was asked for: when it is made, when it is
 * resized empty, and when it is resized with completions in it, from any place of its ring. They come out in their
 * order, each once, in one poll or in several. A CQ is not made without an entry, or with more than there may be.
 */
/* behaviours: IBA-11.2.8.1-cq-size IBA-11.2.8.3-cq-resize */
#include "testbench/services.h"

enum { ENTRIES_MAX = 40, QUEUE = 64, AT_ONCE = 5, VENDORS_MOST = 1 << 30 };

static const unsigned sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 31, 32, ENTRIES_MAX};

/* n requests of a queue pair in error: each has a completion at once. */
static void add(struct tb *tb, struct tb_end *a, struct drv_qp *z, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i++)
		send_on(a, z, .wr_id = first + i, .len = 0);
	pass_time(CFG_US(20));
}

static void take(struct tb *tb, struct drv_cq *cq, unsigned first, unsigned n)
{
	for (unsigned done = 0; done < n && still_right();) {
		const unsigned most = n - done < AT_ONCE ? n - done : AT_ONCE;
		struct drv_wc wc[AT_ONCE] = {0};
		const int got = drv_cq_poll(cq, (int)most, wc);

		expect_equal(got, most);
		for (int i = 0; i < got; i++, done++)
			expect_equal(wc[i].wr_id, first + done);
	}
}

static unsigned says(struct tb *tb, struct drv_cq *cq, unsigned asked)
{
	const unsigned entries = drv_cq_entries(cq);

	expect_that(entries, >=, asked);
	expect_that(entries, <, 2 * asked + 2);
	return entries < QUEUE ? entries : QUEUE - 1;
}

static void sized(struct tb *tb, struct tb_end *a, struct drv_cq *cq, struct drv_qp *z,
		  unsigned asked)
{
	const unsigned room = says(tb, cq, asked);

	for (unsigned round = 0; round < 2 && still_right(); round++) {
		add(tb, a, z, 100, room);
		take(tb, cq, 100, room);
		expect_empty(cq);
	}
	/* the next ones begin in the middle */
	add(tb, a, z, 0, room / 2 + 1);
	take(tb, cq, 0, room / 2 + 1);
}

/* Some are held while it is resized, at most as many as it will hold. */
static void resize(struct tb *tb, struct tb_end *a, struct drv_cq *cq, struct drv_qp *z,
		   unsigned from, unsigned to, unsigned held)
{
	unsigned room;

	must(drv_cq_resize(cq, from));
	add(tb, a, z, 0, held);
	must(drv_cq_resize(cq, to));
	room = says(tb, cq, to);
	add(tb, a, z, held, room - held);
	take(tb, cq, 0, room);
	sized(tb, a, cq, z, to);
}

static void resized(struct tb *tb, struct tb_end *a, struct drv_cq *cq, struct drv_qp *z,
		    unsigned from)
{
	for (unsigned part = 1; part <= 2; part++)
		for_each_row(i, sizes) {
			const unsigned least = from < sizes[i] ? from : sizes[i];

			name_row("from %u to %u entries, %u/2 of it held", from, sizes[i], part);
			resize(tb, a, cq, z, from, sizes[i], least * part / 2);
		}
}

SCENARIO(cq_room, "a CQ holds as many completions as it says, when it is made and resized")
{
	struct drv_rc_path path = path_to(b, 1);
	struct drv_cq *cq;

	must_fail(-EINVAL, drv_cq_create(a->dev, 0, 0, &cq));
	must_fail(-EINVAL, drv_cq_create(a->dev, VENDORS_MOST, 0, &cq));
	for_each_row(i, sizes) {
		struct drv_qp *z;

		name_row("%u entries", sizes[i]);
		cq = new_cq(a, sizes[i], 0);
		z = new_qp(a, .send_cq = cq, .cap = {.max_send_wr = QUEUE});
		if (!still_right())
			return;
		must(drv_qp_to_init(z, &path));
		move_qp(z, IBV_QPS_ERR);
		sized(tb, a, cq, z, sizes[i]);
		must_fail(-EINVAL, drv_cq_resize(cq, 0));
		must_fail(-EINVAL, drv_cq_resize(cq, VENDORS_MOST));
		if (sizes[i] == 4 || sizes[i] == ENTRIES_MAX)
			resized(tb, a, cq, z, sizes[i]);
		destroy_qp(z);
		destroy_cq(cq);
	}
}
