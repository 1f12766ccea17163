/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which virtual lane of a port has the next turn: the VLArbitrationTable and PortInfo.VLHighLimit of a
 * subnet manager. Firmware writes them through the port's registers. Caller: scheduler, while the queue
 * pairs of a port have more than one lane. Takes no simulated time.
 *
 * Source: IBA 7.6.9 and 7.6.9.2. There are two tables. Each entry names a lane and a weight, in units of
 * 64 bytes. Within a table the entries have their turns in order. The turn of an entry ends when its
 * weight is used up, or when its lane has nothing to send; a packet may use more than the weight that is
 * left. An entry of weight 0 is skipped. The high priority table goes first, until it has sent
 * VLHighLimit * 4 KiB; then one packet of the low priority table may leave, and the limit begins again.
 * Limit 0 means one packet, and 255 means no limit. VL 15 goes before all others and is not counted.
 *
 * Assumption: a lane without weight in both tables sends when no other lane has anything to send. By
 * the standard it has no turn, and its senders would wait for ever. The default tables of firmware and
 * of opensm (VL 0 in the high one, the others in the low one) name every lane.
 *
 * Not modelled: a turn is given when a packet is made, not when it leaves. So up to link.tx_window of
 * older packets are before it at the port. ACKs and responses have no turns. They use up no weight, but
 * requests wait while the link sends them.
 */
#ifndef MODEL_ENGINE_VL_ARBITER_H
#define MODEL_ENGINE_VL_ARBITER_H

#include <stdint.h>

enum {
	VL_TABLE_ENTRIES = 8,
	VL_WEIGHT_BYTES = 64,
	VL_HIGH_UNLIMITED = 255,
};

enum vl_table_index { VL_TABLE_LOW, VL_TABLE_HIGH, VL_TABLES };

struct vl_table {
	uint8_t vl[VL_TABLE_ENTRIES], weight[VL_TABLE_ENTRIES];
	unsigned at;  /* the entry that has or had the last turn */
	int32_t left; /* of its weight */
};

struct vl_arbiter {
	struct vl_table tables[VL_TABLES];
	uint8_t high_limit;
	int32_t high_left; /* units that the high priority table may send before the low one */
	uint8_t turn;      /* enum vl_table_index; VL_TABLES: the last turn is of no table */
};

/* Two entries, from `first` on: VL and weight of the first in the upper half, as in the attribute. */
void vl_arbiter_write(struct vl_arbiter *a, enum vl_table_index table, unsigned first,
		      uint32_t word);
uint32_t vl_arbiter_read(const struct vl_arbiter *a, enum vl_table_index table, unsigned first);
void vl_arbiter_limit(struct vl_arbiter *a, uint8_t high_limit);

/* `lanes` is the set of lanes that have something to send, and room. Returns those of them that may send
 * now: one, or all if no table names any. *units is how much a turn may take, in units of 64 bytes. */
unsigned vl_arbiter_choose(struct vl_arbiter *a, unsigned lanes, unsigned *units);
/* In the turn that was chosen last, so many units were sent on the lane. */
void vl_arbiter_sent(struct vl_arbiter *a, unsigned vl, unsigned units);

static inline unsigned vl_units(unsigned bytes)
{
	return (bytes + VL_WEIGHT_BYTES - 1) / VL_WEIGHT_BYTES;
}

#endif
