/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of the transport over a fake driver, for unit tests. No thread runs: rig_run() makes the
 * steps of the send engine and the timer. What is sent is collected; rig_give() is a packet that
 * comes. Include it once, in the file of the test.
 */
#ifndef HOST_DRIVER_RVT_TESTS_RVT_RIG_H
#define HOST_DRIVER_RVT_TESTS_RVT_RIG_H

#include "host_driver/mlx4/connect.h"
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_SENT = 64, RIG_MEMORY = 1 << 16, RIG_LID = 5, RIG_PEER_LID = 9, RIG_PEER_QPN = 0x77 };

#define RIG_GUID UINT64_C(0x0011750000000001)

struct rig {
	struct platform p;
	struct platform_ops ops;
	uint64_t now_ps;
	struct drv_device *dev;
	/* what the driver was asked */
	struct rvt_packet *sent[RIG_SENT];
	unsigned n_sent, tries, done, flushes;
	bool full; /* do_send() says -EAGAIN */
	bool hold; /* packets stay in send buffers until rig_leave() */
	enum rvt_link_command link;
	uint32_t next_qpn; /* of make_qpn */
	enum ibv_mtu mtu;
	char description[64];
	struct drv_event event;
	unsigned events;
	/* objects */
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_mr *mr;
	_Alignas(4096) uint8_t memory[RIG_MEMORY];
};

static struct rig rig;

static inline void rig_must_at(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %d\n", what, rc);
	abort();
}

#define rig_must(call) rig_must_at(call, #call)

/* --- the platform --- */

static uint64_t rig_now(struct platform *p)
{
	return rig.now_ps;
}

static void rig_sleep(struct platform *p, uint64_t ps)
{
	rig.now_ps += ps;
}

static void rig_cpu(struct platform *p, uint64_t ps)
{
}

static struct platform_waitq *rig_waitq(struct platform *p)
{
	return (struct platform_waitq *)(void *)&rig;
}

static void rig_waitq_end(struct platform *p, struct platform_waitq *q)
{
}

static bool rig_waitq_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	if (deadline_ps != UINT64_MAX)
		rig.now_ps = deadline_ps;
	return false;
}

static void *rig_memory(struct platform *p, uint64_t bus, size_t bytes)
{
	return bus < RIG_MEMORY ? rig.memory + bus : NULL;
}

static bool rig_trace(struct platform *p)
{
	return false;
}

/* --- the driver --- */

static void rig_leave(void)
{
	for (unsigned i = rig.done; i < rig.n_sent; i++, rig.done++)
		rig.sent[i]->done(rig.sent[i], RVT_SENT_OK);
}

static int rig_do_send(struct drv_device *dev, unsigned port, struct rvt_packet *packet)
{
	rig.tries++;
	if (rig.full || rig.n_sent == RIG_SENT)
		return -EAGAIN;
	rig.sent[rig.n_sent++] = packet;
	return 0;
}

static void rig_flush_qp(struct drv_device *dev, uint32_t qpn)
{
	rig.flushes++;
	for (unsigned i = rig.done; i < rig.n_sent; i++, rig.done++)
		rig.sent[i]->done(rig.sent[i], RVT_SENT_FLUSHED);
}

static int rig_query_port(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	*attr = (struct drv_port_attr){.state = IBV_PORT_ACTIVE, .lid = RIG_LID};
	return 0;
}

static int rig_set_link(struct drv_device *dev, unsigned port, enum rvt_link_command command)
{
	rig.link = command;
	return 0;
}

static int rig_get_lid(struct drv_device *dev, unsigned port, unsigned *lid, unsigned *lmc)
{
	*lid = RIG_LID;
	*lmc = 0;
	return 0;
}

static enum ibv_mtu rig_qp_mtu(struct drv_device *dev, unsigned port, unsigned sl,
			       enum ibv_mtu wanted)
{
	return wanted < rig.mtu ? wanted : rig.mtu;
}

