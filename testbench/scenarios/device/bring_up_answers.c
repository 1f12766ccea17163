/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that say other things of themselves than ours does. Each answer of bring-up is changed on its way
 * to the driver, so that no two of its numbers are the same: the driver keeps to each one, tells it to its
 * users, and refuses devices that it cannot drive. With the answers of one device alone, a number in
 * another's place shows nowhere.
 */
/* behaviours: HCA-answers */
#include "host_driver/mlx4/connect.h"
#include "testbench/scenarios/device/other_device.h"

enum {
	LOG_QPS = 14,
	LOG_CQS = 13,
	LOG_SRQS = 12,
	LOG_MPTS = 15,
	LOG_MTTS = 17,
	LOG_SRA = 3,
	SOURCE_DEPTH = 1 << LOG_SRA,
	DEST_DEPTH = 16, /* entries of RDMARC for each queue pair */
	VECTORS = 3,
	EQS_MOST = 128 - 4, /* four are reserved */
	/* Linux mlx4_ib_query_device: of 2048 bytes and one */
	SPARE_WQES = 33,
	ERROR_WORDS = 16,
};

/* --- a device whose numbers all differ --- */

static void firmware_named(struct query_fw *q)
{
	query_fw_set_major(q, 3);
	query_fw_set_minor(q, 41);
	query_fw_set_subminor(q, 592);
	query_fw_set_log_max_cmd(q, 2);
}

static void caps_differ(struct dev_cap *d)
{
	dev_cap_set_log_max_srq_wqes(d, 9);
	dev_cap_set_log_max_qp_wqes(d, 11);
	dev_cap_set_log_rsvd_qps(d, 10);
	dev_cap_set_log_rsvd_srqs(d, 8);
	dev_cap_set_log_max_cqes(d, 17);
	dev_cap_set_log_rsvd_cqs(d, 9);
	dev_cap_set_log_rsvd_eqs(d, 0);
	dev_cap_set_log_rsvd_mtts(d, 11);
	dev_cap_set_log_rsvd_mpts(d, 7);
	dev_cap_set_log_max_sra(d, LOG_SRA);
	dev_cap_set_log_max_rra(d, 5);
	dev_cap_set_ack_delay(d, 19);
	dev_cap_set_log_max_msg(d, 29);
	dev_cap_set_max_rq_sge(d, 23);
	dev_cap_set_bf(d, 0);
	dev_cap_set_rsvd_lkey(d, 0x00a1b2c3);
	dev_cap_set_flags(d, dev_cap_get_flags(d) &
				     ~(cap_bit(DEV_CAP_XRC) | cap_bit(DEV_CAP_UD_AV_PORT) |
				       cap_bit(DEV_CAP_MEM_WINDOW)));
	dev_cap_set_bmme_flags(d, dev_cap_get_bmme_flags(d) & ~(uint32_t)cap_bit(BMME_TYPE2_WIN));
}

static void ports_differ(struct query_port *q, unsigned port)
{
	query_port_set_log_gids(q, port == 1 ? 1 : 2);
	query_port_set_log_pkeys(q, port == 1 ? 4 : 3);
}

