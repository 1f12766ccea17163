/* SPDX-License-Identifier: Apache-2.0 */
/* See packet.h. */
#include "model/engine/wire/packet.h"

#include "model/engine/wire/crc.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/roce.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"
#include "model/interface/wire.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_crc.h"
#include "model/sim/params/hca_packet.h"
#include "model/sim/params/hca_port1.h"
#include "model/sim/params/hca_port2.h"
#include "model/sim/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	POOL_CHUNK = 32,
	GID_BYTES = 16,
};

struct pool_chunk {
	struct pool_chunk *next;
	/* packets follow */
};

struct packet_pool {
	struct hca *hca;
	size_t stride; /* bytes from one packet to the next */
	struct packet *free;
	struct pool_chunk *chunks;
	size_t bytes;
	unsigned in_use;
};

/* --- pool --- */

struct packet_pool *packet_pool_create(struct hca *hca)
{
	struct packet_pool *pool = memory_create(1, sizeof(*pool), "packets");

	pool->hca = hca;
	pool->stride = sizeof(struct packet);
	if (param_port1_type(hca->params) != CFG_PORT_IB ||
	    param_port2_type(hca->params) != CFG_PORT_IB)
		pool->stride += (PACKET_FRAME - PACKET_PAYLOAD + 7) & ~7u;
	return pool;
}

static size_t chunk_bytes(const struct packet_pool *pool)
{
	return sizeof(struct pool_chunk) + POOL_CHUNK * pool->stride;
}

static struct packet *chunk_packet(const struct packet_pool *pool, struct pool_chunk *chunk,
				   unsigned i)
{
	return (struct packet *)(void *)((char *)(chunk + 1) + i * pool->stride);
}

void packet_pool_destroy(struct packet_pool *pool)
{
	while (pool && pool->chunks) {
		struct pool_chunk *chunk = pool->chunks;

		pool->chunks = chunk->next;
		/* the packet may still be on a wire */
		for (unsigned i = 0; i < POOL_CHUNK; i++)
			event_cancel(pool->hca->core, &chunk_packet(pool, chunk, i)->ev);
		free(chunk);
	}
	free(pool);
}

static void pool_grow(struct packet_pool *pool)
{
	struct pool_chunk *chunk = memory_take(pool->hca, chunk_bytes(pool), "packets");

	chunk->next = pool->chunks;
	pool->chunks = chunk;
	pool->bytes += chunk_bytes(pool);
	for (unsigned i = 0; i < POOL_CHUNK; i++) {
		struct packet *pkt = chunk_packet(pool, chunk, i);

		pkt->next = pool->free;
		pool->free = pkt;
	}
}

/* Clears in pieces that compile to a few stores each. The compiler makes one memset of this length
 * into a slow string instruction. */
static inline void clear_fields(struct packet *pkt)
{
	enum { BYTES = offsetof(struct packet, frags), PIECE = 64 };
	char *at = (char *)pkt;

#pragma GCC unroll 16
	for (unsigned i = 0; i < BYTES / PIECE; i++)
		memset(at + (size_t)i * PIECE, 0, PIECE);
	memset(at + BYTES / PIECE * PIECE, 0, BYTES % PIECE);
}

struct packet *packet_alloc(struct hca *hca)
{
	struct packet_pool *pool = hca->packets;
	struct packet *pkt;

	if (!pool->free)
		pool_grow(pool);
	pkt = pool->free;
	pool->free = pkt->next;
	pool->in_use++;
	clear_fields(pkt);
	pkt->n_frags = 0;
	pkt->owner = NULL;
	pkt->hca = hca;
	pkt->pool = pool;
	return pkt;
}

void packet_free(struct packet *pkt)
{
	struct packet_pool *pool = pkt->pool;

	if (pkt->rx_buffered)
		link_port_return_credits(pkt->hca, pkt);
	else if (__builtin_expect(pkt->shares != NULL, 0))
		packet_unshare(pkt->shares);
	pkt->next = pool->free;
	pool->free = pkt;
	pool->in_use--;
}