static inline int rig_make_qpn(struct drv_device *dev, enum ibv_qp_type type, unsigned port,
			       uint32_t *qpn)
{
	*qpn = rig.next_qpn;
	return 0;
}

/* Answers what the transport reads of its port. */
static int rig_process_mad(struct drv_device *dev, unsigned port,
			   const struct drv_mad_source *source, const void *in, void *out)
{
	struct smp smp;

	memcpy(&smp, in, sizeof(smp));
	memset(smp_data_ptr(&smp), 0, smp_data_size);
	switch (mad_hdr_get_attr_id(smp_hdr(&smp))) {
	case SMP_ATTR_PKEY_TABLE:
		pkey_table_set((struct pkey_table *)(void *)smp_data_ptr(&smp), 0, PKEY_DEFAULT);
		break;
	case SMP_ATTR_GUID_INFO:
		guid_info_set((struct guid_info *)(void *)smp_data_ptr(&smp), 0, RIG_GUID);
		break;
	case SMP_ATTR_PORT_INFO:
		port_info_set_state((struct port_info *)(void *)smp_data_ptr(&smp),
				    PORT_STATE_ACTIVE);
		port_info_set_neighbor_mtu((struct port_info *)(void *)smp_data_ptr(&smp), rig.mtu);
		break;
	default:
		break;
	}
	mad_hdr_set_method(smp_hdr(&smp), MAD_METHOD_GET_RESP);
	memcpy(out, &smp, sizeof(smp));
	return 0;
}

static void rig_node_desc(struct drv_device *dev, const char text[64])
{
	memcpy(rig.description, text, sizeof(rig.description));
}

static struct drv_leftovers rig_remove(struct drv_device *dev)
{
	return rvt_unregister(dev);
}

static const struct drv_ops rig_own = {.remove = rig_remove, .abandon = rig_remove};

static const struct rvt_hooks rig_hooks = {
	.query_port_state = rig_query_port,
	.set_link_state = rig_set_link,
	.get_lid = rig_get_lid,
	.qp_mtu = rig_qp_mtu,
	.flush_qp = rig_flush_qp,
	.do_send = rig_do_send,
	.process_mad = rig_process_mad,
	.node_desc_changed = rig_node_desc,
};

static const struct rvt_limits rig_limits = {
	.attr = {.ports = 1,
		 .max_qp_wr = 256,
		 .max_cqe = 1024,
		 .max_srq_wr = 256,
		 .max_rd_atomic = 16,
		 .max_dest_rd_atomic = 16,
		 .comp_vectors = 1,
		 .gids = {0, 1},
		 .pkeys = {0, 2}},
	.max_mtu = IBV_MTU_4096,
};

static void rig_event(void *arg, const struct drv_event *event)
{
	rig.event = *event;
	rig.events++;
}

/* --- steps --- */

/* What is due is done: packets are made, and leave at once unless they are held. */
static inline void rig_run(void)
{
	struct rvt_device *dev = rvt_of(rig.dev);

	rvt_timer_step(dev);
	for (unsigned i = 0; i < 1000; i++) {
		const bool more = rvt_engine_step(&dev->ports[1]);

		if (!rig.hold)
			rig_leave();
		if (!more)
			return;
	}
}

