/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of address resolution: two hosts with kernel verbs on Ethernet ports, and the addresses of
 * their network interfaces. */
#ifndef TESTBENCH_SCENARIOS_ETHERNET_NEIGHBOURS_H
#define TESTBENCH_SCENARIOS_ETHERNET_NEIGHBOURS_H

#include "host_driver/net/net.h"
#include "host_driver/net/note.h"
#include "model/engine/wire/roce_crc.h"
#include "testbench/kernel_verbs.h"
#include "testbench/services.h"

enum { NET_LEN = 64, NET_HOPS = 64, NET_PREFIX = 120 };

#define NET_SETTINGS(roce) "hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=" roce

/* 11.0.1.1 of host a or 11.0.1.2 of host b, as each has it after bring-up. */
static inline struct net_address ipv4_of(const struct tb_end *end)
{
	return (struct net_address){
		.ip = {[10] = 0xff, 0xff, 11, 0, 1, (uint8_t)(end->host_index + 1)},
		.prefix = NET_PREFIX,
		.vlan = VLAN_NONE};
}

static inline enum neigh_state neighbour_of(const struct tb_end *end, const struct tb_end *peer)
{
	return net_neighbour(end->net, peer->gid, VLAN_NONE);
}

/* The address of the other end, from this GID to that one. */
static inline struct rdma_ah_attr ah_between(int from_index, const uint8_t to[DRV_GID_BYTES])
{
	struct rdma_ah_attr ah = {.port_num = 1, .ah_flags = IB_AH_GRH};

	ah.grh.sgid_index = (uint8_t)from_index;
	memcpy(ah.grh.dgid.raw, to, DRV_GID_BYTES);
	return ah;
}

/* The entry of the end's GID table with its address in this version of RoCE. */
static inline int gid_index(const struct tb_end *end, const struct net_address *own,
			    unsigned version)
{
	return drv_eth_gid_find(end->dev, 1, own->ip, version, own->vlan);
}

/* A frame comes to the end that says: this address has that MAC. `asked`: as an answer. */
static inline void inject_note(struct tb *tb, const struct tb_end *to, const uint8_t *ip,
			       const uint8_t *mac, bool asked)
{
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES];
	struct note n = {.solicited = asked};
	size_t len;

	memcpy(n.about, ip, DRV_GID_BYTES);
	memcpy(n.other, asked ? to->gid : ip, DRV_GID_BYTES);
	memcpy(n.mac, mac, MAC_BYTES);
	len = note_write(&n, to->mac, VLAN_NONE, frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	inject_bytes((struct tb_end *)to, frame, len + FCS_BYTES);
}

static inline void post_pair(struct tb *tb, struct kv *x, struct kv *y, uint64_t wr_id)
{
	struct ib_sge sge = kv_sge(x, 0, NET_LEN), into = kv_sge(y, 4096, NET_LEN);
	const struct ib_recv_wr recv = {.wr_id = wr_id, .sg_list = &into, .num_sge = 1};
	const struct ib_send_wr send = {.wr_id = wr_id,
					.sg_list = &sge,
					.num_sge = 1,
					.opcode = IB_WR_SEND,
					.send_flags = IB_SEND_SIGNALED};

	must(ib_post_recv(y->qp, &recv, NULL));
	must(ib_post_send(x->qp, &send, NULL));
}

/* x sends, y receives. */
static inline void pass_one(struct tb *tb, struct kv *x, struct kv *y, uint64_t wr_id)
{
	post_pair(tb, x, y, wr_id);
	kv_wait(x, wr_id, IB_WC_SUCCESS);
	kv_wait(y, wr_id, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + 4096, NET_LEN);
}

#endif
