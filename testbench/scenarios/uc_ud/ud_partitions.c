/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams from each P_Key of one port to each P_Key of another, whose tables have the partitions in another
 * order. A packet has the P_Key of its queue pair's index, of a full or of a limited member. It comes to the queue
 * pairs of the same partition, unless both are limited; the completion says where its P_Key stands in the
 * receiver's table; all others drop and count it. The same holds for members of a multicast group. When a
 * table changes, the indices stay and the P_Keys are the new ones.
 */
/* behaviours: IBA-10.9-pkey-index IBA-9.6.1-pkey IBA-10.5.2-multicast */
#include "testbench/manage.h"

enum { KEYS = 4, QKEY = 0x1234, LEN = 24, GRH_AREA = 40, MLID = 0xc001, PORT = 1, FULL = 0x8000 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 3};

struct members {
	struct drv_qp *x[KEYS], *y[KEYS]; /* the i-th P_Key of a's table, and of b's */
	uint16_t at_a[KEYS], at_b[KEYS];
};

static bool speak(uint16_t one, uint16_t other)
{
	return (one & ~FULL) == (other & ~FULL) && (one | other) & FULL;
}

static void write_tables(struct tb *tb, struct tb_end *a, struct tb_end *b, struct members *m,
			 const uint16_t *at_a, const uint16_t *at_b)
{
	memcpy(m->at_a, at_a, sizeof(m->at_a));
	memcpy(m->at_b, at_b, sizeof(m->at_b));
	tb_write_pkeys(tb, TB_HERE, a, PORT, 0, at_a, KEYS);
	tb_write_pkeys(tb, TB_HERE, a, PORT, 1, at_b, KEYS);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
}

/* What each of b's queue pairs that may hear x[i] says of a datagram. */
static void taken(struct tb *tb, struct tb_end *b, const struct members *m, unsigned i,
		  unsigned first, unsigned n, bool grh)
{
	for (unsigned j = first; j < first + n; j++) {
		if (!speak(m->at_a[i], m->at_b[j]))
			continue;
		expect_cqe(b, .wr_id = j, .on = m->y[j], .byte_len = GRH_AREA + LEN,
			   .src_qp = drv_qp_num(m->x[i]), .pkey_index = j,
			   .flags = grh ? IBV_WC_GRH : 0);
		expect_data(b, .dst = j * 1000 + GRH_AREA, .src = i * 100, .len = LEN);
		ignore_data(b, .dst = j * 1000, .len = GRH_AREA);
		recv_on(b, m->y[j], .wr_id = j, .dst = j * 1000, .len = GRH_AREA + LEN);
	}
}

static void send(struct tb *tb, struct tb_end *a, const struct members *m, unsigned i,
		 const struct drv_ah_attr *ah, uint32_t qpn)
{
	send_on(a, m->x[i], .wr_id = 9, .src = i * 100, .len = LEN, .ah = ah, .remote_qpn = qpn,
		.qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .pkey = m->at_a[i], .qpn = qpn,
		   .src_qpn = drv_qp_num(m->x[i]));
	expect_cqe(a, .wr_id = 9);
}

static unsigned bad_pkeys(struct tb *tb, struct tb_end *b)
{
	struct drv_port_attr port = {0};

	must(drv_query_port(b->dev, PORT, &port));
	return port.bad_pkeys;
}

static void each_to_each(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct members *m)
{
	struct drv_ah_attr ah = ah_to(b),
			   to_group = {.dlid = MLID, .port_num = PORT, .is_global = true};

	memcpy(to_group.dgid, group, sizeof(group));
	for (unsigned i = 0; i < KEYS && still_right(); i++) {
		const unsigned before = bad_pkeys(tb, b);
		unsigned deaf = 0;

		for (unsigned j = 0; j < KEYS; j++) {
			name_row("P_Key %u to P_Key %u", i, j);
			deaf += !speak(m->at_a[i], m->at_b[j]);
			send(tb, a, m, i, &ah, drv_qp_num(m->y[j]));
			taken(tb, b, m, i, j, 1, false);
		}
		name_row("P_Key %u to the group", i);
		send(tb, a, m, i, &to_group, 0xffffff);
		taken(tb, b, m, i, 0, KEYS, true);
		expect_no_more(CFG_US(10));
		expect_equal(bad_pkeys(tb, b) - before, 2 * deaf);
	}
}

SCENARIO(ud_partitions, "datagrams from each P_Key to each P_Key, full and limited members")
{
	static const uint16_t first[] = {0xffff, 0x8055, 0x0066, 0x8077};
	static const uint16_t first_at_b[] = {0xffff, 0x0066, 0x8055, 0x0077};
	static const uint16_t second[] = {0xffff, 0x0066, 0x8077, 0x0055};
	static const uint16_t second_at_b[] = {0xffff, 0x8077, 0x8066, 0x8055};
	struct members m;

	write_tables(tb, a, b, &m, first, first_at_b);
	for (unsigned i = 0; i < KEYS && still_right(); i++) {
		m.x[i] = new_qp(a, .type = IBV_QPT_UD);
		m.y[i] = new_qp(b, .type = IBV_QPT_UD);
		must(drv_ud_qp_start(m.x[i], PORT, i, QKEY, 1));
		must(drv_ud_qp_start(m.y[i], PORT, i, QKEY, 1));
		must(drv_mcast_attach(m.y[i], group, false));
		recv_on(b, m.y[i], .wr_id = i, .dst = i * 1000, .len = GRH_AREA + LEN);
	}
	if (!still_right())
		return;
	each_to_each(tb, a, b, &m);
	write_tables(tb, a, b, &m, second, second_at_b);
	each_to_each(tb, a, b, &m);
	for (unsigned i = KEYS; i--;) {
		must(drv_mcast_detach(m.y[i], group));
		destroy_qp(m.y[i]);
		destroy_qp(m.x[i]);
	}
}
