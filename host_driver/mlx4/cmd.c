// SPDX-License-Identifier: Apache-2.0
/*
 * Commands: the HCR in polling mode (toggle and GO), event mode with several commands outstanding,
 * mailboxes, status to errno.
 *
 * Polling mode: one command at a time. Event mode: as many as the firmware says; the HCR is held
 * only until the device has taken the command. A command that times out marks the device dead;
 * later ones fail at once. The device is reset then, because it might still write its answer into
 * a mailbox.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/mlx4/pci.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_PS    UINT64_C(60000000000000) /* 60 s, as the Linux driver waits */
#define GO_TIMEOUT_PS UINT64_C(10000000000000) /* 10 s for the HCR to be free */
#define POLL_PS       UINT64_C(1000000)        /* time between two polls, at first */
#define POLL_MAX_PS   UINT64_C(1000000000)
#define POLLS_AT_FULL 200 /* polls before they become less frequent */

enum { HCR_OUT_WORD = 3 }; /* index of the first word of out_param */
/* added to a context's token for each command, so that late answers to older commands are
 * recognised */
enum { TOKEN_STEP = 64 };

/* --- status --- */

#define STATUS_ERRNO_CASE(name, code, errno_name, errno_value, meaning)                            \
	case code:                                                                                 \
		return -(errno_value);

int drv_status_errno(uint8_t status)
{
	switch (status) {
		HCR_STATUSES(STATUS_ERRNO_CASE)
	default:
		return -EIO;
	}
}

/* --- mailboxes --- */

/* The memory of a mailbox. It stays mapped for the next one. */
struct drv_mailbox_page {
	struct drv_mailbox_page *next;
	void *bytes;
	uint64_t bus;
};

static struct drv_mailbox_page *page_get(struct drv_device *dev)
{
	struct drv_mailbox_page *page = dev->cmd.free_pages;

	if (page) {
		dev->cmd.free_pages = page->next;
		return page;
	}
	page = drv_calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->bytes = dev->p->ops->pages_alloc(dev->p, HCR_MBOX_SIZE, &page->bus);
	if (!page->bytes) {
		free(page);
		return NULL;
	}
	return page;
}

struct drv_mailbox *drv_mailbox_get(struct drv_device *dev)
{
	struct drv_mailbox *m = drv_calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->page = page_get(dev);
	if (!m->page) {
		free(m);
		return NULL;
	}
	m->bytes = m->page->bytes;
	m->bus = m->page->bus;
	memset(m->bytes, 0, HCR_MBOX_SIZE);
	dev->cmd.mailboxes++;
	return m;
}

void drv_mailbox_put(struct drv_device *dev, struct drv_mailbox *mailbox)
{
	if (!mailbox)
		return;
	mailbox->page->next = dev->cmd.free_pages;
	dev->cmd.free_pages = mailbox->page;
	dev->cmd.mailboxes--;
	free(mailbox);
}

int drv_cmd_init(struct drv_device *dev)
{
	struct drv_cmd_state *cmd = &dev->cmd;
	int rc = drv_mutex_init(dev, &cmd->hcr);

	if (rc)
		return rc;
	cmd->waitq = dev->p->ops->waitq_create(dev->p);
	if (!cmd->waitq) {
		drv_mutex_cleanup(dev, &cmd->hcr);
		return -ENOMEM;
	}
	cmd->toggle = 1;
	return 0;
}

void drv_cmd_cleanup(struct drv_device *dev)
{
	struct drv_cmd_state *cmd = &dev->cmd;

	while (cmd->free_pages) {
		struct drv_mailbox_page *page = cmd->free_pages;

		cmd->free_pages = page->next;
		dev->p->ops->pages_free(dev->p, page->bytes, HCR_MBOX_SIZE);
		free(page);
	}
	free(cmd->contexts);
	cmd->contexts = NULL;
	if (cmd->waitq)
		dev->p->ops->waitq_destroy(dev->p, cmd->waitq);
	cmd->waitq = NULL;
	drv_mutex_cleanup(dev, &cmd->hcr);
}

