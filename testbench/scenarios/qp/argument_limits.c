/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each argument at its limit is taken, and one beyond it is refused: what the query of the device
 * promises holds to the last one. No command that the device would refuse reaches it.
 */
/* behaviours: IBA-11.2.1.2-limits */
#include "testbench/harm.h"

enum {
	GID_BYTES = 16,
	DESCRIPTOR_MAX = 1008, /* the longest send WQE, QUERY_DEV_CAP's max_sq_desc */
	SENDS = 4,
	RECVS = 4,
	INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RTS_MASK = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

static struct drv_qp_init small(const struct tb_end *e)
{
	return (struct drv_qp_init){.type = IBV_QPT_RC,
				    .send_cq = e->cq,
				    .recv_cq = e->cq,
				    .cap = {.max_send_wr = SENDS,
					    .max_recv_wr = RECVS,
					    .max_send_sge = 1,
					    .max_recv_sge = 1}};
}

/* The queue pair can be made exactly when its sizes are within the limits. */
static void queue_pair(struct tb *tb, struct tb_end *e, const struct drv_qp_init *init, bool taken)
{
	struct drv_qp_cap got;
	struct drv_qp *qp;

	if (!taken) {
		must_fail(-EINVAL, drv_qp_create(e->pd, init, &qp));
		return;
	}
	must(drv_qp_create(e->pd, init, &qp));
	if (!still_right())
		return;
	drv_qp_cap(qp, &got);
	expect_true(got.max_send_wr >= init->cap.max_send_wr);
	expect_true(got.max_recv_wr >= init->cap.max_recv_wr);
	expect_true(got.max_send_sge >= init->cap.max_send_sge);
	expect_true(got.max_recv_sge >= init->cap.max_recv_sge);
	must(drv_qp_destroy(qp));
}

static void queue_pairs(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	for (unsigned beyond = 0; beyond < 2 && still_right(); beyond++) {
		struct drv_qp_init init = small(e);

		init.cap.max_send_wr = dev->max_qp_wr + beyond;
		queue_pair(tb, e, &init, !beyond);
		init = small(e);
		init.cap.max_recv_wr = dev->max_qp_wr + beyond;
		queue_pair(tb, e, &init, !beyond);
		init = small(e);
		init.cap.max_recv_sge = dev->max_recv_sge + beyond;
		queue_pair(tb, e, &init, !beyond);
		init = small(e);
		if (beyond)
			init.send_cq = NULL;
		queue_pair(tb, e, &init, !beyond);
		init = small(e);
		if (beyond)
			init.recv_cq = NULL;
		queue_pair(tb, e, &init, !beyond);
	}
}

static void completion_queues(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	struct drv_cq *cq;

	must_fail(-EINVAL, drv_cq_create(e->dev, 0, 0, &cq));
	must_fail(-EINVAL, drv_cq_create(e->dev, dev->max_cqe + 1, 0, &cq));
	must_fail(-EINVAL, drv_cq_create(e->dev, 1, (int)dev->comp_vectors, &cq));
	must(drv_cq_create(e->dev, 1, (int)dev->comp_vectors - 1, &cq));
	if (!still_right())
		return;
	must_fail(-EINVAL, drv_cq_resize(cq, 0));
	must_fail(-EINVAL, drv_cq_resize(cq, dev->max_cqe + 1));
	must(drv_cq_resize(cq, drv_cq_entries(cq)));
	must(drv_cq_resize(cq, 2 * drv_cq_entries(cq)));
	must(drv_cq_destroy(cq));
}

static void shared_receives(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	struct drv_srq_init init = {.max_wr = dev->max_srq_wr + 1, .max_sge = 1};
	uint32_t max_wr, max_sge;
	struct drv_srq *srq;

	must_fail(-EINVAL, drv_srq_create(e->pd, &init, &srq));
	init.max_wr = 0;
	must_fail(-EINVAL, drv_srq_create(e->pd, &init, &srq));
	/* mlx4's have an entry less than queue pairs have */
	init = (struct drv_srq_init){.max_wr = 1, .max_sge = dev->max_recv_sge + in_software(e)};
	must_fail(-EINVAL, drv_srq_create(e->pd, &init, &srq));
	init.max_sge--;
	must(drv_srq_create(e->pd, &init, &srq));
	if (!still_right())
		return;
	drv_srq_size(srq, &max_wr, &max_sge);
	expect_true(max_sge >= init.max_sge);
	must(drv_srq_destroy(srq));
	init = (struct drv_srq_init){.max_wr = dev->max_srq_wr, .max_sge = 1};
	must(drv_srq_create(e->pd, &init, &srq));
	if (!still_right())
		return;
	drv_srq_size(srq, &max_wr, &max_sge);
	expect_equal(max_wr, dev->max_srq_wr);
	must(drv_srq_arm(srq, max_wr));
	expect_event(e, IBV_EVENT_SRQ_LIMIT_REACHED); /* it has none */
	must_fail(-EINVAL, drv_srq_arm(srq, max_wr + 1));
	must(drv_srq_destroy(srq));
	init = (struct drv_srq_init){.max_wr = 1}; /* no entries: a receive has no bytes */
	must(drv_srq_create(e->pd, &init, &srq));
	if (still_right())
		must(drv_srq_destroy(srq));
}

static void port_tables(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	struct drv_port_attr port;
	uint8_t gid[GID_BYTES];
	uint16_t pkey;

	must_fail(-EINVAL, drv_query_port(e->dev, 0, &port));
	must_fail(-EINVAL, drv_query_port(e->dev, dev->ports + 1, &port));
	for (unsigned p = 1; p <= dev->ports && still_right(); p++) {
		must(drv_query_port(e->dev, p, &port));
		expect_equal(port.gid_count, dev->gids[p]);
		if (!port.ethernet) /* an Ethernet port has one P_Key, the default one */
			expect_equal(port.pkey_count, dev->pkeys[p]);
		must(drv_query_gid(e->dev, p, dev->gids[p] - 1, gid));
		must_fail(-EINVAL, drv_query_gid(e->dev, p, dev->gids[p], gid));
		must(drv_query_pkey(e->dev, p, dev->pkeys[p] - 1, &pkey));
		must_fail(-EINVAL, drv_query_pkey(e->dev, p, dev->pkeys[p], &pkey));
	}
}

/* The widest value of each attribute, as the fields of a packet and of a context have it. An Ethernet
 * port has a priority in place of the service level, and no LIDs. */
static struct drv_qp_attr widest(const struct tb_end *e, const struct drv_device_attr *dev)
{
	const bool ethernet = drv_port_is_ethernet(e->dev, dev->ports);

