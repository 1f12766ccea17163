/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts, registers, commands and queue entries as text. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "traces/decode.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

enum {
	BYTES_SHOWN = 32, /* most that are shown of a range of bytes */
};

static void decode_name(struct trace_text *t, const char *name)
{
	for (; *name; name++)
		trace_text_add(t, "%c", tolower((unsigned char)*name));
}

void decode_code(struct trace_text *t, const char *name, const char *prefix, uint32_t code)
{
	if (name)
		decode_name(t, name);
	else
		trace_text_add(t, "%s0x%x", prefix, code);
}

/* Whether the field is one that people write in decimal. */
static bool is_decimal(const char *name)
{
	static const char *const words[] = {"psn",   "lid", "len", "length",
					    "count", "cnt", "msn", "index",
					    "pages", "ci",  "pi",  "temperature"};
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t w = strlen(words[i]);

		if (n >= w && !strcmp(name + n - w, words[i]))
			return true;
	}
	return false;
}

static void decode_value(struct trace_text *t, const char *name, uint64_t v)
{
	trace_text_add(t, v < 10 || is_decimal(name) ? " %" PRIu64 : " 0x%" PRIx64, v);
}

/* The name of the value, for fields whose values have names. */
static const char *value_name(const struct layout *l, const struct field_row *f, uint64_t v)
{
	static const struct {
		const struct layout *l;
		const char *field;
		const struct code_table *codes;
	} named[] = {
		{&layout_qpc, "state", &code_table_qp_state},
		{&layout_qpc, "st", &code_table_qp_service},
		{&layout_cq_arm_db, "cmd", &code_table_cq_arm_cmd},
		{&layout_err_buf, "cause", &code_table_err_buf_cause},
		{&layout_mad_hdr, "mgmt_class", &code_table_mad_class},
		{&layout_mad_hdr, "method", &code_table_mad_method},
	};

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (named[i].l == l && !strcmp(named[i].field, f->name))
			return code_name(named[i].codes, (uint32_t)v);
	return NULL;
}

