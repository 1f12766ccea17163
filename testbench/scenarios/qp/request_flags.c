/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kind of request with each set of flags, on a queue pair that signals all requests and on one that
 * does not. Members that a kind does not use are set, too: they have no meaning then. A second entry of
 * no bytes takes nothing, in gather lists and in receives.
 */
/* behaviours: IBA-11.4.1-arguments IBA-10.8.3.3-fence */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { LEN = 24, QUEUE = 64, PAGE = 4096, FLAG_SETS = 8, INLINE = 8, SECOND = 64 };

static const struct kind {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t len;
	bool takes_receive, can_inline;
} kinds[] = {
	{"SEND", IBV_WR_SEND, LEN, true, true},
	{"SEND with immediate", IBV_WR_SEND_WITH_IMM, LEN, true, true},
	{"SEND with invalidate", IBV_WR_SEND_WITH_INV, LEN, true, false},
	{"WRITE", IBV_WR_RDMA_WRITE, LEN, false, true},
	{"WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, LEN, true, true},
	{"READ", IBV_WR_RDMA_READ, LEN, false, false},
	{"compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, 8, false, false},
	{"fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, false, false},
	{"masked compare and swap", IBV_WR_MASKED_ATOMIC_CMP_AND_SWP, 8, false, false},
	{"masked fetch and add", IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD, 8, false, false},
	{"nothing", IBV_WR_NOP, 0, false, false},
	{"bind of a window", IBV_WR_BIND_MW, 0, false, false},
	{"fast registration", IBV_WR_REG_MR, 0, false, false},
	{"local invalidate", IBV_WR_LOCAL_INV, 0, false, false},
};

/* What an end has for these requests: a region that is registered by request, and a window. */
struct keys {
	struct drv_mr *fast, *region;
	struct drv_mw *window;
};

static void keys_make(struct tb *tb, struct tb_end *end, struct keys *k)
{
	must(drv_mr_alloc_fast(end->pd, 2, &k->fast));
	must(drv_mr_reg_iova(end->pd, end->src, PAGE, tb_va(end, end->src),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, &k->region));
	must(drv_mw_alloc(end->pd, IBV_MW_TYPE_1, &k->window));
	if (still_right())
		must(drv_mr_fast_set(k->fast, end->src, PAGE));
}

static void keys_end(struct tb *tb, struct keys *k)
{
	if (!still_right())
		return;
	must(drv_mw_free(k->window));
	must(drv_mr_dereg(k->region));
	must(drv_mr_dereg(k->fast));
}

/* Registers the end's fast region, as SENDs with invalidate of the other end need it. */
static void register_fast(struct tb *tb, struct tb_end *end, struct drv_qp *qp, struct keys *k)
{
	const struct drv_send_wr wr = {.wr_id = 88,
				       .opcode = IBV_WR_REG_MR,
				       .send_flags = IBV_SEND_SIGNALED,
				       .reg_mr = k->fast,
				       .reg_iova = PAGE,
				       .reg_length = PAGE,
				       .reg_access =
					       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ};

	must(drv_post_send(qp, &wr, NULL));
	expect_cqe(end, .wr_id = 88, .on = qp);
}

/* All members have values; those that the kind does not use are nobody's. */
static struct drv_send_wr request(const struct tb_end *a, const struct tb_end *b,
				  const struct kind *kind, const struct keys *own,
				  const struct keys *peer)
{
	static const struct drv_ah_attr ah = {.dlid = 0xabc, .sl = 3, .port_num = 1};
	const bool invalidates = kind->opcode == IBV_WR_SEND_WITH_INV;

	return (struct drv_send_wr){
		.wr_id = 7,
		.opcode = kind->opcode,
		.imm_data = 0x89abcdef,
		.invalidate_rkey = drv_mr_rkey(invalidates ? peer->fast : own->fast),
		.remote_addr = tb_va(b, b->dst) + PAGE,
		.rkey = drv_mr_rkey(b->mr),
		.compare_add = 0x1111111122222222,
		.swap = 0x3333333344444444,
		.compare_add_mask = 0xffff0000ffff0000,
		.swap_mask = 0x00ffff0000ffff00,
		.remote_srqn = 0x123456,
		.ah = &ah,
		.remote_qpn = 0x765432,
		.remote_qkey = 0x13579bdf,
		.bind_mw = own->window,
		.bind_mr = own->region,
		.bind_addr = tb_va(a, a->src) + 16,
		.bind_length = 48,
		.bind_access = IBV_ACCESS_REMOTE_READ,
		.reg_mr = own->fast,
		.reg_iova = PAGE,
		.reg_length = PAGE / 2,
		.reg_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	};
}

static void post_receive(struct tb *tb, struct tb_end *b, struct drv_qp *qp)
{
	const struct drv_sge sges[] = {{tb_va(b, b->dst), LEN, drv_mr_lkey(b->mr)},
				       {tb_va(b, b->dst) + SECOND, 0, drv_mr_lkey(b->mr)}};
	const struct drv_recv_wr wr = {.wr_id = 9, .sg_list = sges, .num_sge = ARRAY_SIZE(sges)};

	must(drv_post_recv(qp, &wr, NULL));
}

static void try_kind(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		     struct drv_qp *y, bool all, const struct kind *kind)
{
	static const unsigned bits[] = {IBV_SEND_FENCE, IBV_SEND_SIGNALED, IBV_SEND_SOLICITED,
					IBV_SEND_INLINE};
	const struct drv_send_wr last = {
		.wr_id = 99, .opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};
	struct keys own = {0}, peer = {0};
	struct drv_send_wr wr;

	keys_make(tb, a, &own);
	keys_make(tb, b, &peer);
	for (unsigned set = 0; set < (kind->can_inline ? 2u : 1u) * FLAG_SETS; set++) {
		struct drv_sge sges[] = {{tb_va(a, a->src), kind->len, drv_mr_lkey(a->mr)},
					 {tb_va(a, a->src) + SECOND, 0, drv_mr_lkey(a->mr)}};

		if (!still_right())
			return;
		if (kind->opcode == IBV_WR_SEND_WITH_INV)
			register_fast(tb, b, y, &peer);
		if (kind->opcode == IBV_WR_LOCAL_INV)
			register_fast(tb, a, x, &own);
		wr = request(a, b, kind, &own, &peer);
		for (unsigned i = 0; i < ARRAY_SIZE(bits); i++)
			wr.send_flags |= set & 1u << i ? bits[i] : 0;
		if (wr.send_flags & IBV_SEND_INLINE)
			sges[0].addr = (uintptr_t)a->src;
		if (kind->opcode == IBV_WR_RDMA_READ || kind->len == 8)
			sges[0].addr = tb_va(a, a->dst);
		wr.sg_list = sges;
		wr.num_sge = !kind->len ? 0 : set % 2 ? 2 : 1;
		if (kind->takes_receive)
			post_receive(tb, b, y);
		must(drv_post_send(x, &wr, NULL));
		if (all || wr.send_flags & IBV_SEND_SIGNALED)
			expect_cqe(a, .wr_id = 7, .on = x);
		must(drv_post_send(x, &last, NULL));
		expect_cqe(a, .wr_id = 99, .on = x);
		expect_empty(a->cq);
		if (kind->takes_receive)
			expect_cqe(b, .wr_id = 9, .on = y);
		if (kind->opcode == IBV_WR_REG_MR) {
			wr = request(a, b, kind, &own, &peer); /* with the key of now */
			wr.opcode = IBV_WR_LOCAL_INV;
			wr.send_flags = IBV_SEND_SIGNALED;
			must(drv_post_send(x, &wr, NULL));
			expect_cqe(a, .wr_id = 7, .on = x);
		}
	}
	keys_end(tb, &own);
	keys_end(tb, &peer);
}

SCENARIO(request_flags, "each kind of request with each set of flags, and members of no meaning",
	 .queue = QUEUE, .inline_bytes = LEN, .sges = 2, .recv_sges = 2, .any_packets = true,
	 .of_mlx4 = "masked atomics, windows and regions that requests make valid")
{
	for (unsigned all = 0; all < 2; all++) {
		struct drv_qp *x = new_qp(a, .sq_sig_all = all),
			      *y = new_qp(b, .cap = {.max_recv_sge = 2});

		connect_two(x, y);
		ignore_data(a, .len = 8192);
		ignore_data(b, .len = 8192);
		for_each_row(i, kinds) {
			name_row("%s, %s", kinds[i].name,
				 all ? "all signaled" : "signaled if asked");
			try_kind(tb, a, b, x, y, all, &kinds[i]);
		}
		destroy_qp(y);
		destroy_qp(x);
	}
}
