/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved bits of mailboxes: those no row of model/interface describes. */
#include "fw/cmds.h"
#include "model/engine/rules.h"

struct field {
	uint16_t offset, bytes;
	uint8_t hi, lo; /* hi < lo: all bytes */
};

#define ROW_F(layout, width, name, offset, hi, lo, meaning) {offset, (width) / 8, hi, lo},
#define ROW_B(layout, name, offset, size, meaning)          {offset, size, 0, 1},
#define ROW_NONE(...)
#define ROWS(list)  list(ROW_F, ROW_F, ROW_B, ROW_NONE, ROW_NONE)
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
static const struct field mcg_rows[] = {ROWS(MCG_ENTRY_FIELDS)};

/* What is left when the bits of the rows are taken out. */
static uint8_t rest[1024];

static void rows_take(uint32_t at, const struct field *rows, uint32_t n)
{
	for (; n--; rows++) {
		uint8_t *b = rest + at + rows->offset;

		if (rows->hi < rows->lo) {
			memset(b, 0, rows->bytes);
			continue;
		}
		for (uint32_t i = rows->lo / 8u; i <= rows->hi / 8u; i++) {
			uint32_t low = rows->lo > 8 * i ? rows->lo - 8 * i : 0;
			uint32_t high = min_u32(rows->hi - 8 * i, 7);

			b[rows->bytes - 1 - i] &=
				(uint8_t) ~((0xffu >> (7 - high)) & (0xffu << low));
		}
	}
}

static void rest_load(uint32_t size)
{
	memcpy(rest, fw.in, size);
}

static bool rest_is_clear(uint32_t size)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < size; i++)
		any |= rest[i];
	return !any;
}

static bool clear(const struct field *rows, uint32_t n, uint32_t size)
{
	rest_load(size);
	rows_take(0, rows, n);
	return rest_is_clear(size);
}

#define CLEAR(rows, layout) clear(rows, COUNT(rows), sizeof(struct layout))

bool reserved_clear_init_hca(void)
{
	return CLEAR(init_hca_rows, init_hca);
}

bool reserved_clear_set_port(void)
{
	return CLEAR(set_port_rows, set_port);
}

bool reserved_clear_mpt(void)
{
	return CLEAR(mpt_rows, mpt_entry);
}

bool reserved_clear_eqc(void)
{
	return CLEAR(eqc_rows, eqc);
}

bool reserved_clear_cqc(void)
{
	return CLEAR(cqc_rows, cqc);
}

bool reserved_clear_srqc(void)
{
	return CLEAR(srqc_rows, srqc);
}

bool reserved_clear_mcg(void)
{
	return CLEAR(mcg_rows, mcg_entry);
}

bool reserved_clear_qp(void)
{
	struct qp_mbox *m = (struct qp_mbox *)rest;
	struct qpc *q = qp_mbox_context(m);

	rest_load(sizeof(*m));
	rows_take(0, qp_mbox_rows, COUNT(qp_mbox_rows));
	rows_take((uint32_t)(q->b - rest), qpc_rows, COUNT(qpc_rows));
	rows_take((uint32_t)(qpc_primary(q)->b - rest), qp_path_rows, COUNT(qp_path_rows));
	rows_take((uint32_t)(qpc_alternate(q)->b - rest), qp_path_rows, COUNT(qp_path_rows));
	return rest_is_clear(sizeof(*m));
}

enum hcr_status cmd_reserved(const char *what)
{
	fw_guest_error(RULE_mailbox_reserved, what);
	return HCR_STATUS_BAD_PARAM;
}

enum hcr_status cmd_no_object(const char *what)
{
	fw_guest_error(RULE_object_dead, what);
	return HCR_STATUS_BAD_RESOURCE;
}
