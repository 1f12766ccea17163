/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of packets: a device of which only its port's configuration and its pool of packets exist,
 * and packets from that port to itself. */
#ifndef MODEL_ENGINE_TESTS_PACKET_RIG_H
#define MODEL_ENGINE_TESTS_PACKET_RIG_H

#include "model/engine/base/engine.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	OUR_LID = 4, /* and 5, because LMC is 1 */
	PEER_LID = 9,
	MCAST_LID = 0xc001,
	SL = 3,
	VL = 2,
	QPN = 0x123456,
	PSN = 0xfffffe,
	TX_LATENCY = 10000,
	STORE = 7,
	ACTIVE = 4,
	ARMED = 3,
	GID_INDEX = 1,
};

static const uint64_t prefix = 0xfe80000000001234, guid = 0x0002c90300123456;

static struct event_core core;
static struct hca_params params;
static struct hca hca;
static struct port_config port;
static struct trace trace;
static struct packet *arrived;
static unsigned n_arrived, n_credits, n_activated;
static char reason[64]; /* why the last packet was dropped */

/* --- fake neighbours --- */

void link_port_return_credits(struct hca *h, struct packet *pkt)
{
	assert_true(pkt->rx_buffered);
	pkt->rx_buffered = false;
	n_credits++;
}

void link_port_activate(struct hca *h, unsigned number)
{
	assert_int_equal(number, 1);
	port.logical = ACTIVE;
	n_activated++;
}

void trace_emit(struct trace *tr, const struct trace_record *r)
{
	if (r->point == TP_PKT_DISCARD)
		snprintf(reason, sizeof(reason), "%s", r->text);
}

void trace_release(struct trace *tr, uint64_t now_ps)
{
}

static void packet_arrived(struct hca *h, struct packet *pkt)
{
	n_arrived++;
	arrived = pkt;
}

static void frame_came(struct hca *h, struct packet *pkt)
{
	arrived = pkt;
}

static const struct hca_calls calls = {.packet_arrived = packet_arrived, .frame_came = frame_came};

static int rig_start(void **state)
{
	params = (struct hca_params){
		.hca_memory = UINT64_MAX,
		.hca_ports = 1,
		.hca_log_gids = 2,
		.packet_tx_latency = TX_LATENCY,
		.packet_store = STORE,
	};
	port = (struct port_config){
		.lid = OUR_LID,
		.lmc = 1,
		.logical = ACTIVE,
		.oper_vls = 3, /* VL 0 to 3 */
		.gid_prefix = prefix,
		.guids = {1, guid},
	};
	port.sl2vl[SL] = VL;
	trace = (struct trace){.kinds = ~0u, .first_ps = UINT64_MAX};
	event_core_init(&core);
	hca = (struct hca){.core = &core,
			   .params = &params,
			   .calls = &calls,
			   .trace = &trace,
			   .watch = {.kinds = ~0u},
			   .ctrl = FW_CTRL_RUN,
			   .port_configs = {&port}};
	memory_init(&hca);
	hca.packets = packet_pool_create(&hca);
	arrived = NULL;
	n_arrived = n_credits = n_activated = 0;
	reason[0] = 0;
	return 0;
}

static int rig_finish(void **state)
{
	assert_int_equal(packet_pool_in_use(&hca), 0);
	packet_pool_trim(&hca);
	assert_int_equal(hca.memory.bytes, 0);
	packet_pool_destroy(hca.packets);
	memory_free(&hca);
	event_core_free(&core);
	return 0;
}

/* --- packets --- */

/* A path to this same port, so that what is built can be received. */
static inline struct packet_path path_to_us(bool grh)
{
	struct packet_path path = {.port = 1,
				   .sl = SL,
				   .path_bits = 1,
				   .dlid = OUR_LID + 1,
				   .grh = grh,
				   .sgid_index = GID_INDEX,
				   .hop_limit = 64,
				   .traffic_class = 0x5a,
				   .flow_label = 0xabcde,
				   .static_rate = 3};

	be64_store(path.dgid, prefix);
	be64_store(path.dgid + 8, guid);
	return path;
}

static const struct packet_headers headers = {
	.solicited = true,
	.mig_req = true,
	.ack_req = true,
	.pkey = 0x8765,
	.dest_qpn = QPN,
	.psn = PSN,
	.xrc_srqn = 0x00abcd,
	.deth = {.qkey = 0x80010000, .src_qpn = 0x654321},
	.reth = {.va = 0x1122334455667788, .rkey = 0x99aabbcc, .length = 0x7fffffff},
	.atomic = {.va = 0x0102030405060708,
		   .swap_add = 0x1112131415161718,
		   .compare = 0x2122232425262728,
		   .swap_mask = 0x3132333435363738,
		   .compare_mask = 0x4142434445464748,
		   .rkey = 0x51525354},
	.aeth = {.syndrome = 0x1f, .msn = 0x61626364 & 0xffffff},
	.atomic_ack = 0x7172737475767778,
	.imm = {0xca, 0xfe, 0xba, 0xbe},
};

static inline struct packet *build(uint8_t opcode, bool grh, unsigned payload_len)
{
	const struct packet_path path = path_to_us(grh);
	struct packet_headers h = headers;
	struct packet *pkt = packet_alloc(&hca);

	h.opcode = opcode;
	for (unsigned i = 0; i < payload_len; i++)
		packet_payload(pkt)[i] = (uint8_t)(i * 7 + 1);
	packet_build(&hca, pkt, &path, &h, payload_len);
	packet_need_crcs(pkt);
	return pkt;
}

/* Makes the same packet as it comes in from the wire, without what the builder knows about it. */
static inline struct packet *from_wire(struct packet *sent)
{
	struct packet *pkt = packet_alloc(&hca);

	memcpy(pkt->buf, sent->wire, sent->len);
	pkt->wire = pkt->buf;
	pkt->len = sent->len;
	pkt->vl = sent->vl;
	pkt->port = 1;
	packet_free(sent);
	return pkt;
}

#endif