	return (struct drv_qp_attr){
		.port_num = (uint8_t)dev->ports,
		.pkey_index = (uint16_t)(dev->pkeys[dev->ports] - 1),
		.ah_attr = {.dlid = 0xbfff,
			    .sl = ethernet ? 7 : 15,
			    .src_path_bits = ethernet ? 0 : 127,
			    .port_num = dev->ports,
			    .is_global = true,
			    .sgid_index = dev->gids[dev->ports] - 1,
			    .hop_limit = 255,
			    .traffic_class = 255,
			    .flow_label = 0xfffff},
		.path_mtu = IBV_MTU_4096,
		.alt_ah_attr = {.dlid = 0xbfff, .port_num = dev->ports, .is_global = true},
		.alt_port_num = (uint8_t)dev->ports,
		.dest_qp_num = 0xffffff,
		.rq_psn = 0xffffff,
		.sq_psn = 0xffffff,
		.max_rd_atomic = (uint8_t)dev->max_rd_atomic,
		.max_dest_rd_atomic = (uint8_t)dev->max_dest_rd_atomic,
		.min_rnr_timer = 31,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

static void same_path(struct tb *tb, const struct drv_ah_attr *got, const struct drv_ah_attr *want)
{
	expect_equal(got->dlid, want->dlid);
	expect_equal(got->sl, want->sl);
	expect_equal(got->src_path_bits, want->src_path_bits);
	expect_equal(got->sgid_index, want->sgid_index);
	expect_equal(got->hop_limit, want->hop_limit);
	expect_equal(got->traffic_class, want->traffic_class);
	expect_equal(got->flow_label, want->flow_label);
}

/* Nothing of it is taken: the attribute stays what it was. */
#define WRONG(bit, member, value)                                                                  \
	do {                                                                                       \
		struct drv_qp_attr wrong = *right, former = {0}, now = {0};                        \
		if (!(mask & (bit)))                                                               \
			break;                                                                     \
		wrong.member = value;                                                              \
		name_row("to state %u, " #member " %u", right->qp_state, (unsigned)(value));       \
		must(drv_qp_query(x, &former));                                                    \
		must_fail(-EINVAL, drv_qp_modify(x, &wrong, mask));                                \
		must(drv_qp_query(x, &now));                                                       \
		expect_equal(now.member, former.member);                                           \
	} while (0)

/* One attribute beyond its limit refuses the whole step, and the queue pair stays where it was. */
static void beyond(struct tb *tb, struct drv_qp *x, const struct drv_qp_attr *right, unsigned mask,
		   const struct drv_device_attr *dev)
{
	const enum ibv_qp_state before = drv_qp_state(x);
	const unsigned port = dev->ports;

	WRONG(IBV_QP_PORT, port_num, port + 1);
	WRONG(IBV_QP_PORT, port_num, 0);
	WRONG(IBV_QP_PKEY_INDEX, pkey_index, dev->pkeys[port]);
	WRONG(IBV_QP_PATH_MTU, path_mtu, IBV_MTU_4096 + 1);
	WRONG(IBV_QP_PATH_MTU, path_mtu, IBV_MTU_256 - 1);
	WRONG(IBV_QP_AV, ah_attr.sgid_index, dev->gids[port]);
	WRONG(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, dev->max_dest_rd_atomic + 1);
	WRONG(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, dev->max_rd_atomic + 1);
	WRONG(IBV_QP_STATE, qp_state, 99);
	if (mask & IBV_QP_AV) {
		mask |= IBV_QP_ALT_PATH;
		WRONG(IBV_QP_ALT_PATH, alt_port_num, port + 1);
		WRONG(IBV_QP_ALT_PATH, alt_port_num, 0);
		WRONG(IBV_QP_ALT_PATH, alt_pkey_index, dev->pkeys[port]);
		WRONG(IBV_QP_ALT_PATH, alt_ah_attr.sgid_index, dev->gids[port]);
	}
	expect_equal(drv_qp_state(x), before);
}

/* mlx4 takes the bits that its fields have, as Linux's driver does. */
static void wider(struct tb *tb, struct drv_qp *x, const struct drv_qp_attr *right, unsigned mask)
{
	WRONG(IBV_QP_DEST_QPN, dest_qp_num, 1 << 24);
	WRONG(IBV_QP_AV, ah_attr.dlid, 0);
	WRONG(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, 32);
	WRONG(IBV_QP_TIMEOUT, timeout, 32);
	WRONG(IBV_QP_RETRY_CNT, retry_cnt, 8);
	WRONG(IBV_QP_RNR_RETRY, rnr_retry, 8);
	if (mask & IBV_QP_AV) {
		mask |= IBV_QP_ALT_PATH;
		WRONG(IBV_QP_ALT_PATH, alt_timeout, 32);
	}
}

static void attributes(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	static const struct {
		enum ibv_qp_state to;
		unsigned mask;
	} steps[] = {{IBV_QPS_INIT, INIT_MASK}, {IBV_QPS_RTR, RTR_MASK}, {IBV_QPS_RTS, RTS_MASK}};
	struct drv_qp_attr attr = widest(e, dev), got;
	struct drv_qp *x = new_qp(e);

	if (!still_right())
		return;
	for_each_row(i, steps) {
		attr.qp_state = steps[i].to;
		beyond(tb, x, &attr, steps[i].mask, dev);
		if (in_software(e))
			wider(tb, x, &attr, steps[i].mask);
		name_row("to state %u", steps[i].to);
		must(drv_qp_modify(x, &attr, steps[i].mask));
	}
	name_row("%s", "in RTS");
	attr.cur_qp_state = IBV_QPS_SQD; /* it is not */
	must_fail(-EINVAL, drv_qp_modify(x, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	if (!in_software(e)) /* the device finds it */
		expect_guest_error(e, qp_transition);
	attr.cur_qp_state = IBV_QPS_RTS;
	must(drv_qp_modify(x, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	must(drv_qp_query(x, &got));
	same_path(tb, &got.ah_attr, &attr.ah_attr);
	expect_equal(got.port_num, attr.port_num);
	expect_equal(got.pkey_index, attr.pkey_index);
	expect_equal(got.path_mtu, attr.path_mtu);
	expect_equal(got.dest_qp_num, attr.dest_qp_num);
	expect_equal(got.rq_psn, attr.rq_psn);
	expect_equal(got.sq_psn, attr.sq_psn);
	expect_equal(got.max_rd_atomic, attr.max_rd_atomic);
	expect_equal(got.max_dest_rd_atomic, attr.max_dest_rd_atomic);
	expect_equal(got.min_rnr_timer, attr.min_rnr_timer);
	expect_equal(got.timeout, attr.timeout);
	expect_equal(got.retry_cnt, attr.retry_cnt);
	expect_equal(got.rnr_retry, attr.rnr_retry);
	destroy_qp(x);
}

SCENARIO(argument_limits, "an argument at its limit is taken, and one beyond it is refused")
{
	struct drv_device_attr dev;

	must(drv_query_device(a->dev, &dev));
	queue_pairs(tb, a, &dev);
	completion_queues(tb, a, &dev);
}

SCENARIO(attribute_limits, "an attribute of a queue pair or an SRQ, and an index, beyond its limit")
{
	struct drv_device_attr dev;

	must(drv_query_device(a->dev, &dev));
	shared_receives(tb, a, &dev);
	port_tables(tb, a, &dev);
	attributes(tb, a, &dev);
}

/* The call is refused, and the device does not hear of it: the next command would fail otherwise. */
#define unheard(result, call)                                                                      \
	do {                                                                                       \
		refuse_command(e, 1, HCR_STATUS_INTERNAL_ERR);                                     \
		must_fail(result, call);                                                           \
		expect_true(!refuse_command(e, 0, 0));                                             \
	} while (0)

static void unheard_queues(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	struct drv_xrcd *xrcd = new_xrcd(e);
	const struct drv_srq_init without_cq = {.max_wr = 4, .max_sge = 1, .xrcd = xrcd};
	const struct drv_srq_init without_domain = {.max_wr = 4, .max_sge = 1, .cq = e->cq};
	struct drv_cq *cq = new_cq(e, 15, DRV_CQ_POLLED);
	struct drv_srq_init srq_init = {.max_wr = 4, .max_sge = 1};
	uint32_t max_wr, max_sge;
	struct drv_srq *srq;

	unheard(-EINVAL, drv_cq_create(e->dev, 0, 0, &cq));
	unheard(-EINVAL, drv_cq_create(e->dev, dev->max_cqe + 1, 0, &cq));
	unheard(-EINVAL, drv_cq_create(e->dev, 1, (int)dev->comp_vectors, &cq));
	unheard(-EINVAL, drv_cq_create(e->dev, 1, DRV_CQ_POLLED - 1, &cq));
	unheard(-EINVAL, drv_cq_resize(cq, 0));
	unheard(-EINVAL, drv_cq_resize(cq, dev->max_cqe + 1));
	unheard(-EINVAL, drv_cq_arm(cq, false)); /* it has no vector */
	unheard(0, drv_cq_resize(cq, 8));        /* it has 16 entries already */
	expect_equal(drv_cq_entries(cq), 15);
	must(drv_cq_destroy(cq));
	unheard(-EINVAL, drv_srq_create(e->pd, &without_domain, &srq));
	unheard(-EINVAL, drv_srq_create(e->pd, &without_cq, &srq));
	must(drv_xrcd_free(xrcd));
	must(drv_srq_create(e->pd, &srq_init, &srq));
	if (!still_right())
		return;
	drv_srq_size(srq, &max_wr, &max_sge);
	unheard(-EINVAL, drv_srq_arm(srq, max_wr + 1));
	must(drv_srq_destroy(srq));
}

static struct drv_qp_init small_of(const struct tb_end *e, enum ibv_qp_type type)
{
	struct drv_qp_init init = small(e);

	init.type = type;
	if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV)
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	return init;
}

/* A queue pair of any service has the entries that the device promises, and no longer requests. */
static void unheard_queue_pairs(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						 IBV_QPT_XRC_SEND};
	const struct drv_srq_init srq_init = {.max_wr = 4, .max_sge = 1};
	struct drv_qp_init init;
	struct drv_qp_cap got;
	struct drv_srq *srq;
	struct drv_qp *qp;
	uint32_t qpn;

	for_each_row(i, types) {
		name_row("type %u", types[i]);
		init = small_of(e, types[i]);
		init.cap.max_send_sge = dev->max_send_sge;
		must(drv_qp_create(e->pd, &init, &qp));
		if (!still_right())
			return;
		drv_qp_cap(qp, &got);
		expect_equal(got.max_send_sge, dev->max_send_sge);
		must(drv_qp_destroy(qp));
		init.cap.max_send_sge++;
		unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
		init.cap.max_send_sge = 1;
		init.cap.max_inline_data = PLATFORM_PAGE_SIZE;
		unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
		/* as long as a whole descriptor, which has headers, too */
		init.cap.max_inline_data = DESCRIPTOR_MAX;
		unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
	}
	init = small_of(e, IBV_QPT_XRC_RECV); /* it has no domain */
	unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
	must(drv_srq_create(e->pd, &srq_init, &srq));
	init = small(e);
	init.srq = srq; /* beside receives of its own */
	unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
	init.cap.max_recv_wr = 0;
	init.recv_cq = NULL;
	unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
	init.recv_cq = e->cq;
	must(drv_qp_create(e->pd, &init, &qp));
	if (!still_right())
		return;
	qpn = drv_qp_num(qp);
	expect_true(drv_qp_find(e->dev, qpn) == qp);
	expect_true(!drv_qp_find(e->dev, qpn ^ 1u << 22)); /* the same place in the table */
	must(drv_qp_destroy(qp));
	expect_true(!drv_qp_find(e->dev, qpn));
	must(drv_srq_destroy(srq));
}

/* The key of a region that has been refused is not used up either: the next one is right. */
static void unheard_regions(struct tb *tb, struct tb_end *e)
{
	static const uint64_t pages[] = {0x10000, 0x14000};
	const uint64_t iova = UINT64_C(0x7000000123), whole = 2 * PLATFORM_PAGE_SIZE - 0x123;
	struct drv_mr *mr;

	unheard(-EINVAL, drv_mr_reg(e->pd, e->src, 0, IBV_ACCESS_LOCAL_WRITE, &mr));
	unheard(-EINVAL, drv_mr_reg(e->pd, e->src, 64, IBV_ACCESS_REMOTE_WRITE, &mr));
	unheard(-EINVAL, drv_mr_reg(e->pd, e->src, 64, IBV_ACCESS_REMOTE_ATOMIC, &mr));
	unheard(-EINVAL, drv_mr_reg_iova(e->pd, e->src, 64, (uintptr_t)e->src ^ 1,
					 IBV_ACCESS_LOCAL_WRITE, &mr));
	unheard(-EINVAL,
		drv_mr_reg_iova(e->pd, e->src, 64, (uintptr_t)e->src ^ PLATFORM_PAGE_SIZE / 2,
				IBV_ACCESS_LOCAL_WRITE, &mr));
	unheard(-EINVAL, drv_mr_alloc_fast(e->pd, 0, &mr));
	unheard(-EINVAL, drv_mr_reg_pages(e->pd, pages, 2, iova, 0, 0, &mr));
	unheard(-EINVAL, drv_mr_reg_pages(e->pd, pages, 2, iova, whole + 1, 0, &mr));
	unheard(-EINVAL,
		drv_mr_reg_pages(e->pd, pages, 2, iova, PLATFORM_PAGE_SIZE - 0x123, 0, &mr));
	/* these have the right number of pages modulo 2^64 */
	unheard(-EINVAL, drv_mr_reg_pages(e->pd, pages, 0, iova, UINT64_MAX - 0x123 + 1, 0, &mr));
	unheard(-EINVAL, drv_mr_reg_pages(e->pd, pages, 0, iova, UINT64_MAX - 0x1000, 0, &mr));
	unheard(-EINVAL,
		drv_mr_reg_pages(e->pd, pages, 2, iova, whole, IBV_ACCESS_REMOTE_WRITE, &mr));
	must(drv_mr_reg_pages(e->pd, pages, 2, iova, whole, 0, &mr));
	must(drv_mr_dereg(mr));
	must(drv_mr_reg_pages(e->pd, pages, 2, iova, PLATFORM_PAGE_SIZE - 0x123 + 1, 0, &mr));
	must(drv_mr_dereg(mr));
}

static void unheard_ports(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	struct drv_port_attr port;
	uint8_t gid[GID_BYTES];
	uint16_t pkey;

	unheard(-EINVAL, drv_query_port(e->dev, 0, &port));
	unheard(-EINVAL, drv_query_port(e->dev, dev->ports + 1, &port));
	unheard(-EINVAL, drv_port_down(e->dev, 0));
	unheard(-EINVAL, drv_port_down(e->dev, dev->ports + 1));
	for (unsigned p = 1; p <= dev->ports && still_right(); p++) {
		unheard(-EINVAL, drv_query_gid(e->dev, p, dev->gids[p], gid));
		unheard(-EINVAL, drv_query_pkey(e->dev, p, dev->pkeys[p], &pkey));
	}
}

/* The largest number that a caller can write is beyond each limit, too: none of them wraps when something
 * is added to it. */
static void unheard_largest(struct tb *tb, struct tb_end *e)
{
	static const struct drv_qp_cap caps[] = {{.max_send_wr = UINT32_MAX},
						 {.max_recv_wr = UINT32_MAX},
						 {.max_send_sge = UINT32_MAX},
						 {.max_recv_sge = UINT32_MAX},
						 {.max_inline_data = UINT32_MAX}};
	static const struct drv_srq_init srqs[] = {{.max_wr = UINT32_MAX, .max_sge = 1},
						   {.max_wr = 1, .max_sge = UINT32_MAX}};
	struct drv_qp_init init = small(e);
	struct drv_port_attr port;
	uint8_t gid[GID_BYTES];
	struct drv_srq *srq;
	struct drv_cq *cq;
	struct drv_qp *qp;
	uint16_t pkey;

	for_each_row(i, caps) {
		init.cap = caps[i];
		unheard(-EINVAL, drv_qp_create(e->pd, &init, &qp));
	}
	for_each_row(i, srqs)
		unheard(-EINVAL, drv_srq_create(e->pd, &srqs[i], &srq));
	unheard(-EINVAL, drv_cq_create(e->dev, UINT32_MAX, 0, &cq));
	unheard(-EINVAL, drv_cq_resize(e->cq, UINT32_MAX));
	unheard(-EINVAL, drv_query_port(e->dev, UINT32_MAX, &port));
	unheard(-EINVAL, drv_query_gid(e->dev, 1, UINT32_MAX, gid));
	unheard(-EINVAL, drv_query_pkey(e->dev, 1, UINT32_MAX, &pkey));
}

/* Steps that a queue pair in INIT cannot take, and whose attributes the device would refuse, too. */
static void unheard_steps(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	static const uint8_t mgid[GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 9};
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct drv_qp_attr attr = widest(e, dev);
	struct drv_qp *x = new_qp(e);

	if (!still_right())
		return;
	unheard(0, drv_qp_modify(x, &reset, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_INIT;
	for (unsigned bit = 1; bit <= INIT_MASK; bit <<= 1)
		if (INIT_MASK & bit & ~(unsigned)IBV_QP_STATE)
			unheard(-EINVAL, drv_qp_modify(x, &attr, INIT_MASK & ~bit));
	must(drv_qp_modify(x, &attr, INIT_MASK));
	attr.qp_state = IBV_QPS_RTR;
	for (unsigned bit = 1; bit <= RTR_MASK; bit <<= 1)
		if (RTR_MASK & bit & ~(unsigned)IBV_QP_STATE)
			unheard(-EINVAL, drv_qp_modify(x, &attr, RTR_MASK & ~bit));
	attr.alt_port_num = (uint8_t)(dev->ports + 1);
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTR_MASK | IBV_QP_ALT_PATH));
	attr.alt_port_num = 0;
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTR_MASK | IBV_QP_ALT_PATH));
	attr.max_dest_rd_atomic++;
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTR_MASK));
	attr.max_dest_rd_atomic--;
	attr.qp_state = IBV_QPS_RTS;
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTS_MASK)); /* not from INIT */
	attr.qp_state = (enum ibv_qp_state)(IBV_QPS_ERR + 1);
	unheard(-EINVAL, drv_qp_modify(x, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTR;
	must(drv_qp_modify(x, &attr, RTR_MASK));
	attr.qp_state = IBV_QPS_RTS;
	for (unsigned bit = 1; bit <= RTS_MASK; bit <<= 1)
		if (RTS_MASK & bit & ~(unsigned)IBV_QP_STATE)
			unheard(-EINVAL, drv_qp_modify(x, &attr, RTS_MASK & ~bit));
	attr.max_rd_atomic++;
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTS_MASK));
	attr.max_rd_atomic--;
	attr.cur_qp_state = IBV_QPS_INIT; /* as the caller says: from there it goes to RTR only */
	unheard(-EINVAL, drv_qp_modify(x, &attr, RTS_MASK | IBV_QP_CUR_STATE));
	attr.cur_qp_state = IBV_QPS_SQE; /* in which a reliable one never is */
	unheard(-EINVAL, drv_qp_modify(x, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	unheard(-EINVAL, drv_mcast_attach(x, mgid, false)); /* it is no datagram queue pair */
	expect_equal(drv_qp_state(x), IBV_QPS_RTR);
	destroy_qp(x);
}

/* Which attributes the other services need. Source: IBA table 91, and Linux qp_state_table */
static const struct {
	enum ibv_qp_type type;
	enum ibv_qp_state to;
	unsigned needed;
} needs[] = {
	{IBV_QPT_UC, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_UC, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN},
	{IBV_QPT_UC, IBV_QPS_RTS, IBV_QP_SQ_PSN},
	{IBV_QPT_UD, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPT_UD, IBV_QPS_RTR, 0},
	{IBV_QPT_UD, IBV_QPS_RTS, IBV_QP_SQ_PSN},
	{IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_XRC_SEND, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN},
	{IBV_QPT_XRC_SEND, IBV_QPS_RTS,
	 IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC},
	{IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_XRC_RECV, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER},
	{IBV_QPT_XRC_RECV, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT},
	{IBV_QPT_RAW_PACKET, IBV_QPS_INIT, IBV_QP_PORT},
};

static void unheard_needs(struct tb *tb, struct tb_end *e, const struct drv_device_attr *dev)
{
	const struct drv_srq_init srq_init = {.max_wr = 4, .max_sge = 1};
	struct drv_xrcd *xrcd = new_xrcd(e);
	struct drv_qp_attr attr = widest(e, dev);
	struct drv_qp *x = NULL;
	struct drv_srq *srq;

	must(drv_srq_create(e->pd, &srq_init, &srq));
	for_each_row(i, needs) {
		struct drv_qp_init init = small_of(e, needs[i].type);

		if (needs[i].to == IBV_QPS_INIT) {
			if (x)
				destroy_qp(x);
			init.xrcd = xrcd;
			/* XRC has SRQs by their numbers, so this one means nothing */
			init.srq = init.cap.max_recv_wr ? NULL : srq;
			must(drv_qp_create(e->pd, &init, &x));
		}
		if (!still_right())
			return;
		attr.qp_state = needs[i].to;
		for (unsigned bit = 1; bit <= needs[i].needed; bit <<= 1) {
			if (!(needs[i].needed & bit))
				continue;
			name_row("type %u to state %u without 0x%x", needs[i].type, needs[i].to,
				 bit);
			unheard(-EINVAL,
				drv_qp_modify(x, &attr, (needs[i].needed & ~bit) | IBV_QP_STATE));
		}
		name_row("type %u to state %u", needs[i].type, needs[i].to);
		if (needs[i].type != IBV_QPT_RAW_PACKET)
			must(drv_qp_modify(x, &attr, needs[i].needed | IBV_QP_STATE));
		attr.qkey++;
		if (needs[i].type == IBV_QPT_UD && needs[i].to == IBV_QPS_RTS)
			must(drv_qp_modify(x, &attr, IBV_QP_QKEY));
	}
	destroy_qp(x);
	must(drv_srq_destroy(srq));
	must(drv_xrcd_free(xrcd));
}

SCENARIO(limits_unheard, "a call whose arguments are wrong is refused before it gives a command",
	 .of_mlx4 = "commands")
{
	struct drv_device_attr dev;

	must(drv_query_device(a->dev, &dev));
	unheard_queues(tb, a, &dev);
	unheard_queue_pairs(tb, a, &dev);
	unheard_needs(tb, a, &dev);
	unheard_regions(tb, a);
	unheard_ports(tb, a, &dev);
	unheard_steps(tb, a, &dev);
	unheard_largest(tb, a);
}
