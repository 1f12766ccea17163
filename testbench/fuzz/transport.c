/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two transports, one stream of packets: the engine's (in hardware) and the driver's
 * (host_driver/rvt/, in software). The first byte of an input says of which service the queue pair
 * is, whether an SRQ gives its receives, and whether its responder or its requester is looked at; the
 * second one says in which state it begins. The rest is the stream. See transport.h.
 */
#include "testbench/fuzz/transport.h"

/* Most streams begin in RTS. RC has no error state of its send queue alone. */
static enum ibv_qp_state state_of(unsigned byte, enum ibv_qp_type type)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS,  IBV_QPS_RTS,   IBV_QPS_RTS, IBV_QPS_RTR,
		IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_SQE, IBV_QPS_RTS,
		IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS,  IBV_QPS_RTS,
	};
	const enum ibv_qp_state state = states[byte % (sizeof(states) / sizeof(*states))];

	return state == IBV_QPS_SQE && type == IBV_QPT_RC ? IBV_QPS_RTS : state;
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RC};
	struct fuzz_bytes b = {data, data + size};
	struct fuzz_rig *rig = fuzz_rig_get();
	const unsigned how = (unsigned)fuzz_take(&b, 1);
	struct pair_kind kind = {.type = types[how % 4], .shared = how >> 2 & 1};

	kind.state = state_of((unsigned)fuzz_take(&b, 1), kind.type);
	/* three of four streams of RC are for the requester, because it has more to wait for */
	if (how >> 3 & (kind.type == IBV_QPT_RC ? 3 : 1))
		transport_answers(rig, &kind, &b);
	else
		transport_requests(rig, &kind, &b);
	return 0;
}
