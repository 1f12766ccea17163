/* SPDX-License-Identifier: Apache-2.0 */
/* The command register: executes a command, from its seven words to its completion. */
#include "fw/cmds.h"
#include "model/interface/macros.h"

struct row {
	uint16_t op;
	uint8_t in, out;            /* enum hcr_param */
	uint8_t flags;              /* enum hcr_flag */
	uint8_t state;              /* enum fw_state: the first in which the command is legal */
	uint8_t op_mods;            /* enum hcr_op_mods: those that the handler knows */
	uint16_t in_size, out_size; /* bytes of the mailboxes that are moved for the handler */
	enum hcr_status (*handler)(struct fw_cmd *c);
};

/* The layout "none" of a row. */
struct none {
};

/* An optional input mailbox is not read: no command that has one uses it. */
#define IN_SIZE(in, layout, flags)                                                                 \
	((in) == HCR_P_MBOX && !((flags)&HCR_F_OWN_IN) ? sizeof(struct layout) : 0)
#define OUT_SIZE(out, layout, flags)                                                               \
	((out) >= HCR_P_MBOX && !((flags)&HCR_F_OWN_OUT) ? sizeof(struct layout) : 0)

#define ROW(name, code, in, out, in_layout, out_layout, flags, state, op_mods, handler, ...)       \
	{(code),                                                                                   \
	 HCR_P_##in,                                                                               \
	 HCR_P_##out,                                                                              \
	 (flags),                                                                                  \
	 FW_STATE_##state,                                                                         \
	 HCR_OM_##op_mods,                                                                         \
	 IN_SIZE(HCR_P_##in, in_layout, flags),                                                    \
	 OUT_SIZE(HCR_P_##out, out_layout, flags),                                                 \
	 cmd_##handler},
static const struct row rows[] = {HCR_COMMANDS(ROW)};
#undef ROW

/* The handler of commands that this firmware does not execute. */
enum hcr_status cmd_none(struct fw_cmd *c)
{
	return HCR_STATUS_BAD_OP;
}

/* The rows ascend by opcode. */
static const struct row *row_find(uint32_t op)
{
	unsigned int first = 0, end = ARRAY_SIZE(rows);

	while (first < end) {
		unsigned int middle = (first + end) / 2;

		if (rows[middle].op == op)
			return &rows[middle];
		if (rows[middle].op < op)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

static void command_load(struct fw_cmd *c)
{
	uint32_t word = fw_read(FW_HCR6);

	c->in = (uint64_t)fw_read(FW_HCR0) << 32 | fw_read(FW_HCR1);
	c->in_mod = fw_read(FW_HCR2);
	c->out = (uint64_t)fw_read(FW_HCR3) << 32 | fw_read(FW_HCR4);
	c->token = fw_read(FW_HCR5) >> 16;
	c->event = word >> 22 & 1;
	c->op_mod = word >> 12 & 0xf;
	c->op = word & 0xfff;
	c->out_size = 0;
}

static enum hcr_status mailbox_check(uint64_t bus)
{
	if (bus & (HCR_MBOX_SIZE - 1))
		return cmd_reserved("a mailbox is not aligned to 4096 bytes");
	return HCR_STATUS_OK;
}

enum hcr_status cmd_inbox(const struct fw_cmd *c, uint32_t offset, uint32_t size)
{
	enum hcr_status status = mailbox_check(c->in);

	if (status != HCR_STATUS_OK)
		return status;
	return fw_dma_read(c->in + offset, fw.in + offset, size) == FW_DMA_OK
		       ? HCR_STATUS_OK
		       : HCR_STATUS_BAD_PARAM;
}

static enum hcr_status command_run(struct fw_cmd *c, const struct row *row)
{
	bool outbox = row->out == HCR_P_MBOX ||
		      (row->out == HCR_P_MBOX_OPT && c->op_mod != HCR_OM_NO_OUTBOX);
	enum hcr_status status = HCR_STATUS_OK;

	if (fw.state < row->state) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       "a command came before the one it needs");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	if (outbox) {
		status = mailbox_check(c->out);
		c->out_size = row->out_size;
		memset(fw.out, 0, c->out_size);
	}
	if (status != HCR_STATUS_OK && row->flags & HCR_F_CLOSING) {
		c->out_size = 0;
		status = HCR_STATUS_OK;
	}
	if (status == HCR_STATUS_OK && row->in_size)
		status = cmd_inbox(c, 0, row->in_size);
	if (status == HCR_STATUS_OK)
		status = row->handler(c);
	if (status == HCR_STATUS_OK && c->out_size && fw_dma_write(c->out, fw.out, c->out_size))
		status = HCR_STATUS_BAD_PARAM;
	return status;
}

static enum hcr_status command_execute(struct fw_cmd *c)
{
	const struct row *row = row_find(c->op);
	bool closing = row && row->flags & HCR_F_CLOSING;
	enum hcr_status status;

	if (!row || (!(row->op_mods >> c->op_mod & 1) && !closing))
		return HCR_STATUS_BAD_OP;
	status = command_run(c, row);
	/* What was wrong has been reported. Another status would make the driver reset the device.
	 */
	if (closing && status != HCR_STATUS_REG_BOUND)
		status = HCR_STATUS_OK;
	return status;
}

static void completion_post(const struct fw_cmd *c, enum hcr_status status)
{
	struct eqe eqe = {0};
	struct eqe_cmd *cmd = eqe_as_cmd(&eqe);

	eqe_set_type(&eqe, EVENT_CMD);
	eqe_cmd_set_token(cmd, c->token);
	eqe_cmd_set_status(cmd, status);
	eqe_cmd_set_out_param(cmd, c->out);
	fw_event_post(&eqe);
}

void hcr_serve(void)
{
	struct fw_cmd c;
	enum hcr_status status;

	command_load(&c);
	status = command_execute(&c);
	fw_write(FW_HCR_OUT_HI, (uint32_t)(c.out >> 32));
	fw_write(FW_HCR_OUT_LO, (uint32_t)c.out);
	fw_write(FW_HCR_DONE, status);
	if (c.event)
		completion_post(&c, status);
}