/* --- the HCR --- */

void drv_hcr_words(const struct drv_hcr *cmd, uint16_t token, bool event, unsigned toggle,
		   struct hcr *regs)
{
	memset(regs, 0, sizeof(*regs));
	hcr_set_in_param(regs, cmd->in_param);
	hcr_set_in_mod(regs, cmd->in_mod);
	hcr_set_out_param(regs, cmd->out_param);
	hcr_set_token(regs, token);
	hcr_set_go(regs, 1);
	hcr_set_event(regs, event);
	hcr_set_toggle(regs, toggle);
	hcr_set_op_mod(regs, cmd->op_mod);
	hcr_set_opcode(regs, cmd->op);
}

bool drv_hcr_pending(const struct hcr *regs, unsigned next_toggle)
{
	return hcr_get_go(regs) || hcr_get_toggle(regs) == next_toggle;
}

static void hcr_read_word(struct drv_device *dev, struct hcr *regs, unsigned word)
{
	dev->p->ops->mmio_read(dev->p, HCA_BAR_REGS, BAR0_HCR + 4 * word, regs->b + 4 * word, 4);
}

/* Nobody answers, so the device is dead. drv_hcr_exec() resets it when the HCR is free. */
static int command_lost(struct drv_device *dev)
{
	if (dev->dead)
		return -EIO;
	dev->cmd.lost = true;
	mlx4_declare_dead(dev);
	return -ETIMEDOUT;
}

/* Waits until the device gives the HCR back. */
static int hcr_wait(struct drv_device *dev, uint64_t timeout_ps)
{
	const uint64_t start = dev->p->ops->now_ps(dev->p);
	uint64_t pause = POLL_PS;
	struct hcr regs;

	for (unsigned n = 0;; n++) {
		if (dev->dead) /* it may be in its reset, and is left alone */
			return -EIO;
		hcr_read_word(dev, &regs, HCR_DWORDS - 1);
		if (dev->dead)
			return -EIO;
		if (!drv_hcr_pending(&regs, dev->cmd.toggle))
			return 0;
		if (dev->p->ops->now_ps(dev->p) - start > timeout_ps)
			return command_lost(dev);
		dev->p->ops->sleep_ps(dev->p, pause);
		if (n > POLLS_AT_FULL && pause < POLL_MAX_PS)
			pause *= 2;
	}
}

static int hcr_post(struct drv_device *dev, const struct drv_hcr *cmd, uint16_t token, bool event)
{
	struct hcr regs;
	int rc = hcr_wait(dev, GO_TIMEOUT_PS);

	if (rc)
		return rc;
	drv_hcr_words(cmd, token, event, dev->cmd.toggle, &regs);
	dev->cmd.toggle ^= 1;
	for (unsigned i = 0; i < HCR_DWORDS; i++) {
		if (i == HCR_DWORDS - 1)
			drv_command_before_go();
		dev->p->ops->mmio_write(dev->p, HCA_BAR_REGS, BAR0_HCR + 4 * i, regs.b + 4 * i, 4);
	}
	return 0;
}

static int exec_polling(struct drv_device *dev, struct drv_hcr *cmd)
{
	struct hcr regs;
	int rc;

	drv_lock(dev, &dev->cmd.hcr);
	rc = hcr_post(dev, cmd, HCR_TOKEN_POLL, false);
	if (!rc)
		rc = hcr_wait(dev, cmd->timeout_ps);
	if (rc)
		goto unlock;
	for (unsigned i = HCR_OUT_WORD; i < HCR_DWORDS; i++)
		hcr_read_word(dev, &regs, i);
	cmd->out_param = hcr_get_out_param(&regs);
	cmd->status = (uint8_t)hcr_get_status(&regs);
	rc = drv_status_errno(cmd->status);
unlock:
	drv_unlock(dev, &dev->cmd.hcr);
	return rc;
}

static struct drv_cmd_context *context_get(struct drv_device *dev)
{
	struct drv_cmd_state *cmd = &dev->cmd;