/* The second port has no extended speeds, whatever the bits say. */
static void infos_differ(struct port_info *pi, unsigned port)
{
	port_info_set_gid_prefix(pi, 0x0102030405060700 + port);
	port_info_set_state(pi, port == 1 ? IBV_PORT_ARMED : IBV_PORT_INIT);
	port_info_set_phys_state(pi, port == 1 ? PORT_PHYS_TRAINING : PORT_PHYS_RECOVERY);
	port_info_set_mtu_cap(pi, port == 1 ? IBV_MTU_2048 : IBV_MTU_4096);
	port_info_set_neighbor_mtu(pi, port == 1 ? IBV_MTU_512 : IBV_MTU_1024);
	port_info_set_lid(pi, 0x1200 + port);
	port_info_set_lmc(pi, 2 + port);
	port_info_set_sm_lid(pi, 0x3400 + port);
	port_info_set_sm_sl(pi, 8 + port);
	port_info_set_width_active(pi, LINK_WIDTH_4X);
	port_info_set_speed_active(pi, port == 1 ? 1 : 2);
	port_info_set_ext_speed_active(pi, port);
	port_info_set_vl_cap(pi, port == 1 ? 3 : 2);
	port_info_set_oper_vls(pi, port == 1 ? 2 : 1);
	port_info_set_subnet_timeout(pi, 20 + port);
	port_info_set_resp_time(pi, 10 + port);
	port_info_set_pkey_violations(pi, 0x100 + port);
	port_info_set_qkey_violations(pi, 0x200 + port);
	port_info_set_mkey_violations(pi, 0x400 + port);
	port_info_set_cap_mask(pi, port == 1 ? 0x01020304 | 1u << PORT_CAP_EXT_SPEEDS : 0x05060708);
}

static void node_named(struct node_info *n)
{
	node_info_set_sys_guid(n, 0x1111222233334444);
	node_info_set_node_guid(n, 0x5555666677778888);
	node_info_set_port_guid(n, 0x9999aaaabbbbcccc);
	node_info_set_device_id(n, 0x1234);
	node_info_set_revision(n, 0x56789abc);
	node_info_set_vendor_id(n, 0xdef012);
}

static void limits_told(struct tb *tb, struct drv_device *dev)
{
	struct drv_device_attr attr;
	struct dev_cap cap = {0};

	caps_differ(&cap);
	must(drv_query_device(dev, &attr));
	expect_equal(attr.node_guid, 0x5555666677778888);
	expect_equal(attr.sys_image_guid, 0x1111222233334444);
	expect_equal(attr.vendor_id, 0xdef012);
	expect_equal(attr.device_id, 0x1234);
	expect_equal(attr.revision, 0x56789abc);
	expect_true(!strcmp(attr.fw_version, "3.41.592"));
	expect_equal(attr.ports, 2);
	expect_equal(attr.max_qp_wr, (1u << 11) - SPARE_WQES);
	expect_equal(attr.max_recv_sge, 23);
	expect_equal(attr.max_cq, (1u << LOG_CQS) - (1u << 9));
	expect_equal(attr.max_cqe, (1u << 17) - 1);
	expect_equal(attr.max_mr, (1u << LOG_MPTS) - (1u << 7));
	expect_equal(attr.max_srq, (1u << LOG_SRQS) - (1u << 8));
	expect_equal(attr.max_srq_wr, (1u << 9) - 1);
	expect_equal(attr.max_xrcd, 0);
	expect_equal(attr.max_rd_atomic, SOURCE_DEPTH);
	expect_equal(attr.local_ack_delay, 19);
	expect_equal(attr.comp_vectors, VECTORS);
	expect_equal(attr.max_message, UINT64_C(1) << 29);
	expect_equal(attr.reserved_lkey, 0x00a1b2c3);
	expect_true(!(attr.flags & (cap_bit(DEV_CAP_XRC) | cap_bit(DEV_CAP_MEM_WINDOW))));
	expect_true(!(attr.bmme_flags & (uint32_t)cap_bit(BMME_TYPE2_WIN)));
	expect_equal(attr.gids[1], 2);
	expect_equal(attr.gids[2], 4);
	expect_equal(attr.pkeys[1], 16);
	expect_equal(attr.pkeys[2], 8);
}

