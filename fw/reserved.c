/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved bits of mailboxes: the bits that no row of model/interface describes. */
#include "fw/cmds.h"

struct field {
	uint16_t offset, bytes;
	uint8_t hi, lo; /* hi < lo: all bytes */
};

#define ROW_F(layout, width, name, offset, hi, lo, meaning) {offset, (width) / 8, hi, lo},
#define ROW_B(layout, name, offset, size, meaning)          {offset, size, 0, 1},
#define ROW_NONE(...)
#define ROWS(list)  list(ROW_F, ROW_F, ROW_B, ROW_F, ROW_NONE)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct field init_hca_rows[] = {ROWS(INIT_HCA_FIELDS)};
static const struct field set_port_rows[] = {ROWS(SET_PORT_FIELDS)};
static const struct field mpt_rows[] = {ROWS(MPT_ENTRY_FIELDS)};
static const struct field eqc_rows[] = {ROWS(EQC_FIELDS)};
static const struct field cqc_rows[] = {ROWS(CQC_FIELDS)};
static const struct field srqc_rows[] = {ROWS(SRQC_FIELDS)};
static const struct field qp_mbox_rows[] = {ROWS(QP_MBOX_FIELDS)};
static const struct field qpc_rows[] = {ROWS(QPC_FIELDS)};
static const struct field qp_path_rows[] = {ROWS(QP_PATH_FIELDS)};
static const struct field rss_rows[] = {ROWS(RSS_CONTEXT_FIELDS)};
static const struct field mcg_rows[] = {ROWS(MCG_ENTRY_FIELDS)};

static void rows_put(uint8_t *b, const struct field *rows, uint32_t n)
{
	for (; n--; rows++) {
		uint8_t *at = b + rows->offset;

		if (rows->hi < rows->lo) {
			memset(at, 0xff, rows->bytes);
			continue;
		}
		for (uint32_t i = rows->lo / 8u; i <= rows->hi / 8u; i++) {
			uint32_t low = rows->lo > 8 * i ? rows->lo - 8 * i : 0;
			uint32_t high = min_u32(rows->hi - 8 * i, 7);

			at[rows->bytes - 1 - i] |=
				(uint8_t)((0xffu >> (7 - high)) & (0xffu << low));
		}
	}
}

/* The bits that rows describe; computed at the first use. The byte order is that of fw.in. */
static bool only_known(const uint32_t *known, uint32_t size)
{
	const uint32_t *in = (const uint32_t *)(const void *)fw.in;
	uint32_t rest = 0;

	for (uint32_t i = 0; i < size / 4; i++)
		rest |= in[i] & ~known[i];
	return !rest;
}

#define CLEAR(name, rows, layout)                                                                  \
	bool reserved_clear_##name(void)                                                           \
	{                                                                                          \
		static uint32_t known[sizeof(struct layout) / 4];                                  \
		static bool made;                                                                  \
                                                                                                   \
		if (!made)                                                                         \
			rows_put((uint8_t *)known, rows, COUNT(rows));                             \
		made = true;                                                                       \
		return only_known(known, sizeof(struct layout));                                   \
	}

CLEAR(init_hca, init_hca_rows, init_hca)
CLEAR(set_port, set_port_rows, set_port)
CLEAR(mpt, mpt_rows, mpt_entry)
CLEAR(eqc, eqc_rows, eqc)
CLEAR(cqc, cqc_rows, cqc)
CLEAR(mcg, mcg_rows, mcg_entry)

static void srq_rows_put(struct srqc *s)
{
	rows_put(s->b, srqc_rows, COUNT(srqc_rows));
	srqc_set_next_wqe(s, 0);
}

bool reserved_clear_srqc(void)
{
	static uint32_t known[sizeof(struct srqc) / 4];
	static bool made;

	if (!made)
		srq_rows_put((struct srqc *)(void *)known);
	made = true;
	return only_known(known, sizeof(struct srqc));
}

static void qp_rows_put(struct qp_mbox *m)
{
	struct qpc *q = qp_mbox_context(m);

	rows_put(m->b, qp_mbox_rows, COUNT(qp_mbox_rows));
	rows_put(q->b, qpc_rows, COUNT(qpc_rows));
	rows_put(qpc_primary(q)->b, qp_path_rows, COUNT(qp_path_rows));
	rows_put(qpc_alternate(q)->b, qp_path_rows, COUNT(qp_path_rows));
	/* The device's own fields, where software has reserved bytes. */
	qpc_set_sqd_event(q, 0);
	qpc_set_send_limited(q, 0);
	qpc_set_send_limit(q, 0);
}

bool reserved_clear_qp(void)
{
	static uint32_t known[sizeof(struct qp_mbox) / 4];
	static bool made;

	if (!made)
		qp_rows_put((struct qp_mbox *)(void *)known);
	made = true;
	return only_known(known, sizeof(struct qp_mbox));
}

/* The same for a QP that spreads frames, whose paths have other fields, too. */
bool reserved_clear_rss_qp(void)
{
	uint32_t known[sizeof(struct qp_mbox) / 4] = {0};
	struct qp_mbox *m = (struct qp_mbox *)(void *)known;

	if (!qpc_get_rss(qp_mbox_context_const((const struct qp_mbox *)fw.in)))
		return false;
	qp_rows_put(m);
	rows_put(qp_mbox_context(m)->b + RSS_CONTEXT_AT, rss_rows, COUNT(rss_rows));
	return only_known(known, sizeof(known));
}

enum hcr_status cmd_reserved(const char *what)
{
	fw_guest_error(RULE_mailbox_reserved, GUEST_NONE, 0, what);
	return HCR_STATUS_BAD_PARAM;
}

enum hcr_status cmd_no_object(enum guest_object_kind kind, uint32_t number, const char *what)
{
	fw_guest_error(RULE_object_dead, kind, number, what);
	return HCR_STATUS_BAD_RESOURCE;
}