	while (cmd->busy == cmd->n_contexts) {
		drv_settle(dev);
		if (cmd->busy == cmd->n_contexts)
			dev->p->ops->waitq_wait(dev->p, cmd->waitq, UINT64_MAX);
	}
	for (unsigned i = 0;; i++) {
		struct drv_cmd_context *c = &cmd->contexts[i];

		if (c->busy)
			continue;
		c->busy = true;
		c->done = false;
		c->token = (uint16_t)(c->token + TOKEN_STEP);
		cmd->busy++;
		return c;
	}
}

static int exec_events(struct drv_device *dev, struct drv_hcr *cmd)
{
	struct drv_cmd_context *c = context_get(dev);
	uint64_t deadline;
	int rc;

	drv_lock(dev, &dev->cmd.hcr);
	rc = hcr_post(dev, cmd, c->token, true);
	drv_unlock(dev, &dev->cmd.hcr);
	deadline = dev->p->ops->now_ps(dev->p) + cmd->timeout_ps;
	while (!rc && !c->done) {
		drv_settle(dev);
		if (c->done)
			break;
		/* it may have died while the command was on its way, and has told then */
		if (dev->dead) {
			rc = -EIO;
		} else if (!dev->p->ops->waitq_wait(dev->p, dev->cmd.waitq, deadline) && !c->done) {
			rc = cmd->op == HCR_NOP ? -ETIMEDOUT : command_lost(dev);
		}
	}
	if (!rc) {
		cmd->out_param = c->out_param;
		cmd->status = c->status;
		rc = drv_status_errno(c->status);
	}
	c->busy = false;
	dev->cmd.busy--;
	dev->p->ops->waitq_wake_all(dev->p, dev->cmd.waitq);
	return rc;
}

void drv_cmd_completed(struct drv_device *dev, const struct eqe_cmd *eqe)
{
	struct drv_cmd_state *cmd = &dev->cmd;
	const uint16_t token = (uint16_t)eqe_cmd_get_token(eqe);

	for (unsigned i = 0; i < cmd->n_contexts; i++) {
		struct drv_cmd_context *c = &cmd->contexts[i];

		if (!c->busy || c->token != token)
			continue;
		c->done = true;
		c->status = (uint8_t)eqe_cmd_get_status(eqe);
		c->out_param = eqe_cmd_get_out_param(eqe);
		dev->p->ops->waitq_wake_all(dev->p, cmd->waitq);
		return;
	}
}

int drv_cmd_use_events(struct drv_device *dev, unsigned max_commands)
{
	struct drv_cmd_state *cmd = &dev->cmd;

	if (max_commands > TOKEN_STEP)
		max_commands = TOKEN_STEP;
	cmd->contexts = drv_calloc(max_commands, sizeof(*cmd->contexts));
	if (!cmd->contexts)
		return -ENOMEM;
	for (unsigned i = 0; i < max_commands; i++)
		cmd->contexts[i].token = (uint16_t)i;
	cmd->n_contexts = max_commands;
	cmd->events = true;
	return 0;
}

void drv_cmd_use_polling(struct drv_device *dev)
{
	struct drv_cmd_state *cmd = &dev->cmd;

	cmd->events = false;
	while (cmd->busy && !dev->dead) {
		drv_settle(dev);
		if (cmd->busy)
			dev->p->ops->waitq_wait(dev->p, cmd->waitq, UINT64_MAX);
	}
	free(cmd->contexts);
	cmd->contexts = NULL;
	cmd->n_contexts = 0;
}

bool drv_cmd_is_closing(uint16_t op)
{
#define HCR_CLOSING(name, opcode, in, out, in_layout, out_layout, flags, ...)                      \
	case opcode:                                                                               \
		return (flags)&HCR_F_CLOSING;
	switch ((unsigned)op) {
		HCR_COMMANDS(HCR_CLOSING)
	default:
		return false;
	}
}

