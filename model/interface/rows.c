/* SPDX-License-Identifier: Apache-2.0 */
#include "model/interface/rows.h"

#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW_F(layout, width, name, offset, hi, lo, meaning)                                        \
	{#name, FIELD_KIND_BITS, width, offset, (width) / 8, hi, lo, NULL, meaning},
#define ROW_A(layout, width, name, offset, hi, lo, meaning)                                        \
	{#name, FIELD_KIND_ADDRESS, width, offset, (width) / 8, hi, lo, NULL, meaning},
#define ROW_U(layout, width, name, offset, hi, lo, meaning)                                        \
	{#name, FIELD_KIND_UNION, width, offset, (width) / 8, hi, lo, NULL, meaning},
#define ROW_B(layout, name, offset, size, meaning)                                                 \
	{#name, FIELD_KIND_BYTES, 0, offset, size, 0, 0, NULL, meaning},
#define ROW_E(layout, inner, name, offset, meaning)                                                \
	{#name, FIELD_KIND_LAYOUT, 0, offset, sizeof(struct inner), 0, 0, &layout_##inner, meaning},

#define LAYOUT_ROWS(name, size, rows, meaning)                                                     \
	static const struct field_row name##_rows[] = {rows(ROW_F, ROW_A, ROW_B, ROW_U, ROW_E)};   \
	const struct layout layout_##name = {#name, size, name##_rows, ARRAY_SIZE(name##_rows),    \
					     meaning};

const struct layout layout_none = {"none", 0, NULL, 0, "no layout"};
REG_LAYOUTS(LAYOUT_ROWS)
CONTEXT_LAYOUTS(LAYOUT_ROWS)
COMMAND_LAYOUTS(LAYOUT_ROWS)
QUEUE_LAYOUTS(LAYOUT_ROWS)
WIRE_LAYOUTS(LAYOUT_ROWS)
ETHERNET_LAYOUTS(LAYOUT_ROWS)
CM_LAYOUTS(LAYOUT_ROWS)

#define LAYOUT_POINTER(name, size, rows, meaning) &layout_##name,
static const struct layout *const layouts[] = {
	REG_LAYOUTS(LAYOUT_POINTER) CONTEXT_LAYOUTS(LAYOUT_POINTER) COMMAND_LAYOUTS(LAYOUT_POINTER)
		QUEUE_LAYOUTS(LAYOUT_POINTER) WIRE_LAYOUTS(LAYOUT_POINTER)
			ETHERNET_LAYOUTS(LAYOUT_POINTER) CM_LAYOUTS(LAYOUT_POINTER)};

#define CODE_ROW(prefix, name, code, meaning) {(uint32_t)(code), #name, meaning},
#define CODE_TABLE(name, rows)                                                                     \
	static const struct code_row name##_codes[] = {rows(CODE_ROW)};                            \
	const struct code_table code_table_##name = {#name, name##_codes, ARRAY_SIZE(name##_codes)};
REG_CODES(CODE_TABLE)
CONTEXT_CODES(CODE_TABLE)
COMMAND_CODES(CODE_TABLE)
QUEUE_CODES(CODE_TABLE)
WIRE_CODES(CODE_TABLE)
ETHERNET_CODES(CODE_TABLE)
CM_CODES(CODE_TABLE)
SYNDROME_CODES(CODE_TABLE)

#define BAR0_ROW(name, offset, size, access, meaning) {#name, offset, size, access, meaning},
static const struct bar0_row bar0_rows[] = {BAR0_REGS(BAR0_ROW)};

#define HCR_ROW(name, code, in, out, in_layout, out_layout, flags, state, op_mods, handler, im,    \
		meaning)                                                                           \
	{#name, HCR_##name, HCR_P_##in, HCR_P_##out, &layout_##in_layout, &layout_##out_layout,    \
	 flags, im,         meaning},
static const struct hcr_row command_rows[] = {HCR_COMMANDS(HCR_ROW)};

#define HCR_STATUS_ROW(name, code, errno_name, errno_value, meaning)                               \
	{#name, HCR_STATUS_##name, errno_name, errno_value, meaning},
static const struct hcr_status_row hcr_status_rows[] = {HCR_STATUSES(HCR_STATUS_ROW)};

#define WQE_OP(name, code, props, services, meaning) [code] = {#name, props, services, meaning},
const struct wqe_op wqe_ops[WQE_OPCODES_MAX] = {WQE_OPCODES(WQE_OP)};

#define CQE_SYNDROME_ROW(name, code, wc, wc_name) {#name, CQE_SYND_##name},
static const struct cqe_syndrome_row cqe_syndrome_rows[] = {CQE_SYNDROMES(CQE_SYNDROME_ROW)};

#define EVENT_ROW(name, code, layout, meaning) {#name, EVENT_##name, &layout_##layout, meaning},
static const struct event_row event_rows[] = {EVENT_TYPES(EVENT_ROW)};

const struct layout *layout_at(unsigned int i)
{
	return i < ARRAY_SIZE(layouts) ? layouts[i] : NULL;
}

const struct layout *layout_by_name(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++)
		if (!strcmp(layouts[i]->name, name))
			return layouts[i];
	return NULL;
}

const struct field_row *layout_field(const struct layout *l, const char *name)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (!strcmp(l->rows[i].name, name))
			return &l->rows[i];
	return NULL;
}

static uint64_t word_load(const struct field_row *r, const void *bytes)
{
	const uint8_t *p = (const uint8_t *)bytes + r->offset;

	switch (r->width) {
	case 8:
		return be8_load(p);
	case 16:
		return be16_load(p);
	case 32:
		return be32_load(p);
	case 64:
		return be64_load(p);
	default:
		return 0;
	}
}

uint64_t layout_get(const struct layout *l, unsigned int i, const void *bytes)
{
	const struct field_row *r = &l->rows[i];
	uint64_t v;

	if (!r->width)
		return 0;
	v = word_load(r, bytes) & FIELD_MASK(r->hi, r->lo);
	return r->kind == FIELD_KIND_ADDRESS ? v : v >> r->lo;
}

void layout_set(const struct layout *l, unsigned int i, void *bytes, uint64_t value)
{
	const struct field_row *r = &l->rows[i];
	uint8_t *p = (uint8_t *)bytes + r->offset;
	uint64_t mask, v;

	if (!r->width)
		return;
	mask = FIELD_MASK(r->hi, r->lo);
	v = r->kind == FIELD_KIND_ADDRESS ? value : value << r->lo;
	v = (word_load(r, bytes) & ~mask) | (v & mask);
	for (int k = r->width / 8 - 1; k >= 0; k--, v >>= 8)
		p[k] = (uint8_t)v;
}

struct text {
	char *buf;
	size_t n;
	size_t used; /* length of the whole text, even if it does not fit */
};

static void text_put(struct text *t, const char *s)
{
	for (; *s; s++, t->used++)
		if (t->used + 1 < t->n)
			t->buf[t->used] = *s;
}

static void text_field(struct text *t, bool first, const char *name, const char *value)
{
	if (!first)
		text_put(t, ", ");
	text_put(t, name);
	text_put(t, " ");
	text_put(t, value);
}

static bool bytes_zero(const uint8_t *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

static void text_layout(struct text *t, const struct layout *l, const uint8_t *bytes)
{
	bool first = true;

	for (unsigned int i = 0; i < l->n; i++) {
		const struct field_row *r = &l->rows[i];
		const bool view = r->kind == FIELD_KIND_LAYOUT && r->inner->size == l->size;
		char value[32];

		if (r->kind == FIELD_KIND_UNION || view || bytes_zero(bytes + r->offset, r->size))
			continue;
		if (r->kind == FIELD_KIND_LAYOUT) {
			text_field(t, first, r->name, "{");
			text_layout(t, r->inner, bytes + r->offset);
			text_put(t, "}");
		} else if (r->kind == FIELD_KIND_BYTES) {
			text_field(t, first, r->name, "");
			for (unsigned int k = 0; k < r->size; k++) {
				snprintf(value, sizeof(value), "%02x", bytes[r->offset + k]);
				text_put(t, value);
			}
		} else {
			const uint64_t v = layout_get(l, i, bytes);

			if (!v)
				continue;
			snprintf(value, sizeof(value), "0x%" PRIx64, v);
			text_field(t, first, r->name, value);
		}
		first = false;
	}
}

int layout_format(const struct layout *l, const void *bytes, char *buf, size_t n)
{
	struct text t = {buf, n, 0};

	text_layout(&t, l, (const uint8_t *)bytes);
	if (n)
		buf[t.used < n ? t.used : n - 1] = '\0';
	return (int)t.used;
}

const char *code_name(const struct code_table *t, uint32_t code)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->rows[i].code == code)
			return t->rows[i].name;
	return NULL;
}

const struct bar0_row *bar0_reg_find(uint32_t offset)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(bar0_rows); i++)
		if (offset - bar0_rows[i].offset < bar0_rows[i].size)
			return &bar0_rows[i];
	return NULL;
}