void packet_copy(struct packet *to, const struct packet *from)
{
	struct packet *next = to->next;
	struct packet_pool *pool = to->pool;

	memcpy(to, from, offsetof(struct packet, dma));
	memset(&to->ev, 0, sizeof(to->ev));
	to->next = next;
	to->pool = pool;
	to->rx_buffered = to->lent = false;
	to->shares = NULL;
	to->sharers = 0;
	to->wire = to->buf + (from->wire - from->buf);
	memcpy(to->wire, from->wire, from->len);
}

void packet_share(struct packet *copy, struct packet *pkt)
{
	copy->shares = pkt;
	pkt->sharers++;
}

void packet_unshare(struct packet *pkt)
{
	if (!pkt->sharers--)
		packet_free(pkt);
}

/* Gives no memory back while a packet is in use. Packets on their way to the other end still belong
 * to this pool. */
void packet_pool_trim(struct hca *hca)
{
	struct packet_pool *pool = hca->packets;

	if (pool->in_use)
		return;
	while (pool->chunks) {
		struct pool_chunk *chunk = pool->chunks;

		pool->chunks = chunk->next;
		memory_give(hca, chunk, chunk_bytes(pool));
	}
	pool->free = NULL;
	pool->bytes = 0;
}

size_t packet_pool_footprint(const struct hca *hca)
{
	return sizeof(*hca->packets) + hca->packets->bytes;
}

unsigned packet_pool_in_use(const struct hca *hca)
{
	return hca->packets->in_use;
}

uint64_t packet_traits(const struct packet *pkt)
{
	uint64_t traits = pkt->loopback ? TRACE_TRAIT_INSIDE : 0;
	const struct bth_op *op = pkt->op;

	if (!op || !op->name || packet_is_frame(pkt))
		return traits;
	traits |= (uint64_t)(op - bth_ops);
	if (op->props & BTH_ACK) {
		const struct aeth *aeth =
			(const void *)(pkt->wire + pkt->bth_off + op->at[BTH_EXT_AETH]);

		if (aeth_syndrome_kind(aeth_get_syndrome(aeth)) != AETH_ACK)
			traits |= TRACE_TRAIT_NAK;
	}
	return traits;
}

/* --- building --- */

static void put_grh(struct hca *hca, struct grh *grh, const struct packet_path *path,
		    unsigned bytes_after)
{
	const struct port_config *port = link_port_config(hca, path->port);
	uint8_t *sgid = grh_sgid_ptr(grh);

	memset(grh, 0, sizeof(*grh));
	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_tclass(grh, path->traffic_class);
	grh_set_flow_label(grh, path->flow_label);
	grh_set_pay_len(grh, bytes_after);
	grh_set_next_hdr(grh, GRH_NEXT_BTH);
	grh_set_hop_limit(grh, path->hop_limit);
	be64_store(sgid, port->gid_prefix);
	be64_store(sgid + 8, port->guids[path->sgid_index % PORT_MAX_GIDS]);
	memcpy(grh_dgid_ptr(grh), path->dgid, GID_BYTES);
}

static void put_lrh(struct packet *pkt, unsigned vl, unsigned sl, uint16_t dlid, uint16_t slid)
{
	struct lrh *lrh = (struct lrh *)pkt->wire;

	memset(lrh, 0, sizeof(*lrh));
	lrh_set_vl(lrh, vl);
	lrh_set_sl(lrh, sl);
	lrh_set_lnh(lrh, pkt->l3_off ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, dlid);
	lrh_set_pkt_len(lrh, (pkt->len - VCRC_BYTES) / 4u);
	lrh_set_slid(lrh, slid);
}

