// SPDX-License-Identifier: Apache-2.0
/* See dead.h. */
#include "testbench/dsan/device/dead.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"

#include "host_driver/core/core.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/regs.h"

#include <inttypes.h>
#include <stdio.h>

#define PS_PER_US UINT64_C(1000000)

/* Who waits for an answer that a dead device does not give, and how long it may take to wake it. */
#define WAKE_PS (100 * PS_PER_US)

static const struct guest_object no_object;

void dead_begin(struct checker *c, struct drv_device *dev)
{
	c->dead = (struct dead){.dev = dev};
}

void dead_listener(struct checker *c, void (*fn)(void *arg, const struct drv_event *event),
		   void *arg)
{
	c->dead.fn = fn;
	c->dead.arg = arg;
}

void dead_watched(struct checker *c, bool is)
{
	c->dead.watched = is;
}

/* --- told --- */

/* A CQ of this queue pair gets completions of flushed requests. */
static void owed_add(struct dead *d, const struct drv_cq *cq, const struct drv_wq *wq)
{
	if (!cq || !cq->owner || wq->head == wq->tail)
		return;
	for (unsigned i = 0; i < d->n_owed; i++)
		if (d->owed[i] == cq)
			return;
	if (d->n_owed < ARRAY_SIZE(d->owed))
		d->owed[d->n_owed++] = cq;
}

static void owed_find(struct dead *d)
{
	const struct drv_list *list = &d->dev->qp_list;

	d->n_owed = 0;
	for (const struct drv_list *l = list->next; l != list; l = l->next) {
		const struct drv_qp *qp = container_of(l, struct drv_qp, link);

		if (qp->user || !qp->owner)
			continue;
		owed_add(d, qp->send_cq, &qp->sq);
		if (qp->has_rq)
			owed_add(d, qp->recv_cq, &qp->rq);
	}
}

void dead_completed(struct checker *c, const struct drv_cq *cq)
{
	struct dead *d = &c->dead;

	for (unsigned i = 0; i < d->n_owed; i++)
		if (d->owed[i] == cq)
			d->owed[i--] = d->owed[--d->n_owed];
}

static void owed_check(struct checker *c)
{
	struct dead *d = &c->dead;
	char names[CHAIN_BYTES];

	chain_format(&d->told_by, names, sizeof(names));
	if (d->n_owed)
		checker_report(
			c,
			&(struct breach){RULE_device_dead, {GUEST_CQ, d->owed[0]->cqn}, NULL, NULL},
			"its queue pairs hold requests that are flushed now, and its handler "
			"was not called when the device's death was told: by %s",
			names);
	d->n_owed = 0;
}

void dead_event(void *arg, const struct drv_event *event)
{
	struct checker *c = arg;
	struct dead *d = &c->dead;
	char names[CHAIN_BYTES], before[CHAIN_BYTES];
	struct calls now;

	if (event->type == IBV_EVENT_DEVICE_FATAL) {
		chain_take(&now);
		chain_format(&now, names, sizeof(names));
		chain_format(&d->told_by, before, sizeof(before));
		if (d->told++)
			checker_report(c, &(struct breach){RULE_device_dead, no_object, NULL, NULL},
				       "its death is told more than once: now by %s, and before by "
				       "%s",
				       names, before);
		d->told_by = now;
		d->told_ps = hca_now(c->host.hca);
		owed_find(d);
	}
	if (d->fn)
		d->fn(d->arg, event);
	if (event->type == IBV_EVENT_DEVICE_FATAL)
		owed_check(c);
}

/* --- it sends the device nothing --- */

static struct guest_object command_of(const struct ask *command)
{
	return (struct guest_object){GUEST_COMMAND, hcr_get_opcode(&command->command.hcr)};
}

static void talk(struct checker *c, const char *what)
{
	char names[CHAIN_BYTES];
	struct calls now;

	if (!c->dead.dev || c->function.raw || !drv_is_dead(c->dead.dev))
		return;
	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_device_dead, no_object, NULL, NULL},
		       "%s written to a device that the driver holds for dead, by %s", what, names);
}

