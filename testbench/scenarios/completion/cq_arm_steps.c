/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CQ has been through before it is armed, and between the arming and the completion that it waits for:
 * each row is a sequence of steps, and says how many events there have been at some of them. An event tells of
 * all that has come before it; what comes later makes the next one, once the CQ is armed, at once if it is there
 * already. An arming for all is not taken back by one for solicited completions. Neither a resize nor a queue
 * pair that takes its completions away changes what is armed and what was told of.
 */
/* behaviours: CQ-1 CQ-clean IBA-11.2.8.3-cq-resize */
#include "testbench/services.h"

enum { SIZE = 15, LARGE = 60, SETTLE_US = 25, HELD_MAX = 32 };

/*
 *	u s  a message, a solicited one		U S  the same to the other queue pair
 *	e    a request that fails		p    the oldest completion is polled
 *	a n  armed for all, for solicited ones	r    the CQ is resized
 *	c    the other queue pair is reset	0-9  so many events so far
 */
static const struct {
	const char *what, *steps;
	/* A device counts what it has written, and not what is left or copied of it: it may tell once more. */
	bool exact;
} rows[] = {
	{"what is there when it is armed for all", "u a1 a1 u2", false},
	{"what is there when it is armed for solicited ones", "u n0 u0 s1 s1", false},
	{"a solicited one before others", "suu n1", false},
	{"a solicited one between others", "usu n1", false},
	{"a solicited one that was polled", "s p n0 u0 s1", false},
	{"a solicited one that was told of", "a s1 n1 u1 s2", false},
	{"an error counts as solicited", "n u0 e1 e n2", false},
	{"for all, and then for solicited ones", "a0 n u1 u1", false},
	{"for solicited ones, and then for all", "n0 a u1 u1", false},
	{"twice for solicited ones", "n n u0 s1 s1", false},
	{"twice for all", "a a u1 u1", false},
	{"told of, and others behind it", "a u1 u u a2 a2", false},
	{"told of and polled, and one behind it", "a u1 u p a2", false},
	{"armed when it is resized", "a r u1 a1 n r u2", false},
	{"armed for solicited ones when it is resized", "n r u0 s1", false},
	{"told of when it is resized", "a u1 r a1 u2", true},
	{"polled and told of when it is resized", "uuu ppp a uu1 p r a2 r a2 u3", true},
	{"not told of when it is resized", "u u p r n0 a1", false},
	{"told of, and taken away", "a U1 c a1 u2", false},
	{"many told of and taken away", "UUU a1 UU c a1 u2 u a3", false},
	{"taken away before it is armed", "U c a0 u1", false},
	{"solicited ones taken away before it is armed", "uSS c n0 u0 s1", true},
	{"armed when others are taken away", "a UUU1 a2 c u2 a3 a3", false},
	{"others than those told of are taken away", "a u1 UU c a1 u2", true},
	{"told of and taken away, and one behind it", "a U1 u c a2", false},
};

struct cq_of_three {
	struct drv_qp *x, *y, *v, *w, *z; /* x sends to y, v to w; z is in error */
	struct drv_cq *cq;
	struct drv_qp *held[HELD_MAX]; /* whose completions stand in it */
	unsigned n;
	bool large;
};

static void message(struct tb *tb, struct tb_end *a, struct tb_end *b, struct cq_of_three *q,
		    struct drv_qp *from, struct drv_qp *to, bool solicited)
{
	recv_on(b, to, .len = 0);
	send_on(a, from, .len = 0, .solicited = solicited);
	expect_cqe(a, .on = from);
	q->held[q->n++ % HELD_MAX] = to;
}

static void fails(struct tb *tb, struct tb_end *b, struct cq_of_three *q)
{
	send_on(b, q->z, .len = 0);
	q->held[q->n++ % HELD_MAX] = q->z;
}

static void poll_oldest(struct tb *tb, struct tb_end *b, struct cq_of_three *q)
{
	expect_cqe(b, .cq = q->cq, .on = q->held[0],
		   .status = q->held[0] == q->z ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
	memmove(q->held, q->held + 1, --q->n * sizeof(q->held[0]));
}

static void taken_away(struct tb *tb, struct tb_end *a, struct tb_end *b, struct cq_of_three *q)
{
	unsigned left = 0;

	move_qp(q->w, IBV_QPS_RESET);
	move_qp(q->v, IBV_QPS_RESET);
	connect_two(q->v, q->w);
	for (unsigned i = 0; i < q->n; i++)
		if (q->held[i] != q->w)
			q->held[left++] = q->held[i];
	q->n = left;
}

static void step(struct tb *tb, struct tb_end *a, struct tb_end *b, struct cq_of_three *q,
		 char what)
{
	switch (what) {
	case 'u':
	case 's':
		message(tb, a, b, q, q->x, q->y, what == 's');
		break;
	case 'U':
	case 'S':
		message(tb, a, b, q, q->v, q->w, what == 'S');
		break;
	case 'e':
		fails(tb, b, q);
		break;
	case 'p':
		poll_oldest(tb, b, q);
		break;
	case 'a':
	case 'n':
		must(drv_cq_arm(q->cq, what == 'n'));
		break;
	case 'r':
		q->large = !q->large;
		must(drv_cq_resize(q->cq, q->large ? LARGE : SIZE));
		break;
	case 'c':
		taken_away(tb, a, b, q);
		break;
	}
}

static void row(struct tb *tb, struct tb_end *a, struct tb_end *b, const char *steps)
{
	struct cq_of_three q = {.cq = new_cq(b, SIZE, 0)};
	const struct drv_rc_path path = path_to(a, 1);

	q.x = new_qp(a);
	q.v = new_qp(a);
	q.y = new_qp(b, .recv_cq = q.cq);
	q.w = new_qp(b, .recv_cq = q.cq);
	q.z = new_qp(b, .send_cq = q.cq);
	connect_two(q.x, q.y);
	connect_two(q.v, q.w);
	must(drv_qp_to_init(q.z, &path));
	move_qp(q.z, IBV_QPS_ERR);
	for (; *steps && still_right(); steps++) {
		if (*steps < '0' || *steps > '9') {
			step(tb, a, b, &q, *steps);
			continue;
		}
		pass_time(CFG_US(SETTLE_US));
		expect_equal(drv_cq_events(q.cq), *steps - '0');
	}
	while (q.n && still_right())
		poll_oldest(tb, b, &q);
	if (!still_right())
		return;
	expect_empty(q.cq);
	destroy_qp(q.z);
	destroy_qp(q.w);
	destroy_qp(q.y);
	destroy_qp(q.v);
	destroy_qp(q.x);
	destroy_cq(q.cq);
}

SCENARIO(cq_arm_steps, "what a CQ has been through when it is armed: which completions make events",
	 .any_packets = true)
{
	ignore_discarded(b);
	for_each_row(i, rows) {
		if (rows[i].exact && !in_software(b))
			continue;
		name_row("%s: %s", rows[i].what, rows[i].steps);
		row(tb, a, b, rows[i].steps);
	}
}