/* Each member of a port's attributes is that of the port. */
static void infos_told(struct tb *tb, struct drv_device *dev)
{
	for (unsigned port = 1; port <= 2 && still_right(); port++) {
		struct drv_port_attr attr;
		uint8_t gid[DRV_GID_BYTES];

		name_row("port %u", port);
		must(drv_query_port(dev, port, &attr));
		expect_equal(attr.state, port == 1 ? IBV_PORT_ARMED : IBV_PORT_INIT);
		expect_equal(attr.phys_state, port == 1 ? PORT_PHYS_TRAINING : PORT_PHYS_RECOVERY);
		expect_equal(attr.max_mtu, port == 1 ? IBV_MTU_2048 : IBV_MTU_4096);
		expect_equal(attr.active_mtu, port == 1 ? IBV_MTU_512 : IBV_MTU_1024);
		expect_equal(attr.lid, 0x1200 + port);
		expect_equal(attr.lmc, 2 + port);
		expect_equal(attr.sm_lid, 0x3400 + port);
		expect_equal(attr.sm_sl, 8 + port);
		expect_equal(attr.active_width, LINK_WIDTH_4X);
		expect_equal(attr.active_speed, port == 1 ? 1 : 2);
		expect_equal(attr.active_ext_speed, port == 1 ? 1 : 0);
		expect_equal(attr.vl_cap, port == 1 ? 3 : 2);
		expect_equal(attr.oper_vls, port == 1 ? 2 : 1);
		expect_equal(attr.subnet_timeout, 20 + port);
		expect_equal(attr.bad_pkeys, 0x100 + port);
		expect_equal(attr.bad_qkeys, 0x200 + port);
		expect_equal(attr.cap_mask,
			     port == 1 ? 0x01020304 | 1u << PORT_CAP_EXT_SPEEDS : 0x05060708);
		expect_true(!attr.ethernet);
		must(drv_query_gid(dev, port, 0, gid));
		expect_equal(be64_load(gid), 0x0102030405060700 + port);
		expect_true(!memcmp(gid, attr.gid0, sizeof(gid)));
	}
}

/* Each entry of a table can be asked for, and none behind it. */
static void tables_end(struct tb *tb, struct drv_device *dev)
{
	for (unsigned port = 1; port <= 2 && still_right(); port++) {
		const unsigned gids = port == 1 ? 2 : 4, pkeys = port == 1 ? 16 : 8;
		struct drv_port_attr attr;
		uint8_t gid[DRV_GID_BYTES];
		uint16_t pkey;

		name_row("port %u", port);
		must(drv_query_port(dev, port, &attr));
		expect_equal(attr.gid_count, gids);
		expect_equal(attr.pkey_count, pkeys);
		must(drv_query_gid(dev, port, gids - 1, gid));
		must_fail(-EINVAL, drv_query_gid(dev, port, gids, gid));
		must(drv_query_pkey(dev, port, pkeys - 1, &pkey));
		must_fail(-EINVAL, drv_query_pkey(dev, port, pkeys, &pkey));
	}
}

/* The first objects have the numbers behind those that the device keeps. */
/* How deep the READs of a queue pair may be is the device's to say for those that leave (SRA), and the table's
 * for those that come in. */