static void put_atomic(uint8_t *at, const struct bth_op *op, const struct packet_headers *h)
{
	if (op->exts & BTH_X(ATOMICETH)) {
		struct atomiceth *eth = (struct atomiceth *)at;

		atomiceth_set_va(eth, h->atomic.va);
		atomiceth_set_rkey(eth, h->atomic.rkey);
		atomiceth_set_swap_add(eth, h->atomic.swap_add);
		atomiceth_set_compare(eth, h->atomic.compare);
	} else if (op->exts & BTH_X(MASKED_CASETH)) {
		struct masked_caseth *eth = (struct masked_caseth *)at;

		masked_caseth_set_va(eth, h->atomic.va);
		masked_caseth_set_rkey(eth, h->atomic.rkey);
		masked_caseth_set_swap(eth, h->atomic.swap_add);
		masked_caseth_set_compare(eth, h->atomic.compare);
		masked_caseth_set_swap_mask(eth, h->atomic.swap_mask);
		masked_caseth_set_compare_mask(eth, h->atomic.compare_mask);
	} else {
		struct masked_faeth *eth = (struct masked_faeth *)at;

		masked_faeth_set_va(eth, h->atomic.va);
		masked_faeth_set_rkey(eth, h->atomic.rkey);
		masked_faeth_set_add(eth, h->atomic.swap_add);
		masked_faeth_set_boundary(eth, h->atomic.compare_mask);
	}
}

enum { BTH_X_ATOMICS = BTH_X(ATOMICETH) | BTH_X(MASKED_CASETH) | BTH_X(MASKED_FAETH) };

static void put_extensions(uint8_t *bth, const struct bth_op *op, const struct packet_headers *h)
{
	if (op->exts & BTH_X(XRCETH)) {
		be32_store(bth + op->at[BTH_EXT_XRCETH], 0);
		xrceth_set_srqn((struct xrceth *)(bth + op->at[BTH_EXT_XRCETH]), h->xrc_srqn);
	}
	if (op->exts & BTH_X(DETH)) {
		struct deth *deth = (struct deth *)(bth + op->at[BTH_EXT_DETH]);

		memset(deth, 0, sizeof(*deth));
		deth_set_qkey(deth, h->deth.qkey);
		deth_set_sqpn(deth, h->deth.src_qpn);
	}
	if (op->exts & BTH_X(RETH)) {
		struct reth *reth = (struct reth *)(bth + op->at[BTH_EXT_RETH]);

		reth_set_va(reth, h->reth.va);
		reth_set_rkey(reth, h->reth.rkey);
		reth_set_dma_len(reth, h->reth.length);
	}
	if (op->exts & BTH_X_ATOMICS) {
		enum bth_ext ext = op->exts & BTH_X(ATOMICETH)       ? BTH_EXT_ATOMICETH
				   : op->exts & BTH_X(MASKED_CASETH) ? BTH_EXT_MASKED_CASETH
								     : BTH_EXT_MASKED_FAETH;

		put_atomic(bth + op->at[ext], op, h);
	}
	if (op->exts & BTH_X(AETH)) {
		struct aeth *aeth = (struct aeth *)(bth + op->at[BTH_EXT_AETH]);

		aeth_set_syndrome(aeth, h->aeth.syndrome);
		aeth_set_msn(aeth, h->aeth.msn);
	}
	if (op->exts & BTH_X(ATOMICACKETH))
		atomicacketh_set_original(
			(struct atomicacketh *)(bth + op->at[BTH_EXT_ATOMICACKETH]), h->atomic_ack);
	if (op->exts & BTH_X(IMMDT))
		memcpy(bth + op->at[BTH_EXT_IMMDT], h->imm, sizeof(h->imm));
	if (op->exts & BTH_X(IETH))
		memcpy(bth + op->at[BTH_EXT_IETH], h->imm, sizeof(h->imm));
}

/* Sets the offsets behind bth_off, and wire, for the headers of this opcode around a payload, and
 * zeroes the pad. Returns the pad's length. */