/* What was reset is written back. */
void dead_config(struct checker *c)
{
	if (!c->function.was_reset)
		talk(c, "configuration space is");
}

/* A command that it has begun to write when the device is found dead, it may write to its end. */
void dead_register(struct checker *c, uint64_t offset)
{
	struct dead *d = &c->dead;
	const bool command = offset - BAR0_HCR < sizeof(struct hcr), begun = d->command_begun;

	if (command && d->dev && (begun || !drv_is_dead(d->dev)))
		d->command_begun = offset != BAR0_HCR + sizeof(struct hcr) - sizeof(uint32_t);
	if (offset != BAR0_RESET && !(command && begun))
		talk(c, command ? "a command is" : "a register is");
}

/* --- it is found dead --- */

void dead_register_read(struct checker *c, uint64_t offset, uint32_t value)
{
	struct dead *d = &c->dead;

	if (offset != BAR0_ERR_BUF || !value || d->seen)
		return;
	d->seen = true;
	d->seen_ps = hca_now(c->host.hca);
	chain_take(&d->seen_by);
}

/* Source: Linux mlx4 cmd.c: each command that times out but NOP resets the device, before its
 * mailboxes are given back */
void dead_timeout_check(const struct ask *command)
{
	const struct dead *d = &command->c->dead;
	char names[CHAIN_BYTES];

	if (!d->dev || (hcr_get_event(&command->command.hcr) &&
			hcr_get_opcode(&command->command.hcr) == HCR_NOP))
		return;
	chain_format(&command->command.by, names, sizeof(names));
	if (drv_is_dead(d->dev)) {
		if (command->c->function.reset_ps < command->command.given_ps)
			checker_report(
				command->c,
				&(struct breach){RULE_device_dead, command_of(command), NULL, NULL},
				"a command has timed out, and the device is not reset, so it may "
				"still write its answer into memory that is given back; it was "
				"given by %s",
				names);
		return;
	}
	checker_report(command->c,
		       &(struct breach){RULE_device_dead, command_of(command), NULL, NULL},
		       "a command has timed out, and the driver does not hold the device for dead; "
		       "it was given by %s",
		       names);
}

/* Source: Linux mlx4 cmd.c, mlx4_closing_cmd_fatal_error(); mlx4_multicast_detach on a device in
 * MLX4_DEVICE_STATE_INTERNAL_ERROR */
void dead_gives_back(struct checker *c, int rc, const char *what, const void *pc)
{
	if (c && rc && c->dead.dev && c->dead.dev->dead)
		checker_report(c, &(struct breach){RULE_device_dead, no_object, pc, NULL},
			       "%s cannot be given back on a device that is dead: the call returns "
			       "%d, and its caller keeps for ever what it should free",
			       what, rc);
}

bool dead_tell_waiter(const struct ask *waits)
{
	struct checker *c = waits->c;
	char names[CHAIN_BYTES], told[CHAIN_BYTES];

	if (!c->dead.told || hca_now(c->host.hca) - c->dead.told_ps < WAKE_PS)
		return false;
	chain_format(&waits->command.by, names, sizeof(names));
	chain_format(&c->dead.told_by, told, sizeof(told));
	checker_report(
		c, &(struct breach){RULE_device_dead, command_of(waits), NULL, NULL},
		"who waits for this command is not woken (%s), and the device was declared dead "
		"(%s): mlx4_declare_dead() wakes them",
		names, told);
	return true;
}

void dead_tell_waits(struct checker *c)
{
	const struct dead *d = &c->dead;
	char names[CHAIN_BYTES];

	if (!d->dev || !d->watched || !d->seen || d->told ||
	    hca_now(c->host.hca) - d->seen_ps < WAKE_PS)
		return;
	chain_format(&d->seen_by, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_device_dead, no_object, NULL, NULL},
		       "the error buffer was read %" PRIu64
		       " us ago and held an error, by %s, and nobody was told",
		       (hca_now(c->host.hca) - d->seen_ps) / PS_PER_US, names);
}
