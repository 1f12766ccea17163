/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the interface as data, for logs and dumps: fields of a layout by name, names of
 * codes, HCR commands, WQE opcodes, events, registers. Host only: firmware does not link rows.c.
 * All tables are constant. Lookups that find nothing return NULL.
 */
#ifndef MODEL_INTERFACE_ROWS_H
#define MODEL_INTERFACE_ROWS_H

#include "model/interface/bth_ops.h"
#include "model/interface/cm.h"
#include "model/interface/contexts.h"
#include "model/interface/ethernet.h"
#include "model/interface/mailboxes.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rules.h"
#include "model/interface/syndromes.h"
#include "model/interface/wire.h"

enum field_kind {
	FIELD_KIND_BITS,
	FIELD_KIND_ADDRESS, /* value unshifted */
	FIELD_KIND_BYTES,   /* width and bits are 0 */
	FIELD_KIND_UNION,   /* second reading of bytes that other rows describe */
	FIELD_KIND_LAYOUT,  /* `inner` at offset; a view of the whole when it is as large as its
			       layout */
};

struct layout;

struct field_row {
	const char *name;
	enum field_kind kind;
	uint8_t width; /* of the big-endian word, bits */
	uint16_t offset;
	uint16_t size; /* bytes that the row touches */
	uint8_t hi, lo;
	const struct layout *inner;
	const char *meaning;
};

struct layout {
	const char *name;
	uint16_t size; /* bytes */
	const struct field_row *rows;
	unsigned int n;
	const char *meaning;
};

struct code_row {
	uint32_t code;
	const char *name;
	const char *meaning;
};

struct code_table {
	const char *name;
	const struct code_row *rows;
	unsigned int n;
};

struct bar0_row {
	const char *name;
	uint32_t offset, size;
	const char *access, *meaning;
};

struct hcr_row {
	const char *name;
	uint16_t op; /* enum hcr_op of commands.h */
	enum hcr_param in, out;
	const struct layout *in_layout, *out_layout; /* layout_none where no row describes it */
	uint32_t flags;                              /* enum hcr_flag */
	const char *in_mod, *meaning;
};

struct hcr_status_row {
	const char *name;
	enum hcr_status status;
	const char *errno_name;
	int errno_value; /* as Linux numbers it, positive */
	const char *meaning;
};

struct wqe_op {
	const char *name;  /* NULL when the opcode is not known */
	uint32_t props;    /* enum wqe_prop */
	uint32_t services; /* enum service_mask */
	const char *meaning;
};

struct cqe_syndrome_row {
	const char *name;
	enum cqe_syndrome syndrome;
};

struct guest_rule_row {
	const char *name, *meaning, *source;
	const char *look;    /* what to look at next */
	const char *example; /* what a driver did wrong */
};

struct event_row {
	const char *name;
	enum event_type type;
	const struct layout *layout; /* of the whole EQE */
	const char *meaning;
};

#define LAYOUT_DECLARE(id, size, rows, meaning) extern const struct layout layout_##id;
extern const struct layout layout_none;
REG_LAYOUTS(LAYOUT_DECLARE)
CONTEXT_LAYOUTS(LAYOUT_DECLARE)
COMMAND_LAYOUTS(LAYOUT_DECLARE)
QUEUE_LAYOUTS(LAYOUT_DECLARE)
WIRE_LAYOUTS(LAYOUT_DECLARE)
ETHERNET_LAYOUTS(LAYOUT_DECLARE)
CM_LAYOUTS(LAYOUT_DECLARE)

#define CODES_DECLARE(name, rows) extern const struct code_table code_table_##name;
REG_CODES(CODES_DECLARE)
CONTEXT_CODES(CODES_DECLARE)
COMMAND_CODES(CODES_DECLARE)
QUEUE_CODES(CODES_DECLARE)
WIRE_CODES(CODES_DECLARE)
ETHERNET_CODES(CODES_DECLARE)
CM_CODES(CODES_DECLARE)
SYNDROME_CODES(CODES_DECLARE)

/* Every layout, in the order of the headers; NULL after the last. */
const struct layout *layout_at(unsigned int i);
const struct layout *layout_by_name(const char *name);
const struct field_row *layout_field(const struct layout *l, const char *name);

/* Value of row i, as the typed accessor gives it; 0 for rows of bytes and embedded layouts. */
uint64_t layout_get(const struct layout *l, unsigned int i, const void *bytes);
void layout_set(const struct layout *l, unsigned int i, void *bytes, uint64_t value);

/*
 * Writes "name value, name value" and a NUL, cut to n bytes. Values are hex, fields that are 0 are
 * left out, and embedded layouts are written as "name {...}". Second readings of the same bytes
 * (unions, views) are left out. Returns the length without the cut, like snprintf().
 */
int layout_format(const struct layout *l, const void *bytes, char *buf, size_t n);

const char *code_name(const struct code_table *t, uint32_t code);

const struct bar0_row *bar0_reg_find(uint32_t offset);
const struct hcr_row *hcr_row_find(uint32_t op);
const struct hcr_row *hcr_row_at(unsigned int i); /* NULL after the last */
const struct hcr_status_row *hcr_status_find(uint32_t status);
const struct cqe_syndrome_row *cqe_syndrome_find(uint32_t syndrome);
const struct event_row *event_row_find(uint32_t type);

/* Indexed by enum guest_rule. */
extern const struct guest_rule_row guest_rules[RULE_COUNT];
/* -1: there is no such rule. */
int guest_rule_find(const char *name);
/* Writes "qp 0x208", "command SW2HW_CQ"; nothing for GUEST_NONE. Returns buf. */
const char *guest_object_format(struct guest_object object, char *buf, size_t n);

extern const struct wqe_op wqe_ops[WQE_OPCODES_MAX];

/* Never NULL: an unknown opcode gets a row without name, properties and services. */
static inline const struct wqe_op *wqe_op_find(uint32_t opcode)
{
	return &wqe_ops[opcode % WQE_OPCODES_MAX];
}

#endif
