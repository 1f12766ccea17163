/* SPDX-License-Identifier: Apache-2.0 */
/* The command register: a command from its seven words to its completion. */
#include "fw/cmds.h"
#include "model/interface/rules.h"

struct row {
	uint16_t op;
	uint8_t state;   /* enum fw_state */
	uint8_t op_mods; /* set of those known */
	uint16_t in_size, out_size;
	enum hcr_status (*handler)(struct fw_cmd *c);
};

#define COMMAND_ROW(name, state, op_mods, in_size, out_size, handler)                              \
	{HCR_##name, FW_STATE_##state, op_mods, in_size, out_size, handler},

static const struct row rows[] = {FW_COMMANDS(COMMAND_ROW)};

static const struct row *row_find(uint32_t op)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].op == op)
			return &rows[i];
	return NULL;
}

/* From the rows of the interface: its flags, and what its output is. */
struct facts {
	uint8_t in, out, flags;
};

#define COMMAND_FACTS(name, code, in, out, in_layout, out_layout, flags, im, meaning)              \
	case code:                                                                                 \
		return (struct facts){HCR_P_##in, HCR_P_##out, flags};

static struct facts facts_of(uint32_t op)
{
	switch (op) {
		HCR_COMMANDS(COMMAND_FACTS)
	default:
		return (struct facts){0};
	}
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

static enum hcr_status command_run(struct fw_cmd *c, const struct row *row, struct facts facts)
{
	bool outbox = facts.out == HCR_P_MBOX ||
		      (facts.out == HCR_P_MBOX_OPT && c->op_mod != HCR_OM_NO_OUTBOX);
	enum hcr_status status = HCR_STATUS_OK;

	if (fw.state < row->state) {
		fw_guest_error(RULE_command_sequence, "a command came before the one it needs");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	if (outbox) {
		status = mailbox_check(c->out);
		c->out_size = row->out_size;
		memset(fw.out, 0, c->out_size);
	}
	if (status != HCR_STATUS_OK && facts.flags & HCR_F_CLOSING) {
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
	struct facts facts = facts_of(c->op);
	bool closing = facts.flags & HCR_F_CLOSING;
	enum hcr_status status;

	if (!row || (!(row->op_mods >> c->op_mod & 1) && !closing))
		return HCR_STATUS_BAD_OP;
	status = command_run(c, row, facts);
	/* The driver resets the device when one of these fails; what was wrong has been reported.
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