static inline void rig_start_with(const struct drv_ops *own, const struct rvt_hooks *hooks)
{
	struct rvt_device *dev;
	char err[128] = "";

	memset(&rig, 0, sizeof(rig));
	rig.ops = (struct platform_ops){.now_ps = rig_now,
					.sleep_ps = rig_sleep,
					.cpu_ps = rig_cpu,
					.waitq_create = rig_waitq,
					.waitq_destroy = rig_waitq_end,
					.waitq_wait = rig_waitq_wait,
					.waitq_wake_all = rig_waitq_end,
					.bus_memory = rig_memory,
					.trace_on = rig_trace};
	rig.p.ops = &rig.ops;
	rig.mtu = IBV_MTU_1024;
	if (rvt_register(&rig.p, own, hooks, &rig_limits, &rig, &rig.dev, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	dev = rvt_of(rig.dev);
	dev->packets = calloc(RVT_PACKETS, sizeof(*dev->packets));
	for (unsigned i = 0; i < RVT_PACKETS; i++)
		drv_list_add(&dev->free_packets[0], &dev->packets[i].link);
	rig_must(rvt_port_refresh(&dev->ports[1]));
	drv_event_register(rig.dev, rig_event, NULL);
	rig_must(drv_pd_alloc(rig.dev, &rig.pd));
	rig_must(drv_cq_create(rig.dev, 256, 0, &rig.cq));
	rig_must(drv_mr_reg_iova(rig.pd, rig.memory, RIG_MEMORY, 0,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
				 &rig.mr));
}

static inline int rig_start(void **state)
{
	rig_start_with(&rig_own, &rig_hooks);
	return 0;
}

static inline int rig_end(void **state)
{
	drv_remove(rig.dev);
	return 0;
}

/* A queue pair in RTS. */
static inline struct drv_qp *rig_qp(enum ibv_qp_type type)
{
	const struct drv_qp_init init = {.type = type,
					 .send_cq = rig.cq,
					 .recv_cq = rig.cq,
					 .cap = {.max_send_wr = 32,
						 .max_recv_wr = 32,
						 .max_send_sge = 2,
						 .max_recv_sge = 2,
						 .max_inline_data = 64},
					 .sq_sig_all = true};
	struct drv_rc_path path = drv_rc_path_default(RIG_PEER_LID, RIG_PEER_QPN);
	struct drv_qp *qp;

	rig_must(drv_qp_create(rig.pd, &init, &qp));
	if (type == IBV_QPT_UD)
		rig_must(drv_ud_qp_start(qp, 1, 0, 0x1234, 0));
	else
		rig_must(drv_qp_connect(qp, &path));
	return qp;
}

static inline int rig_post(struct drv_qp *qp, enum ibv_wr_opcode opcode, uint32_t len)
{
	const struct drv_sge sge = {.length = len, .lkey = drv_mr_lkey(rig.mr)};
	const struct drv_send_wr wr = {.wr_id = 7,
				       .opcode = opcode,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .remote_addr = 0x2000,
				       .rkey = 0x99};

	return drv_post_send(qp, &wr, NULL);
}

static inline void rig_post_recv(struct drv_qp *qp, uint64_t addr, uint32_t len)
{
	const struct drv_sge sge = {.addr = addr, .length = len, .lkey = drv_mr_lkey(rig.mr)};
	const struct drv_recv_wr wr = {.wr_id = 8, .sg_list = &sge, .num_sge = 1};

	rig_must(drv_post_recv(qp, &wr, NULL));
}

static inline const struct bth *rig_bth(unsigned i)
{
	return (const struct bth *)(rig.sent[i]->bytes + LRH_BYTES);
}

/* A packet of the peer to a queue pair of the rig, as its own transport would build it. */
static inline void rig_give(struct drv_qp *qp, struct rvt_headers h, const void *payload,
			    uint32_t len)
{
	static struct rvt_packet packet;
	const struct drv_ah_attr ah = {.dlid = RIG_LID};
	uint32_t headers;

	h.ah = &ah;
	h.pkey = PKEY_DEFAULT;
	h.dqpn = drv_qp_num(qp);
	memcpy(rvt_build(rvt_qp_of(qp), &packet, &h, len), payload ? payload : rig.memory, len);
	headers = bth_op_header_bytes(bth_op_find(h.opcode), false);
	lrh_set_slid((struct lrh *)packet.bytes, RIG_PEER_LID);
	rvt_receive(rig.dev, 1, packet.bytes, headers, packet.bytes + headers,
		    packet.len - headers);
}

#endif