const struct hcr_row *hcr_row_find(uint32_t op)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(command_rows); i++)
		if (command_rows[i].op == op)
			return &command_rows[i];
	return NULL;
}

const struct hcr_row *hcr_row_at(unsigned int i)
{
	return i < ARRAY_SIZE(command_rows) ? &command_rows[i] : NULL;
}

const struct hcr_status_row *hcr_status_find(uint32_t status)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(hcr_status_rows); i++)
		if ((uint32_t)hcr_status_rows[i].status == status)
			return &hcr_status_rows[i];
	return NULL;
}

const struct cqe_syndrome_row *cqe_syndrome_find(uint32_t syndrome)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cqe_syndrome_rows); i++)
		if ((uint32_t)cqe_syndrome_rows[i].syndrome == syndrome)
			return &cqe_syndrome_rows[i];
	return NULL;
}

const struct event_row *event_row_find(uint32_t type)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(event_rows); i++)
		if ((uint32_t)event_rows[i].type == type)
			return &event_rows[i];
	return NULL;
}

/* --- guest errors --- */

#define RULE_ROW(name, meaning, source, look, example)                                             \
	[RULE_##name] = {#name, meaning, source, look, example},
const struct guest_rule_row guest_rules[RULE_COUNT] = {GUEST_RULES(RULE_ROW)};

#define OBJECT_NAME(NAME, name) [GUEST_##NAME] = name,
static const char *const object_names[GUEST_OBJECT_KINDS] = {GUEST_OBJECTS(OBJECT_NAME)};

int guest_rule_find(const char *name)
{
	for (int i = 0; i < RULE_COUNT; i++)
		if (!strcmp(guest_rules[i].name, name))
			return i;
	return -1;
}

const char *guest_object_format(struct guest_object object, char *buf, size_t n)
{
	const struct hcr_row *command =
		object.kind == GUEST_COMMAND ? hcr_row_find(object.number) : NULL;

	if (object.kind == GUEST_NONE)
		snprintf(buf, n, "%s", "");
	else if (command)
		snprintf(buf, n, "command %s", command->name);
	else
		snprintf(buf, n, "%s 0x%x", object_names[object.kind], object.number);
	return buf;
}
