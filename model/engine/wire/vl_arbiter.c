/* SPDX-License-Identifier: Apache-2.0 */
/* See vl_arbiter.h. */
#include "model/engine/wire/vl_arbiter.h"

#include "model/interface/wire.h"

#include <limits.h>
#include <stdbool.h>

enum { UNITS_PER_LIMIT = 4096 / VL_WEIGHT_BYTES };

/* --- what firmware writes --- */

void vl_arbiter_write(struct vl_arbiter *a, enum vl_table_index table, unsigned first,
		      uint32_t word)
{
	struct vl_table *t = &a->tables[table];

	for (unsigned i = 0; i < 2; i++, word <<= 16) {
		t->vl[first + i] = word >> 24 & 0xf;
		t->weight[first + i] = (uint8_t)(word >> 16);
	}
	t->at = VL_TABLE_ENTRIES - 1; /* the next turn is the first entry's */
	t->left = 0;
}

uint32_t vl_arbiter_read(const struct vl_arbiter *a, enum vl_table_index table, unsigned first)
{
	const struct vl_table *t = &a->tables[table];

	return (uint32_t)t->vl[first] << 24 | (uint32_t)t->weight[first] << 16 |
	       (uint32_t)t->vl[first + 1] << 8 | t->weight[first + 1];
}

static void high_begin(struct vl_arbiter *a)
{
	a->high_left = a->high_limit ? a->high_limit * UNITS_PER_LIMIT : 1;
}

void vl_arbiter_limit(struct vl_arbiter *a, uint8_t high_limit)
{
	a->high_limit = high_limit;
	high_begin(a);
}

/* --- turns --- */

/* Goes to the entry whose turn it is. False: no entry with a weight is of these lanes. */
static bool table_turn(struct vl_table *t, unsigned lanes)
{
	if (t->left > 0 && lanes >> t->vl[t->at] & 1)
		return true;
	for (unsigned n = 1; n <= VL_TABLE_ENTRIES; n++) {
		const unsigned i = (t->at + n) % VL_TABLE_ENTRIES;

		if (!t->weight[i] || !(lanes >> t->vl[i] & 1))
			continue;
		t->at = i;
		t->left = t->weight[i];
		return true;
	}
	return false;
}

static unsigned turn_of(struct vl_arbiter *a, enum vl_table_index table)
{
	const struct vl_table *t = &a->tables[table];

	a->turn = table;
	return 1u << t->vl[t->at];
}

static unsigned high_turn(struct vl_arbiter *a, unsigned *units)
{
	*units = (unsigned)a->tables[VL_TABLE_HIGH].left;
	if (a->high_limit != VL_HIGH_UNLIMITED && *units > (unsigned)a->high_left)
		*units = (unsigned)a->high_left;
	return turn_of(a, VL_TABLE_HIGH);
}

unsigned vl_arbiter_choose(struct vl_arbiter *a, unsigned lanes, unsigned *units)
{
	bool high;

	*units = UINT_MAX;
	a->turn = VL_TABLES;
	if (lanes >> VL_MANAGEMENT & 1)
		return 1u << VL_MANAGEMENT;
	high = table_turn(&a->tables[VL_TABLE_HIGH], lanes);
	if (high && (a->high_left > 0 || a->high_limit == VL_HIGH_UNLIMITED))
		return high_turn(a, units);
	if (table_turn(&a->tables[VL_TABLE_LOW], lanes)) {
		*units = high ? 1 : (unsigned)a->tables[VL_TABLE_LOW].left;
		return turn_of(a, VL_TABLE_LOW);
	}
	if (!high)
		return lanes;
	high_begin(a);
	return high_turn(a, units);
}

void vl_arbiter_sent(struct vl_arbiter *a, unsigned vl, unsigned units)
{
	struct vl_table *t;

	if (a->turn == VL_TABLES)
		return;
	t = &a->tables[a->turn];
	if (t->vl[t->at] != vl)
		return;
	t->left -= (int32_t)units;
	if (a->turn == VL_TABLE_HIGH)
		a->high_left -= (int32_t)units;
	else
		high_begin(a);
}