static bool is_zero(const uint8_t *p, uint32_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

static void decode_bytes(struct trace_text *t, const char *name, const uint8_t *p, uint32_t n)
{
	trace_text_add(t, ", %s ", name);
	trace_text_hex(t, p, n < BYTES_SHOWN ? n : BYTES_SHOWN);
	if (n > BYTES_SHOWN)
		trace_text_add(t, "...");
}

void decode_fields(struct trace_text *t, const struct layout *l, const uint8_t *bytes,
		   uint32_t from, uint32_t to)
{
	for (unsigned int i = 0; i < l->n; i++) {
		const struct field_row *f = &l->rows[i];
		uint32_t end = f->offset + (f->width ? f->width / 8U : f->size);
		const char *name;
		uint64_t v;

		if (f->kind == FIELD_KIND_UNION || f->offset < from || end > to)
			continue;
		if (f->kind == FIELD_KIND_LAYOUT) {
			if (f->inner->size != l->size)
				decode_fields(t, f->inner, bytes + f->offset, 0, f->inner->size);
			continue;
		}
		if (f->kind == FIELD_KIND_BYTES) {
			if (!is_zero(bytes + f->offset, f->size))
				decode_bytes(t, f->name, bytes + f->offset, f->size);
			continue;
		}
		v = layout_get(l, i, bytes);
		if (!v)
			continue;
		trace_text_add(t, ", %s", f->name);
		name = value_name(l, f, v);
		if (name) {
			trace_text_add(t, " ");
			decode_name(t, name);
		} else {
			decode_value(t, f->name, v);
		}
	}
}

/* A management datagram of QP1: the fields of connection management and paths; for all others, only
 * those of the header. */
static void decode_gmp(struct trace_text *t, uint32_t class, uint32_t attr, const uint8_t *bytes,
		       uint32_t len)
{
	static const struct {
		uint32_t attr;
		const struct layout *l;
	} messages[] = {
		{CM_ATTR_REQ, &layout_cm_req},           {CM_ATTR_MRA, &layout_cm_mra},
		{CM_ATTR_REJ, &layout_cm_rej},           {CM_ATTR_REP, &layout_cm_rep},
		{CM_ATTR_RTU, &layout_cm_rtu},           {CM_ATTR_DREQ, &layout_cm_dreq},
		{CM_ATTR_DREP, &layout_cm_drep},         {CM_ATTR_SIDR_REQ, &layout_cm_sidr_req},
		{CM_ATTR_SIDR_REP, &layout_cm_sidr_rep}, {CM_ATTR_LAP, &layout_cm_lap},
		{CM_ATTR_APR, &layout_cm_apr},
	};
	const struct code_table *const names = class == MAD_CLASS_PERF ? &code_table_pma_attr
					       : class == MAD_CLASS_CM ? &code_table_cm_attr
								       : &code_table_sa_attr;
	const bool named =
		class == MAD_CLASS_PERF || class == MAD_CLASS_CM || class == MAD_CLASS_SUBN_ADM;

	decode_code(t, named ? code_name(names, attr) : NULL, "attribute ", attr);
	decode_fields(t, &layout_mad_hdr, bytes, 4, 16);
	if (len < MAD_BYTES)
		return;
	for (size_t i = 0; class == MAD_CLASS_CM && i < ARRAY_SIZE(messages); i++)
		if (messages[i].attr == attr)
			decode_fields(t, messages[i].l, bytes, sizeof(struct mad_hdr), MAD_BYTES);
	if (class != MAD_CLASS_SUBN_ADM)
		return;
	decode_fields(t, &layout_sa_mad, bytes, sizeof(struct mad_hdr),
		      MAD_BYTES - sa_mad_data_size);
	if (attr == SA_ATTR_PATH_RECORD)
		decode_fields(t, &layout_path_record,
			      sa_mad_data_cptr((const struct sa_mad *)(const void *)bytes), 0,
			      sizeof(struct path_record));
}

void decode_mad(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	static const struct {
		uint32_t attr;
		const struct layout *l;
	} attrs[] = {
		{SMP_ATTR_NODE_INFO, &layout_node_info}, {SMP_ATTR_PORT_INFO, &layout_port_info},
		{SMP_ATTR_GUID_INFO, &layout_guid_info}, {SMP_ATTR_PKEY_TABLE, &layout_pkey_table},
		{SMP_ATTR_SL2VL, &layout_sl2vl},         {SMP_ATTR_VLARB, &layout_vlarb},
		{SMP_ATTR_NODE_DESC, &layout_node_desc}, {SMP_ATTR_NOTICE, &layout_notice},
	};
	const struct mad_hdr *hdr = (const struct mad_hdr *)(const void *)bytes;
	const struct smp *smp = (const struct smp *)(const void *)bytes;
	uint32_t class, attr;

	if (len < sizeof(*hdr))
		return;
	class = mad_hdr_get_mgmt_class(hdr);
	attr = mad_hdr_get_attr_id(hdr);
	trace_text_add(t, ", mad ");
	decode_code(t, code_name(&code_table_mad_class, class), "class ", class);
	trace_text_add(t, " ");
	decode_code(t, code_name(&code_table_mad_method, mad_hdr_get_method(hdr)), "method ",
		    mad_hdr_get_method(hdr));
	trace_text_add(t, " ");
	if (class != MAD_CLASS_SUBN_LID && class != MAD_CLASS_SUBN_DR) {
		decode_gmp(t, class, attr, bytes, len);
		return;
	}
	decode_code(t, code_name(&code_table_smp_attr, attr), "attribute ", attr);
	decode_fields(t, &layout_mad_hdr, bytes, 4, 16);
	decode_fields(t, &layout_mad_hdr, bytes, 20, 24);
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].attr == attr && len >= sizeof(*smp) / 2)
			decode_fields(t, attrs[i].l, smp_data_cptr(smp), 0, smp_data_size);
}