static inline unsigned lay_out_behind(struct packet *pkt, const struct bth_op *op,
				      unsigned payload_len)
{
	unsigned headers = pkt->bth_off + (unsigned)BTH_BYTES + op->ext_bytes,
		 pad = -payload_len & 3;

	pkt->op = op;
	pkt->wire = packet_payload(pkt) - headers;
	pkt->ext_off = pkt->bth_off + BTH_BYTES;
	pkt->payload_off = (uint16_t)headers;
	pkt->payload_len = (uint16_t)payload_len;
	memset(packet_payload(pkt) + payload_len, 0, pad);
	return pad;
}

static unsigned lay_out(struct packet *pkt, const struct bth_op *op, bool grh, unsigned payload_len)
{
	unsigned pad;

	pkt->l3_off = grh ? LRH_BYTES : 0;
	pkt->bth_off = (uint16_t)(LRH_BYTES + (grh ? GRH_BYTES : 0));
	pad = lay_out_behind(pkt, op, payload_len);
	pkt->len = (uint16_t)(pkt->payload_off + payload_len + pad + CRC_BYTES);
	return pad;
}

/* The same in an Ethernet frame. */
static unsigned lay_out_frame(struct packet *pkt, const struct bth_op *op,
			      const struct packet_path *path, unsigned payload_len)
{
	unsigned front = roce_front_bytes(path), pad, end;

	pkt->ethernet = true;
	pkt->roce = (uint8_t)path->roce;
	pkt->vlan = path->vlan;
	pkt->bth_off = (uint16_t)front;
	pkt->l3_off = (uint16_t)(front - roce_l3_bytes(path->roce));
	pad = lay_out_behind(pkt, op, payload_len);
	pkt->icrc_off = (uint16_t)(pkt->payload_off + payload_len + pad);
	end = pkt->icrc_off + (unsigned)ICRC_BYTES;
	pkt->len = (uint16_t)frame_length(end);
	memset(pkt->wire + end, 0, pkt->len - end);
	return pad;
}

void packet_build(struct hca *hca, struct packet *pkt, const struct packet_path *path,
		  const struct packet_headers *h, unsigned payload_len)
{
	const struct bth_op *op = bth_op_find(h->opcode);
	const struct port_config *port = link_port_config(hca, path->port);
	unsigned pad;
	struct bth *bth;

	pkt->port = path->port;
	pkt->static_rate = path->static_rate;
	pkt->qpn = h->dest_qpn;
	pkt->psn = h->psn;
	if (__builtin_expect(port->eth != NULL, 0)) {
		pad = lay_out_frame(pkt, op, path, payload_len);
		pkt->vl = vlan_priority(pkt->vlan);
		pkt->loopback = path->force_loopback;
		roce_front_put(hca, pkt, path);
	} else {
		pad = lay_out(pkt, op, path->grh, payload_len);
		pkt->vl = port->sl2vl[path->sl & 15];
		put_lrh(pkt, pkt->vl, path->sl, path->dlid, port->lid | path->path_bits);
		if (path->grh)
			put_grh(hca, (struct grh *)(pkt->wire + pkt->l3_off), path,
				pkt->len - pkt->bth_off - VCRC_BYTES);
	}
	bth = (struct bth *)(pkt->wire + pkt->bth_off);
	memset(bth, 0, sizeof(*bth));
	bth_set_opcode(bth, h->opcode);
	bth_set_solicited(bth, h->solicited);
	bth_set_mig_req(bth, h->mig_req);
	bth_set_pad(bth, pad);
	bth_set_pkey(bth, h->pkey);
	bth_set_dqpn(bth, h->dest_qpn);
	bth_set_ack_req(bth, h->ack_req);
	bth_set_psn(bth, h->psn);
	if (op->exts)
		put_extensions((uint8_t *)bth, op, h);
}

static void frame_fields_copy(struct packet *pkt, const struct packet *model)
{
	pkt->ethernet = true;
	pkt->roce = model->roce;
	pkt->vlan = model->vlan;
	pkt->icrc_off = model->icrc_off;
	pkt->loopback = model->loopback;
}

