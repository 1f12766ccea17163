/* SPDX-License-Identifier: Apache-2.0 */
/* See acts.h. */
#include "testbench/machine/acts.h"

#include "host_driver/platform.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rows.h"

#include <stdlib.h>
#include <string.h>

/* An act is forgotten when another one needs its slot: a report then lacks it. */
enum { SLOTS = 1 << 12 };

enum act_kind { ACT_NONE, ACT_DOORBELL, ACT_COMMAND, ACT_UNMAP };

struct slot {
	uint64_t key; /* 0: free */
	struct act act;
};

struct acts {
	struct slot slots[SLOTS];
	struct act last_command, last_config;
	const struct act *last_doorbell; /* in its slot */
	struct hcr hcr;                  /* as written so far */
};

struct acts *acts_create(void)
{
	return calloc(1, sizeof(struct acts));
}

void acts_destroy(struct acts *acts)
{
	free(acts);
}

static uint64_t object_key(enum act_kind what, struct guest_object object)
{
	return (uint64_t)what << 56 | (uint64_t)object.kind << 48 | object.number;
}

static uint64_t page_key(uint64_t bus)
{
	return (uint64_t)ACT_UNMAP << 56 | bus / PLATFORM_PAGE_SIZE;
}

static size_t slot_of(uint64_t key)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;

	return (size_t)(key * golden >> 52) % SLOTS;
}

static struct act *act_put(struct acts *acts, uint64_t key)
{
	struct slot *slot = &acts->slots[slot_of(key)];

	slot->key = key;
	return &slot->act;
}

static const struct act *act_find(const struct acts *acts, uint64_t key)
{
	const struct slot *slot = &acts->slots[slot_of(key)];

	return slot->key == key ? &slot->act : NULL;
}

/* --- doorbells --- */

static struct guest_object uar_object(uint64_t offset, const void *bytes, unsigned size)
{
	const uint32_t page = (uint32_t)(offset % HCA_BF_OFFSET / UAR_PAGE_SIZE);
	const uint32_t reg = (uint32_t)(offset % UAR_PAGE_SIZE);

	if (offset >= HCA_BF_OFFSET && size >= sizeof(struct wqe_ctrl))
		return guest_object(GUEST_QP, wqe_ctrl_get_bf_qpn(bytes));
	if (offset < HCA_BF_OFFSET && reg == UAR_SEND_DB && size == sizeof(struct send_db))
		return guest_object(GUEST_QP, send_db_get_qpn(bytes));
	if (offset < HCA_BF_OFFSET && reg == UAR_CQ_ARM && size == sizeof(struct cq_arm_db))
		return guest_object(GUEST_CQ, cq_arm_db_get_cqn(bytes));
	if (offset < HCA_BF_OFFSET && reg >= UAR_EQ_DB)
		return guest_object(GUEST_EQ,
				    page * UAR_EQS_PER_PAGE + (reg - UAR_EQ_DB) / UAR_EQ_DB_STRIDE);
	return guest_object(GUEST_UAR, page);
}

/* --- commands --- */

/* The object that a command's input modifier names: the row's text begins with what it is. */
static struct guest_object command_object(uint32_t opcode, uint32_t modifier)
{
	static const struct {
		const char *in_mod;
		enum guest_object_kind kind;
	} kinds[] = {{"QPN", GUEST_QP},
		     {"CQN", GUEST_CQ},
		     {"EQN", GUEST_EQ},
		     {"SRQN", GUEST_SRQ},
		     {"MPT index", GUEST_MPT}};
	const struct hcr_row *row = hcr_row_find(opcode);

	for (size_t i = 0; row && i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(row->in_mod, kinds[i].in_mod, strlen(kinds[i].in_mod)))
			return guest_object(kinds[i].kind, modifier & 0xffffff);
	return guest_object(GUEST_NONE, 0);
}

static void hcr_write(struct acts *acts, unsigned dword, const void *bytes, const struct act *now)
{
	struct guest_object object;

	memcpy(acts->hcr.b + 4 * dword, bytes, 4);
	if (dword != HCR_DWORDS - 1 || !hcr_get_go(&acts->hcr))
		return;
	acts->last_command = *now;
	acts->last_command.opcode = hcr_get_opcode(&acts->hcr);
	object = command_object(acts->last_command.opcode, hcr_get_in_mod(&acts->hcr));
	if (object.kind != GUEST_NONE)
		*act_put(acts, object_key(ACT_COMMAND, object)) = acts->last_command;
}

/* --- */

void acts_mmio(struct acts *acts, unsigned bar, uint64_t offset, const void *bytes, unsigned size,
	       uint64_t now_ps, const struct kernel_thread *thread)
{
	if (bar == HCA_BAR_UAR) {
		struct act *act =
			act_put(acts, object_key(ACT_DOORBELL, uar_object(offset, bytes, size)));

		act->time_ps = now_ps;
		calls_take(&act->calls, thread);
		acts->last_doorbell = act;
	} else if (offset >= BAR0_HCR && offset < BAR0_HCR + sizeof(struct hcr) && size == 4 &&
		   offset % 4 == 0) {
		struct act now = {.time_ps = now_ps};

		calls_take(&now.calls, thread);
		hcr_write(acts, (unsigned)(offset - BAR0_HCR) / 4, bytes, &now);
	}
}

void acts_config(struct acts *acts, uint64_t now_ps, const struct kernel_thread *thread)
{
	acts->last_config.time_ps = now_ps;
	calls_take(&acts->last_config.calls, thread);
}

const struct act *acts_configured(const struct acts *acts)
{
	return &acts->last_config;
}

void acts_unmap(struct acts *acts, uint64_t bus, size_t bytes, uint64_t now_ps,
		const struct kernel_thread *thread)
{
	struct act now = {.time_ps = now_ps};

	calls_take(&now.calls, thread);
	for (uint64_t at = bus & ~(uint64_t)(PLATFORM_PAGE_SIZE - 1); at < bus + bytes;
	     at += PLATFORM_PAGE_SIZE)
		*act_put(acts, page_key(at)) = now;
}

const struct act *acts_doorbell(const struct acts *acts, struct guest_object object)
{
	/* of a page of doorbells: whatever was rung last */
	if (object.kind == GUEST_UAR)
		return acts->last_doorbell;
	return act_find(acts, object_key(ACT_DOORBELL, object));
}

const struct act *acts_command(const struct acts *acts, struct guest_object object)
{
	if (object.kind != GUEST_COMMAND && object.kind != GUEST_NONE)
		return act_find(acts, object_key(ACT_COMMAND, object));
	return acts->last_command.calls.n ? &acts->last_command : NULL;
}

const struct act *acts_unmapper(const struct acts *acts, uint64_t bus)
{
	return act_find(acts, page_key(bus));
}