/* ---- registers */

static void decode_bar0(struct trace_text *t, uint32_t offset, uint32_t value)
{
	const struct bar0_row *reg = bar0_reg_find(offset);
	const struct layout *l = NULL;
	uint8_t bytes[0x40] = {0};
	uint32_t in;

	if (!reg)
		return;
	in = offset - reg->offset;
	trace_text_add(t, " ");
	decode_name(t, reg->name);
	if (in || reg->size > 4)
		trace_text_add(t, "+0x%x", in);
	if (reg->offset == BAR0_HCR)
		l = &layout_hcr;
	else if (reg->offset == BAR0_ERR_BUF)
		l = &layout_err_buf;
	if (!l || in + 4 > l->size)
		return;
	be32_store(bytes + in, value);
	/* a 64-bit field is written in two halves: say which one this is */
	for (unsigned int i = 0; i < l->n; i++)
		if (l->rows[i].width == 64 && in - l->rows[i].offset < 8)
			trace_text_add(t, ", %s %s", l->rows[i].name,
				       in == l->rows[i].offset ? "high" : "low");
	decode_fields(t, l, bytes, in, in + 4);
}

static void decode_uar(struct trace_text *t, uint32_t offset, uint64_t value, uint32_t size)
{
	uint32_t page = offset / UAR_PAGE_SIZE, in = offset % UAR_PAGE_SIZE;
	uint8_t bytes[8];

	if (offset >= HCA_BF_OFFSET) {
		trace_text_add(t, " blueflame %u+0x%x", page - HCA_UAR_PAGES, in);
		return;
	}
	trace_text_add(t, " uar %u+0x%x", page, in);
	be64_store(bytes, size == 8 ? value : value << 32);
	if (in == UAR_SEND_DB)
		decode_fields(t, &layout_send_db, bytes, 0, 4);
	else if (in == UAR_CQ_ARM)
		decode_fields(t, &layout_cq_arm_db, bytes, 0, size);
	else if (in == UAR_CQ_ARM + 4)
		trace_text_add(t, ", ci %u", be32_load(bytes) & QUEUE_INDEX_MASK);
	else if (in >= UAR_EQ_DB && in < UAR_EQ_DB + UAR_EQS_PER_PAGE * UAR_EQ_DB_STRIDE) {
		trace_text_add(t, ", eqn %u",
			       page * UAR_EQS_PER_PAGE + (in - UAR_EQ_DB) / UAR_EQ_DB_STRIDE);
		decode_fields(t, &layout_eq_db, bytes, 0, 4);
	}
}

void decode_reg(struct trace_text *t, const struct trace_record *r)
{
	uint32_t offset = (uint32_t)r->args[1];
	uint32_t size = r->args[3] < 8 ? (uint32_t)r->args[3] : 8;

	if (r->point == TP_CFG_READ || r->point == TP_CFG_WRITE) {
		trace_text_add(t, " 0x%x value 0x%0*" PRIx64, offset, (int)(2 * size), r->args[2]);
		return;
	}
	trace_text_add(t, " bar%" PRIu64 " 0x%x value 0x%0*" PRIx64, r->args[0], offset,
		       (int)(2 * size), r->args[2]);
	if (r->args[0] == HCA_BAR_REGS)
		decode_bar0(t, offset, (uint32_t)r->args[2]);
	else if (r->args[0] == HCA_BAR_UAR)
		decode_uar(t, offset, r->args[2], size);
}

/* ---- commands */

/* The pages that a command gives to the device: as many entries as the input modifier says. */
static void decode_vpm(struct trace_text *t, const struct trace_record *r)
{
	const struct vpm_list *list = r->bytes;

	for (uint32_t i = 0; i < r->args[2] && (i + 1) * 16 <= r->len; i++)
		decode_fields(t, &layout_vpm_entry, vpm_list_at_const(list, i)->b, 0, 16);
}