static void depths(struct tb *tb, struct drv_pd *pd, struct drv_cq *cq)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = cq,
					 .recv_cq = cq,
					 .cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .path_mtu = IBV_MTU_512,
				   .ah_attr = {.dlid = 1, .port_num = 1},
				   .dest_qp_num = 1,
				   .max_dest_rd_atomic = DEST_DEPTH + 1,
				   .max_rd_atomic = SOURCE_DEPTH + 1};
	const unsigned rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const unsigned rts = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	struct drv_qp *qp = NULL;

	must(drv_qp_create(pd, &init, &qp));
	if (!still_right())
		return;
	must(drv_qp_modify(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	must_fail(-EINVAL, drv_qp_modify(qp, &attr, rtr));
	attr.max_dest_rd_atomic = DEST_DEPTH;
	must(drv_qp_modify(qp, &attr, rtr));
	attr.qp_state = IBV_QPS_RTS;
	must_fail(-EINVAL, drv_qp_modify(qp, &attr, rts));
	attr.max_rd_atomic = SOURCE_DEPTH;
	must(drv_qp_modify(qp, &attr, rts));
	must(drv_qp_destroy(qp));
}

static void objects(struct tb *tb, struct drv_device *dev)
{
	struct drv_srq_init srq_init = {.max_wr = 3, .max_sge = 1};
	struct drv_cq *cq = NULL;
	struct drv_srq *srq = NULL;
	struct drv_xrcd *xrcd = NULL;
	struct drv_pd *pd = NULL;

	must(drv_pd_alloc(dev, &pd));
	must(drv_cq_create(dev, 3, 0, &cq));
	must(drv_srq_create(pd, &srq_init, &srq));
	if (!still_right())
		return;
	expect_that(drv_cq_num(cq), >=, 1u << 9);
	expect_that(drv_srq_num(srq), >=, 1u << 8);
	must_fail(-EOPNOTSUPP, drv_xrcd_alloc(dev, &xrcd)); /* it has no XRC */
	must(drv_srq_destroy(srq));
	depths(tb, pd, cq);
	must(drv_cq_destroy(cq));
	must(drv_pd_free(pd));
}

static void all_differ(struct tb *tb, struct tb_end *a)
{
	static const struct device d = {"all numbers differ", firmware_named, caps_differ,
					ports_differ,         node_named,     infos_differ};
	const struct drv_options options = {.comp_vectors = VECTORS,
					    .log_eq_size = 8,
					    .log_qps = LOG_QPS,
					    .log_cqs = LOG_CQS,
					    .log_srqs = LOG_SRQS,
					    .log_mpts = LOG_MPTS,
					    .log_mtts = LOG_MTTS};
	struct drv_device *dev;

	name_row("%s", d.name);
	must(come_up(a, &d, &options, &dev));
	if (!still_right())
		return;
	limits_told(tb, dev);
	infos_told(tb, dev);
	tables_end(tb, dev);
	objects(tb, dev);
	go(tb, a, dev);
}

/* --- devices that the driver takes --- */

static void eqs_few(struct dev_cap *d)
{
	dev_cap_set_log_max_eqs(d, 3);
	dev_cap_set_log_rsvd_eqs(d, 1);
}

static void eqs_reserved(struct dev_cap *d)
{
	dev_cap_set_log_max_eqs(d, 5);
	dev_cap_set_log_rsvd_eqs(d, 4);
}

static void uars_reserved(struct dev_cap *d)
{
	dev_cap_set_log_rsvd_eqs(d, 3);
	dev_cap_set_num_rsvd_uars(d, 5);
}

static void commands_many(struct query_fw *q)
{
	query_fw_set_log_max_cmd(q, 8);
}

static void nothing(struct dev_cap *d)
{
}

/* Nobody has asked for the agents of the ports, and other ports have none at any time. */
static void no_agents(struct tb *tb, struct drv_device *dev)
{
	static const unsigned ports[] = {1, 2, 0, 3, 200};
	static const uint8_t mad[MAD_BYTES];
	const struct drv_mad_addr to = {.dlid = 1, .qpn = QPN_GSI, .qkey = QKEY_GSI};

	expect_true(!dev->agents[1]);
	for_each_row(i, ports)
		must_fail(-ENODEV, drv_mad_send(dev, ports[i], QPN_GSI, &to, mad));
	must_fail(-EINVAL, drv_port_up(dev, 0));
	must_fail(-EINVAL, drv_port_up(dev, 3));
	must_fail(-EINVAL, drv_port_down(dev, 3));
}

/* How many event queues for completions there are: as many as are asked for, if the device, the driver and the
 * host have as many. */
static void vectors(struct tb *tb, struct tb_end *a)
{
	static const struct {
		struct device device;
		unsigned wanted, got, platform;
	} rows[] = {
		{{"the smallest number", .caps = nothing}, 0, 1, 2048},
		{{"one", .firmware = commands_many, .caps = nothing}, 1, 1, 2048},
		{{"few EQs", .caps = eqs_few}, 7, 3, 2048},
		{{"just as many EQs", .caps = eqs_few}, 3, 3, 2048},
		{{"many reserved EQs", .caps = eqs_reserved}, 31, 15, 2048},
		{{"many reserved pages", .caps = uars_reserved}, 5, 5, 2048},
		{{"as many as the driver has", .caps = nothing}, 300, EQS_MOST - 1, 2048},
		{{"a host with few", .caps = nothing}, 9, 4, 5},
		{{"a host with two", .caps = nothing}, 9, 1, 2},
	};
	const unsigned real = a->platform->msix_vectors;

	for_each_row(i, rows) {
		const struct drv_options options = {.comp_vectors = rows[i].wanted,
						    .log_eq_size = 8,
						    .no_ports = true,
						    .no_blueflame = i % 2 != 0};
		struct drv_device_attr attr;
		struct drv_device *dev;

		name_row("%s", rows[i].device.name);
		a->platform->msix_vectors = rows[i].platform;
		must(come_up(a, &rows[i].device, &options, &dev));
		if (!still_right())
			break;
		/* only the queues of completions are as large as was asked for */
		for (unsigned n = 0; n < dev->n_eqs; n++)
			expect_equal(dev->eqs[n].entries,
				     1u << (n ? options.log_eq_size : DRV_ASYNC_EQ_LOG_SIZE));
		no_agents(tb, dev);
		must(drv_query_device(dev, &attr));
		expect_equal(attr.comp_vectors, rows[i].got);
		go(tb, a, dev);
	}
	a->platform->msix_vectors = real;
}

/* --- tables of different sizes --- */

static struct {
	struct drv_srq *limit;
	struct drv_qp *qp;
	unsigned events;
} heard;

static void hears(void *arg, const struct drv_event *event)
{
	heard.events++;
	if (event->type == IBV_EVENT_SRQ_LIMIT_REACHED)
		heard.limit = event->srq;
	if (event->type == IBV_EVENT_SQ_DRAINED)
		heard.qp = event->qp;
}

static void nothing_small(struct dev_cap *d)
{
	dev_cap_set_log_rsvd_cqs(d, 6);
	dev_cap_set_log_rsvd_srqs(d, 6);
}

/* An SRQ has a number that no CQ has, and is told of by that number. */
static void srq_beyond_cqs(struct tb *tb, struct tb_end *a)
{
	static const struct device d = {.name = "fewer CQs than SRQs", .caps = nothing_small};
	const struct drv_options options = {
		.log_eq_size = 8, .no_ports = true, .log_cqs = 8, .log_srqs = 12};
	const struct drv_srq_init init = {.max_wr = 7, .max_sge = 1};
	struct drv_device *dev;
	struct drv_srq *srq = NULL;
	struct drv_pd *pd = NULL;

	name_row("%s", d.name);
	must(come_up(a, &d, &options, &dev));
	if (!still_right())
		return;
	heard.limit = NULL;
	heard.events = 0;
	drv_event_register(dev, hears, NULL);
	dev->srqs.last = 0x5a7;
	must(drv_pd_alloc(dev, &pd));
	must(drv_srq_create(pd, &init, &srq));
	if (!still_right())
		return;
	expect_equal(drv_srq_num(srq) & (dev->srqs.size - 1), 0x5a7);
	/* it has no receive, so fewer than the limit */
	must(drv_srq_arm(srq, 3));
	pass_time(CFG_MS(1));
	expect_equal(heard.events, 1);
	expect_true(heard.limit == srq);
	drv_event_register(dev, NULL, NULL);
	must(drv_srq_destroy(srq));
	must(drv_pd_free(pd));
	go(tb, a, dev);
}

/* A queue pair has a number that no CQ has. */
static void qp_beyond_cqs(struct tb *tb, struct tb_end *a)
{
	static const struct device d = {.name = "fewer CQs than queue pairs",
					.caps = nothing_small};
	const struct drv_options options = {
		.log_eq_size = 8, .no_ports = true, .log_cqs = 8, .log_qps = 12};
	struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.cap = {.max_send_wr = 3, .max_recv_wr = 3, .max_send_sge = 1, .max_recv_sge = 1}};
	const struct drv_rc_path path = drv_rc_path_default(5, 0x777);
	struct drv_device *dev;
	struct drv_cq *cq = NULL;
	struct drv_pd *pd = NULL;
	struct drv_qp *qp = NULL;

	name_row("%s", d.name);
	must(come_up(a, &d, &options, &dev));
	if (!still_right())
		return;
	heard.qp = NULL;
	heard.events = 0;
	drv_event_register(dev, hears, NULL);
	dev->qps.last = 0xa35;
	must(drv_pd_alloc(dev, &pd));
	must(drv_cq_create(dev, 7, 0, &cq));
	if (!still_right())
		return;
	init.send_cq = init.recv_cq = cq;
	must(drv_qp_create(pd, &init, &qp));
	if (!still_right())
		return;
	expect_equal(drv_qp_num(qp) & (dev->qps.size - 1), 0xa35);
	must(drv_qp_connect(qp, &path));
	must(drv_qp_modify(qp,
			   &(struct drv_qp_attr){.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1},
			   IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	pass_time(CFG_MS(1));
	expect_equal(heard.events, 1);
	expect_true(heard.qp == qp);
	drv_event_register(dev, NULL, NULL);
	must(drv_qp_destroy(qp));
	must(drv_cq_destroy(cq));
	must(drv_pd_free(pd));
	go(tb, a, dev);
}

/* --- an error buffer elsewhere --- */

enum { ERROR_BAR = 2, ERROR_AT = 0x7b40, ERROR_SIZE = 5, ERROR_WORD = 0x5a000000 };

static void errors_elsewhere(struct query_fw *q)
{
	query_fw_set_err_buf_bar(q, ERROR_BAR / 2);
	query_fw_set_err_buf(q, ERROR_AT);
	query_fw_set_err_buf_size(q, ERROR_SIZE);
}

static void mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	if (bar == ERROR_BAR && offset >= ERROR_AT)
		be32_store(bytes, ERROR_WORD + (uint32_t)(offset - ERROR_AT));
	else
		other.real_ops->mmio_read(p, bar, offset, bytes, size);
}

static void error_buffer(struct tb *tb, struct tb_end *a)
{
	static const struct device d = {.name = "an error buffer elsewhere",
					.firmware = errors_elsewhere};
	const struct drv_options options = {.log_eq_size = 8, .no_ports = true};
	uint32_t words[ERROR_WORDS];
	struct drv_device *dev;

	name_row("%s", d.name);
	must(come_up(a, &d, &options, &dev));
	if (!still_right())
		return;
	other.ops.mmio_read = mmio_read;
	memset(words, UINT8_MAX, sizeof(words));
	must_fail(-EIO, drv_catas_check(dev, words));
	for (unsigned i = 0; i < ERROR_WORDS && still_right(); i++)
		expect_equal(words[i], i < ERROR_SIZE ? ERROR_WORD + 4 * i : 0);
	must_fail(-EIO, drv_catas_check(dev, NULL));
	other.ops.mmio_read = other.real_ops->mmio_read;
	go(tb, a, dev);
}

/* --- devices that it does not --- */

static void revision_old(struct query_fw *q)
{
	query_fw_set_cmd_if_rev(q, HCR_CMD_IF_REV - 1);
}

static void revision_new(struct query_fw *q)
{
	query_fw_set_cmd_if_rev(q, HCR_CMD_IF_REV + 1);
}

static void ports_none(struct dev_cap *d)
{
	dev_cap_set_num_ports(d, 0);
}

static void ports_many(struct dev_cap *d)
{
	dev_cap_set_num_ports(d, DRV_PORTS_MAX + 1);
}

static void page_large(struct dev_cap *d)
{
	dev_cap_set_log_min_page(d, DRV_LOG_PAGE + 1);
}

static void mtts_large(struct dev_cap *d)
{
	dev_cap_set_mtt_size(d, 2 * sizeof(struct mtt_entry));
}

static void mtts_small(struct dev_cap *d)
{
	dev_cap_set_mtt_size(d, sizeof(struct mtt_entry) / 2);
}

static void icm_small(struct dev_cap *d)
{
	dev_cap_set_max_icm(d, 1u << 20);
}

static void refused(struct tb *tb, struct tb_end *a)
{
	static const struct {
		struct device device;
		int rc;
	} rows[] = {
		{{"commands of an older kind", .firmware = revision_old}, -ENODEV},
		{{"commands of a newer kind", .firmware = revision_new}, -ENODEV},
		{{"no port", .caps = ports_none}, -ENODEV},
		{{"too many ports", .caps = ports_many}, -ENODEV},
		{{"pages larger than the host's", .caps = page_large}, -ENODEV},
		{{"larger MTTs", .caps = mtts_large}, -ENODEV},
		{{"smaller MTTs", .caps = mtts_small}, -ENODEV},
		{{"no room for the tables", .caps = icm_small}, -ENOMEM},
	};
	const struct drv_options options = {.log_eq_size = 8};

	for_each_row(i, rows) {
		struct drv_device *dev;

		name_row("%s", rows[i].device.name);
		must_fail(rows[i].rc, come_up(a, &rows[i].device, &options, &dev));
		expect_equal(host_pages_used(a->host), 0);
		expect_equal(host_pages_mapped(a->host), 0);
	}
}

/* --- lanes --- */

/* Fewer lanes are tried only when there is no room for more. Source: Linux mlx4_SET_PORT */
static void fewer_lanes(struct tb *tb, struct tb_end *a)
{
	static const struct {
		const char *name;
		uint8_t status;
		unsigned times, tried;
		int rc;
	} rows[] = {{"room for all", 0, 0, 1, 0},
		    {"the limit once", HCR_STATUS_EXCEED_LIM, 1, 2, 0},
		    {"the size twice", HCR_STATUS_BAD_SIZE, 2, 3, 0},
		    {"the limit three times", HCR_STATUS_EXCEED_LIM, 3, 4, 0},
		    {"the size always", HCR_STATUS_BAD_SIZE, 4, 4, -ENOMEM},
		    {"another reason", HCR_STATUS_BAD_PARAM, 1, 1, -EINVAL}};
	static const struct device d = {.name = "nothing differs"};
	const struct drv_options options = {.log_eq_size = 8};

	for_each_row(i, rows) {
		struct drv_device *dev;

		name_row("%s", rows[i].name);
		other.n_lanes = 0;
		if (rows[i].times)
			fail_command(a, HCR_SET_PORT, rows[i].status, rows[i].times);
		must_fail(rows[i].rc, come_up(a, &d, &options, &dev));
		expect_equal(other.n_lanes, rows[i].tried);
		for (unsigned n = 0; n < other.n_lanes && still_right(); n++)
			expect_equal(other.lanes[n], 8 >> n);
		if (!rows[i].rc && still_right())
			go(tb, a, dev);
	}
	name_row("%s", "");
}

SCENARIO(bring_up_answers,
	 "devices that say other things of themselves: each number has its effect, and what "
	 "the driver cannot drive it refuses",
	 .bare = true, .of_mlx4 = "answers of commands",
	 .settings = {"sim.time_limit=0", "hca.ports=2", "hca.port1.type=ib", "hca.port2.type=ib",
		      "hca.msix_vectors=256", "hca.log_max_eq=8"})
{
	answers_begin(a);
	all_differ(tb, a);
	vectors(tb, a);
	srq_beyond_cqs(tb, a);
	qp_beyond_cqs(tb, a);
	error_buffer(tb, a);
	refused(tb, a);
	fewer_lanes(tb, a);
	answers_end(a);
}