/* The device has refused to give something back, or has not answered, and might go on using it. So
 * it is reset, and is dead afterwards. */
static void device_stop(struct drv_device *dev)
{
	mlx4_declare_dead(dev);
	drv_pci_reset(dev);
	mlx4_fatal(dev);
}

int drv_hcr_exec(struct drv_device *dev, struct drv_hcr *cmd)
{
	int rc;

	if (dev->dead)
		return drv_cmd_is_closing(cmd->op) || cmd->op == HCR_CLOSE_PORT ? 0 : -EIO;
	if (!cmd->timeout_ps)
		cmd->timeout_ps = dev->options.command_timeout_ps ? dev->options.command_timeout_ps
								  : TIMEOUT_PS;
	DRV_ENTER(dev, "opcode %03x, in_mod %x", cmd->op, cmd->in_mod);
	rc = dev->cmd.events ? exec_events(dev, cmd) : exec_polling(dev, cmd);
	if (rc == -ETIMEDOUT && dev->cmd.lost) {
		dev->cmd.lost = false;
		device_stop(dev);
	}
	if (rc && dev->closing)
		dev->failed_commands++;
	return DRV_LEAVE(dev, rc);
}

/* --- shapes of commands --- */

static int exec(struct drv_device *dev, struct drv_hcr *cmd)
{
	int rc = drv_hcr_exec(dev, cmd);

	if (!rc || !drv_cmd_is_closing(cmd->op) || cmd->status == HCR_STATUS_REG_BOUND)
		return rc;
	if (!dev->dead)
		device_stop(dev);
	return 0;
}

int drv_cmd_plain(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod)
{
	return exec(dev, &(struct drv_hcr){.op = op, .op_mod = op_mod, .in_mod = in_mod});
}

int drv_cmd_imm(struct drv_device *dev, uint16_t op, uint32_t in_mod, uint64_t in_param,
		uint64_t *out_param)
{
	struct drv_hcr cmd = {.op = op, .in_mod = in_mod, .in_param = in_param};
	int rc = exec(dev, &cmd);

	if (!rc && out_param)
		*out_param = cmd.out_param;
	return rc;
}

int drv_cmd_in(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod,
	       const void *in, size_t len)
{
	return mlx4_cmd(
		dev,
		&(struct drv_raw_cmd){
			.op = op, .op_mod = op_mod, .in_mod = in_mod, .in = in, .in_len = len});
}

int drv_cmd_out(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod, void *out,
		size_t len)
{
	return mlx4_cmd(
		dev,
		&(struct drv_raw_cmd){
			.op = op, .op_mod = op_mod, .in_mod = in_mod, .out = out, .out_len = len});
}

int mlx4_cmd(struct drv_device *dev, struct drv_raw_cmd *cmd)
{
	struct drv_hcr hcr = {.op = cmd->op,
			      .op_mod = cmd->op_mod,
			      .in_mod = cmd->in_mod,
			      .in_param = cmd->in_param,
			      .timeout_ps = cmd->timeout_ps};
	struct drv_mailbox *in = NULL, *out = NULL;
	int rc = -ENOMEM;

	if (cmd->in_len > HCR_MBOX_SIZE || cmd->out_len > HCR_MBOX_SIZE)
		return -EINVAL;
	if (cmd->in) {
		in = drv_mailbox_get(dev);
		if (!in)
			return -ENOMEM;
		memcpy(in->bytes, cmd->in, cmd->in_len);
		hcr.in_param = in->bus;
	}
	if (cmd->out) {
		out = drv_mailbox_get(dev);
		if (!out)
			goto put_in;
		hcr.out_param = out->bus;
	}
	rc = drv_hcr_exec(dev, &hcr);
	cmd->status = hcr.status;
	if (!rc && out)
		memcpy(cmd->out, out->bytes, cmd->out_len);
	if (!rc && cmd->out_imm)
		cmd->out_param = hcr.out_param;
	drv_mailbox_put(dev, out);
put_in:
	drv_mailbox_put(dev, in);
	return rc;
}