static void decode_mailbox(struct trace_text *t, const struct trace_record *r,
			   const struct layout *l)
{
	if (!r->bytes || l == &layout_none)
		return;
	if (l == &layout_vpm_list)
		decode_vpm(t, r);
	else
		decode_fields(t, l, r->bytes, 0, r->len < l->size ? r->len : l->size);
}

void decode_hcr(struct trace_text *t, const struct trace_record *r)
{
	const struct hcr_row *row = hcr_row_find((uint32_t)r->args[0]);
	bool done = r->point == TP_HCR_DONE;

	trace_text_add(t, " ");
	decode_code(t, row ? row->name : NULL, "", (uint32_t)r->args[0]);
	if (done) {
		const struct hcr_status_row *status = hcr_status_find((uint32_t)r->args[5]);

		trace_text_add(t, " status ");
		decode_code(t, status ? status->name : NULL, "", (uint32_t)r->args[5]);
	} else {
		trace_text_add(t, " op_mod %" PRIu64 " in_mod 0x%" PRIx64, r->args[1], r->args[2]);
		if (r->args[3])
			trace_text_add(t, " in_param 0x%" PRIx64, r->args[3]);
	}
	if (r->args[4])
		trace_text_add(t, " out_param 0x%" PRIx64, r->args[4]);
	trace_text_add(t, " token 0x%x", r->corr);
	if (!done)
		trace_text_add(t, r->args[5] ? " event" : " poll");
	if (row && row->op == HCR_MAD_IFC && r->bytes)
		decode_mad(t, r->bytes, r->len);
	else if (row)
		decode_mailbox(t, r, done ? row->out_layout : row->in_layout);
	else if (r->bytes)
		decode_bytes(t, "mailbox", r->bytes, r->len);
}

/* ---- completions and events */

void decode_cqe(struct trace_text *t, const struct trace_record *r)
{
	const struct cqe *cqe = r->bytes;
	const struct cqe_syndrome_row *syndrome;
	uint32_t op, code;

	trace_text_add(t, " cqn 0x%" PRIx64 " index %" PRIu64, r->args[0], r->args[1]);
	if (!cqe || r->len < sizeof(*cqe))
		return;
	op = cqe_get_opcode(cqe);
	trace_text_add(t, cqe_get_is_send(cqe) ? " send " : " receive ");
	if (op == CQE_OP_ERROR) {
		code = cqe_err_get_syndrome(cqe_as_err_const(cqe));
		syndrome = cqe_syndrome_find(code);
		decode_code(t, syndrome ? syndrome->name : NULL, "syndrome ", code);
		decode_fields(t, &layout_cqe_err, cqe->b, 0, 0x1b);
		return;
	}
	if (op == CQE_OP_RESIZE)
		trace_text_add(t, "resize");
	else if (cqe_get_is_send(cqe))
		decode_code(t, wqe_op_find(op)->name, "opcode ", op);
	else
		decode_code(t, code_name(&code_table_cqe_recv_opcode, op), "opcode ", op);
	decode_fields(t, &layout_cqe, cqe->b, 0, 0x1f);
}

void decode_eqe(struct trace_text *t, const struct trace_record *r)
{
	const struct eqe *eqe = r->bytes;
	const struct event_row *event;

	trace_text_add(t, " eqn %" PRIu64 " index %" PRIu64 " ", r->args[0], r->args[1]);
	if (!eqe || r->len < sizeof(*eqe))
		return;
	event = event_row_find(eqe_get_type(eqe));
	decode_code(t, event ? event->name : NULL, "event ", eqe_get_type(eqe));
	if (eqe_get_subtype(eqe))
		trace_text_add(t, " subtype 0x%x", eqe_get_subtype(eqe));
	if (event)
		decode_fields(t, event->layout, eqe->b, 4, 0x1c);
}