void packet_build_like(struct packet *pkt, const struct packet *model, uint32_t psn, bool ack_req)
{
	struct bth *bth;

	pkt->port = model->port;
	pkt->static_rate = model->static_rate;
	pkt->vl = model->vl;
	pkt->wire = pkt->buf + (model->wire - model->buf);
	pkt->len = model->len;
	pkt->op = model->op;
	pkt->l3_off = model->l3_off;
	pkt->bth_off = model->bth_off;
	pkt->ext_off = model->ext_off;
	pkt->payload_off = model->payload_off;
	pkt->payload_len = model->payload_len;
	pkt->qpn = model->qpn;
	pkt->psn = psn;
	if (__builtin_expect(model->ethernet, 0))
		frame_fields_copy(pkt, model);
	memcpy(pkt->buf, model->buf, PACKET_HEADERS);
	memset(packet_payload(pkt) + pkt->payload_len, 0, -pkt->payload_len & 3);
	bth = (struct bth *)(pkt->wire + pkt->bth_off);
	bth_set_ack_req(bth, ack_req);
	bth_set_psn(bth, psn);
}

void packet_build_raw(struct hca *hca, struct packet *pkt, unsigned port, const uint8_t *headers,
		      unsigned headers_len, unsigned payload_len, bool vl15, bool keep_slid,
		      uint8_t path_bits)
{
	const struct port_config *config = link_port_config(hca, port);
	bool grh = headers_len > LRH_BYTES &&
		   lrh_get_lnh((const struct lrh *)headers) == LNH_IBA_GLOBAL;
	unsigned bth_off = LRH_BYTES + (grh ? GRH_BYTES : 0);
	const struct bth_op *op =
		bth_op_find(headers_len > bth_off ? headers[bth_off] : BTH_UD_SEND_ONLY);
	unsigned pad, known = bth_op_header_bytes(op, grh);
	struct lrh *lrh;

	pad = lay_out(pkt, op, grh, payload_len);
	memset(pkt->wire, 0, known);
	memcpy(pkt->wire, headers, headers_len < known ? headers_len : known);
	lrh = (struct lrh *)pkt->wire;
	pkt->port = (uint8_t)port;
	pkt->vl = vl15 ? VL_MANAGEMENT : config->sl2vl[lrh_get_sl(lrh)];
	lrh_set_vl(lrh, pkt->vl);
	lrh_set_pkt_len(lrh, (pkt->len - VCRC_BYTES) / 4u);
	if (!keep_slid)
		lrh_set_slid(lrh, config->lid | path_bits);
	if (grh)
		grh_set_pay_len((struct grh *)(pkt->wire + pkt->l3_off),
				pkt->len - pkt->bth_off - VCRC_BYTES);
	bth_set_pad((struct bth *)(pkt->wire + pkt->bth_off), pad);
	pkt->qpn = bth_get_dqpn((const struct bth *)(pkt->wire + pkt->bth_off));
	pkt->psn = bth_get_psn((const struct bth *)(pkt->wire + pkt->bth_off));
}

void packet_need_crcs(struct packet *pkt)
{
	if (pkt->crcs_made)
		return;
	pkt->crcs_made = true;
	if (__builtin_expect(pkt->ethernet, 0)) {
		const struct roce_places at = roce_places_of(pkt);

		roce_crcs_make(pkt->wire, pkt->len, &at);
		return;
	}
	crc_make(pkt->wire, pkt->len - CRC_BYTES);
}

void packet_seal(struct hca *hca, struct packet *pkt)
{
	const uint64_t now = hca_now(hca);

	pkt->ready_ps = (pkt->ready_ps > now ? pkt->ready_ps : now) +
			param_packet_tx_latency(hca->params) +
			pkt->len * param_packet_store(hca->params);
	if (param_crc_eager(hca->params))
		packet_need_crcs(pkt);
}
