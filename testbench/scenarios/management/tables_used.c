/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second GID of each port, and its change. A packet has the GID of its path's index, of datagrams and of a
 * connection, in both directions, and comes to each GID of the other port, but to nobody's. When the manager
 * writes another GID in its place, the index stays: packets have the new one, and what is sent to the former one is
 * dropped. Who hears of a change of GIDs, P_Keys or the LID finds the new ones at that moment.
 */
/* behaviours: IBA-14.2.5-tables UD-1 */
#include "testbench/manage.h"

enum { GIDS = 2, OTHER = 0x100, ANOTHER = 0x200, NOBODY = 0x40, QKEY = 0x1234, LEN = 32 };
#define OTHER_PREFIX UINT64_C(0xfec0000000000102)
enum { GRH_AREA = 40, PORT = 1, P_KEY = 0x8055, LID = 77, MAX_TOLD = 8 };

/* Writes the second GUID of a port; `hops` 0: of a's own. */
static void write_guid(struct tb *tb, struct tb_end *a, struct tb_end *of, unsigned other)
{
	const unsigned hops = of == a ? 0 : 1;
	struct guid_info guids;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_GUID_INFO, .hops = hops);
	memcpy(&guids, smp_data_cptr(&answer), sizeof(guids));
	guid_info_set(&guids, 1, guid_info_get(&guids, 0) + other);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_GUID_INFO, .hops = hops,
	    .data = &guids);
}

struct gids {
	uint8_t at_a[GIDS][DRV_GID_BYTES], at_b[GIDS][DRV_GID_BYTES];
};

static void look(struct tb *tb, struct tb_end *a, struct tb_end *b, struct gids *g)
{
	for (unsigned i = 0; i < GIDS; i++) {
		must(drv_query_gid(a->dev, PORT, i, g->at_a[i]));
		must(drv_query_gid(b->dev, PORT, i, g->at_b[i]));
	}
}

static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *u,
		     struct drv_qp *w, unsigned from, const uint8_t *sgid, const uint8_t *dgid,
		     bool comes)
{
	struct drv_ah_attr ah = ah_to(b);

	ah.is_global = true;
	ah.sgid_index = (uint8_t)from;
	memcpy(ah.dgid, dgid, DRV_GID_BYTES);
	send_on(a, u, .wr_id = 2, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(w), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .sgid = sgid, .dgid = dgid);
	expect_cqe(a, .wr_id = 2);
	if (!comes) {
		expect_no_more(CFG_US(20));
		return;
	}
	expect_cqe(b, .wr_id = 1, .on = w, .flags = IBV_WC_GRH);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	expect_true(!memcmp(b->dst + 8, sgid, DRV_GID_BYTES));
	expect_true(!memcmp(b->dst + 24, dgid, DRV_GID_BYTES));
	ignore_data(b, .len = GRH_AREA);
	recv_on(b, w, .wr_id = 1, .len = GRH_AREA + LEN);
}

/* From each of the first n GIDs to each of b's. gone: one that b has not; NULL: none. */
static void datagrams(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct gids *g,
		      unsigned n, const uint8_t *gone)
{
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UD), *w = new_qp(b, .type = IBV_QPT_UD);
	uint8_t nobody[DRV_GID_BYTES];

	start_ud(u, QKEY, 1);
	start_ud(w, QKEY, 1);
	recv_on(b, w, .wr_id = 1, .len = GRH_AREA + LEN);
	for (unsigned from = 0; from < n && still_right(); from++)
		for (unsigned to = 0; to < n; to++) {
			name_row("GID %u to GID %u", from, to);
			datagram(tb, a, b, u, w, from, g->at_a[from], g->at_b[to], true);
			memcpy(nobody, g->at_b[to], sizeof(nobody));
			nobody[15] ^= NOBODY;
			datagram(tb, a, b, u, w, from, g->at_a[from], nobody, false);
		}
	if (gone)
		datagram(tb, a, b, u, w, 0, g->at_a[0], gone, false);
	destroy_qp(w);
	destroy_qp(u);
}

/* Both ways; y is at b. */
static void write_by(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		     struct drv_qp *y, const uint8_t *at_a, const uint8_t *at_b)
{
	send_on(a, x, .wr_id = 3, .opcode = IBV_WR_RDMA_WRITE, .dst = 1000, .len = LEN);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .sgid = at_a, .dgid = at_b);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .sgid = at_b, .dgid = at_a);
	expect_cqe(a, .wr_id = 3);
	send_on(b, y, .wr_id = 4, .opcode = IBV_WR_RDMA_WRITE, .dst = 1000, .len = LEN);
	expect_pkt(b_to_a, RC_WRITE_ONLY, .sgid = at_b, .dgid = at_a);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE, .sgid = at_a, .dgid = at_b);
	expect_cqe(b, .wr_id = 4);
}

