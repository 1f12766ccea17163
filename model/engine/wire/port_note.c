/* SPDX-License-Identifier: Apache-2.0 */
/* See port_note.h. */
#include "model/engine/wire/port_note.h"

#include "model/engine/wire/crc.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/packet.h"
#include "model/interface/fwregs.h"
#include "model/interface/rows.h"

#include <string.h>

enum { TRAP_BAD_PKEY = 257, TRAP_BAD_QKEY = 258, MAD_AT = LRH_BYTES + BTH_BYTES + 8 /* DETH */ };

void port_violation(struct hca *hca, const struct packet *pkt, bool qkey)
{
	struct port_config *c = link_port_config(hca, pkt->port);
	const struct lrh *lrh = (const struct lrh *)pkt->wire;
	const struct bth *bth = (const struct bth *)(pkt->wire + pkt->bth_off);
	const struct deth *deth = bth_op_has(pkt->op, BTH_EXT_DETH)
					  ? (const struct deth *)(pkt->wire + pkt->bth_off +
								  pkt->op->at[BTH_EXT_DETH])
					  : NULL;

	if (qkey)
		c->bad_qkey++;
	else
		c->bad_pkey++;
	if (c->note.number || pkt->ethernet) /* Ethernet has no subnet manager to tell */
		return;
	c->note = (struct port_note){
		.number = qkey ? TRAP_BAD_QKEY : TRAP_BAD_PKEY,
		.key = qkey ? deth_get_qkey(deth) : bth_get_pkey(bth),
		.lids = (uint32_t)lrh_get_slid(lrh) << 16 | (uint32_t)lrh_get_dlid(lrh),
		.source = (uint32_t)lrh_get_sl(lrh) << 28 | (deth ? deth_get_sqpn(deth) : 0),
		.dest = bth_get_dqpn(bth)};
	hca->calls->port_changed(hca, pkt->port);
}

bool port_note_load(const struct port_config *c, uint32_t reg, uint32_t *value)
{
	switch (reg) {
	case FW_PORT_NOTE:
		*value = c->note.number;
		return true;
	case FW_PORT_NOTE_KEY:
		*value = c->note.key;
		return true;
	case FW_PORT_NOTE_LIDS:
		*value = c->note.lids;
		return true;
	case FW_PORT_NOTE_SOURCE:
		*value = c->note.source;
		return true;
	case FW_PORT_NOTE_DEST:
		*value = c->note.dest;
		return true;
	default:
		return false;
	}
}

void port_self_mad(struct hca *hca, unsigned port, const uint8_t *mad)
{
	struct packet *pkt = packet_alloc(hca);
	struct lrh *lrh = (struct lrh *)pkt->buf;
	struct bth *bth = (struct bth *)(pkt->buf + LRH_BYTES);

	memset(pkt->buf, 0, MAD_AT);
	lrh_set_vl(lrh, VL_MANAGEMENT);
	lrh_set_lnh(lrh, LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, LID_PERMISSIVE);
	lrh_set_pkt_len(lrh, (MAD_AT + PORT_MAD_BYTES + ICRC_BYTES) / 4);
	bth_set_opcode(bth, BTH_UD_SEND_ONLY);
	bth_set_pkey(bth, PKEY_DEFAULT);
	memcpy(pkt->buf + MAD_AT, mad, PORT_MAD_BYTES);
	pkt->wire = pkt->buf;
	pkt->len = (uint16_t)(MAD_AT + PORT_MAD_BYTES);
	pkt->len = (uint16_t)(pkt->len + crc_make(pkt->wire, pkt->len));
	pkt->port = (uint8_t)port;
	pkt->vl = VL_MANAGEMENT;
	pkt->crcs_made = pkt->uncredited = pkt->loopback = true;
	link_port_send(hca, pkt);
}