static void connect_by(struct tb *tb, struct drv_qp *x, struct drv_qp *y, struct tb_end *to,
		       unsigned from, const uint8_t *dgid)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));

	path.is_global = true;
	path.sgid_index = from;
	memcpy(path.dgid, dgid, DRV_GID_BYTES);
	must(drv_qp_connect(x, &path));
}

static void connections(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct gids *g)
{
	for (unsigned from = 0; from < GIDS && still_right(); from++)
		for (unsigned to = 0; to < GIDS; to++) {
			struct drv_qp *x = new_qp(a), *y = new_qp(b);

			name_row("connection of GID %u and GID %u", from, to);
			connect_by(tb, x, y, b, from, g->at_b[to]);
			connect_by(tb, y, x, a, to, g->at_a[from]);
			write_by(tb, a, b, x, y, g->at_a[from], g->at_b[to]);
			destroy_qp(y);
			destroy_qp(x);
		}
	expect_data(a, .dst = 1000, .len = LEN);
	expect_data(b, .dst = 1000, .len = LEN);
}

/* What b's tables said when it was told of a change. */
struct told {
	struct drv_device *dev;
	unsigned n;
	enum ibv_event_type type[MAX_TOLD];
	uint8_t gid[DRV_GID_BYTES];
	uint16_t pkey;
	unsigned lid;
};

static void told_of(void *arg, const struct drv_event *event)
{
	struct told *t = arg;
	struct drv_port_attr port = {0};

	t->type[t->n++ % MAX_TOLD] = event->type;
	drv_query_gid(t->dev, PORT, 1, t->gid);
	drv_query_pkey(t->dev, PORT, 1, &t->pkey);
	drv_query_port(t->dev, PORT, &port);
	t->lid = port.lid;
}

/* In the handler, which transport in software runs where it may ask. */
static void at_that_moment(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static struct told t;
	struct port_info info;
	uint8_t gid[DRV_GID_BYTES];
	struct smp answer;

	name_row("%s", "told");
	t = (struct told){.dev = b->dev};
	drv_event_register(b->dev, told_of, &t);
	write_guid(tb, a, b, OTHER);
	must(drv_query_gid(b->dev, PORT, 1, gid));
	expect_true(t.n == 1 && t.type[0] == IBV_EVENT_GID_CHANGE);
	expect_true(!memcmp(t.gid, gid, sizeof(gid)));
	write_pkeys(a, PORT, 1, 0xffff, P_KEY);
	expect_true(t.n == 2 && t.type[1] == IBV_EVENT_PKEY_CHANGE);
	expect_equal(t.pkey, P_KEY);
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_lid(&info, LID);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = 1, .data = &info);
	expect_true(t.n == 3 && t.type[2] == IBV_EVENT_LID_CHANGE);
	expect_equal(t.lid, LID);
	drv_event_register(b->dev, NULL, NULL);
}

/* The prefix is that of all GIDs of a port, and no event tells of it where the LID stays. */
static void other_prefix(struct tb *tb, struct tb_end *a, struct tb_end *b, struct gids *g)
{
	struct port_info info;
	struct smp answer;

	name_row("%s", "another prefix");
	ignore_events(b);
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_gid_prefix(&info, OTHER_PREFIX);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = 1, .data = &info);
	look(tb, a, b, g);
	for (unsigned i = 0; i < GIDS; i++)
		expect_equal(be64_load(g->at_b[i]), OTHER_PREFIX);
	datagrams(tb, a, b, g, GIDS, NULL);
}

SCENARIO(tables_used, "packets have the GIDs that stand in a port's table now")
{
	uint8_t empty[DRV_GID_BYTES] = {0};
	struct gids g = {0}, former;

	/* b's second entry is still empty, and nobody's */
	must(drv_query_gid(a->dev, PORT, 0, g.at_a[0]));
	must(drv_query_gid(b->dev, PORT, 1, empty));
	expect_equal(be64_load(empty + 8), 0);
	datagrams(tb, a, b, &g, 0, empty);
	write_guid(tb, a, a, OTHER);
	expect_event(a, IBV_EVENT_GID_CHANGE);
	write_guid(tb, a, b, OTHER);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	look(tb, a, b, &g);
	datagrams(tb, a, b, &g, GIDS, NULL);
	connections(tb, a, b, &g);
	former = g;
	write_guid(tb, a, a, ANOTHER);
	expect_event(a, IBV_EVENT_GID_CHANGE);
	write_guid(tb, a, b, ANOTHER);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	look(tb, a, b, &g);
	expect_true(memcmp(&g, &former, sizeof(g)));
	datagrams(tb, a, b, &g, GIDS, former.at_b[1]);
	other_prefix(tb, a, b, &g);
	if (in_software(b))
		at_that_moment(tb, a, b);
}
