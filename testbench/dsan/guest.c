// SPDX-License-Identifier: Apache-2.0
/* See guest.h. */
#define _GNU_SOURCE
#include "testbench/dsan/guest.h"

#include "testbench/dsan/held/claims.h"
#include "testbench/dsan/own/own_impl.h"

#include "model/interface/macros.h"
#include "model/interface/commands.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Linux gives a PCI device bus addresses below 4 GiB first, and without an IOMMU they are those of
 * memory. Pages beyond are not followed. */
#define GUEST_BUS_BYTES (UINT64_C(1) << 38)

/* --- which rules a guest's driver is held to --- */

/* Linux: the kernel has the upper half of the addresses. */
static bool is_kernel(uint64_t pc)
{
	return pc >> 63;
}

/*
 * What a processor keeps in order by itself, so that right code has no barrier there. x86 keeps loads
 * in their order, and stores. Linux's wmb() is an instruction there nevertheless, and the InfiniBand
 * modules have it. Its dma_wmb(), which the network module has, and the barriers of libibverbs are
 * none.
 */
static const struct machine {
	bool loads;          /* all loads are in order */
	bool program_stores; /* those of programs are */
	bool frame_stores;   /* those for the queues of a network interface are */
} machines[] = {
	[GUEST_X86_64] = {.loads = true, .program_stores = true, .frame_stores = true},
	[GUEST_AARCH64] = {.loads = false},
};

static bool is_for_frames(const struct checker *c, uintptr_t at)
{
	for (const struct claim *k = claims_of_page(c->claims, at); k; k = k->page_next)
		if (k->holder->queues && k->holder->queues->frames)
			return true;
	return false;
}

/* What is kept in order without a barrier is like code with one behind each access. */
static unsigned fences_of(const struct checker *c, const struct machine *m, uintptr_t at,
			  uint64_t pc)
{
	const bool stores =
		(m->program_stores && !is_kernel(pc)) || (m->frame_stores && is_for_frames(c, at));

	return (m->loads ? CALLOUT_FENCE_LOADS : 0) | (stores ? CALLOUT_FENCE_STORES : 0);
}

/*
 * Linux gives entries of queues back without a barrier behind the loads: the device needs much longer
 * to come round. A program arms a CQ once more with the old number when it has not taken the event
 * yet, of which the kernel's handler knows already.
 */
static bool guest_judges(const struct checker *c, const struct breach *b)
{
	switch (b->rule) {
	case RULE_order_index:
		return false;
	case RULE_arm_record:
		return is_kernel((uintptr_t)b->pc);
	default:
		return true;
	}
}

/* testbench/vm/code.sh finds the function. */
static void guest_place(const void *pc, char *buf, size_t size)
{
	snprintf(buf, size, "code 0x%" PRIxPTR, (uintptr_t)pc);
}

/* --- what its driver is refused --- */

/*
 * Firmware refuses what the driver has made up wrong: a field, an index, a state. What it refuses for
 * another reason is no mistake: a command that this device does not have, a region that still has
 * windows, a queue pair that an error has taken to another state meanwhile.
 */
static bool is_mistake(enum hcr_status status)
{
	switch (status) {
	case HCR_STATUS_BAD_PARAM:
	case HCR_STATUS_BAD_SYS_STATE:
	case HCR_STATUS_BAD_RESOURCE:
	case HCR_STATUS_EXCEED_LIM:
	case HCR_STATUS_BAD_RES_STATE:
	case HCR_STATUS_BAD_INDEX:
	case HCR_STATUS_BAD_SEG_PARAM:
	case HCR_STATUS_ICM_ERROR:
		return true;
	default:
		return false;
	}
}

static void command_done(struct checker *c, const struct hcr *command,
			 const struct hca_command_answer *answer)
{
	const struct hcr_row *row = hcr_row_find(hcr_get_opcode(command));
	const struct hcr_status_row *status = hcr_status_find(answer->status);

	if (!row || !status || answer->planned || !is_mistake(answer->status))
		return;
	checker_report(c,
		       &(struct breach){RULE_command_refused, {GUEST_COMMAND, row->op}, NULL, NULL},
		       "the firmware refuses %s, modifier 0x%x: status %s, %s", row->name,
		       (unsigned)hcr_get_in_mod(command), status->name, status->meaning);
}

static const struct watcher guest_watcher = {.command_done = command_done};

/* --- life --- */

struct checker *guest_checker_create(struct hca *hca,
				     bool (*read)(void *ctx, uint64_t bus, void *buf, size_t len),
				     void *read_ctx)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	/* no pointers lead to a guest's memory: an address of the checker is a bus address */
	c->host = (struct checker_host){
		.hca = hca, .bytes = GUEST_BUS_BYTES, .read = read, .read_ctx = read_ctx};
	c->guest = true;
	c->judges = guest_judges;
	c->watcher = &guest_watcher;
	c->place = guest_place;
	c->claims = claims_create(c);
	if (!c->claims) {
		checker_free(c);
		return NULL;
	}
	checker_hear_device(c);
	return c;
}

void guest_checker_destroy(struct checker *c)
{
	void *memory = c ? c->host.memory : NULL;

	if (!c)
		return;
	hca_monitor_set(c->host.hca, NULL);
	checker_free(c);
	if (memory)
		munmap(memory, GUEST_BUS_BYTES);
}

/* --- memory --- */

/* Where nothing is mapped the checker sees zeros. */
static void *nothing_map(void *at, uint64_t bytes)
{
	return mmap(at, bytes, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
}

bool guest_checker_watch(struct checker *c, void (*page)(void *ctx, uint64_t page, bool watched),
			 void *ctx)
{
	void *memory = nothing_map(NULL, GUEST_BUS_BYTES);

	if (memory == MAP_FAILED)
		return false;
	/* from here on an address of the checker is a pointer to the guest's memory */
	c->host.memory = memory;
	c->watch.page = page;
	c->watch.ctx = ctx;
	c->order = order_create(c);
	c->own = own_create(c);
	return c->order && c->own && checker_shadow(c);
}

static bool is_in_view(const struct checker *c, uint64_t bus, uint64_t bytes)
{
	return c->host.memory && bus < GUEST_BUS_BYTES && bytes <= GUEST_BUS_BYTES - bus;
}

/* A file that can be made shorter is not looked into: that would be a fault of this process. */
void guest_checker_mapped(struct checker *c, uint64_t bus, uint64_t bytes, int fd, uint64_t offset)
{
	const int seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;

	if (!is_in_view(c, bus, bytes) || seals < 0 || !(seals & F_SEAL_SHRINK))
		return;
	if (mmap((uint8_t *)c->host.memory + bus, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
		 (off_t)offset) == MAP_FAILED)
		nothing_map((uint8_t *)c->host.memory + bus, bytes);
}

void guest_checker_unmapped(struct checker *c, uint64_t bus, uint64_t bytes)
{
	if (bytes < GUEST_RELEASE_MAX)
		claims_taken(c->claims, (uintptr_t)c->host.memory + bus, bytes, NULL);
	if (bytes == UINT64_MAX) /* all */
		bus = 0, bytes = GUEST_BUS_BYTES;
	if (is_in_view(c, bus, bytes))
		nothing_map((uint8_t *)c->host.memory + bus, bytes);
}

/* Source: Linux kernel/dma/debug.c: device driver has pending DMA allocations while released from device */
void guest_checker_mastering(struct checker *c, bool on, const struct guest_range *ranges, size_t n)
{
	char user[64] = "nothing that the device knew of";
	uint64_t bytes = 0;
	bool known = false;

	if (on)
		c->maps = !n;
	if (on || !c->maps || !n)
		return;
	for (size_t i = 0; i < n; i++) {
		bytes += ranges[i].size;
		known = known || claims_last(c->claims, (uintptr_t)c->host.memory + ranges[i].start,
					     user, sizeof(user));
	}
	checker_report(c, &(struct breach){RULE_not_given_back, {0}, NULL, NULL},
		       "the driver lets the device go, and %" PRIu64
		       " bytes stay mapped for it, from 0x%" PRIx64 " on; they were last %s",
		       bytes, ranges[0].start, user);
}

/* --- what the driver does --- */

static void fences_hear(struct checker *c, const struct guest_code *code)
{
	struct guest_watch *w = &c->watch;
	const unsigned fences = (code->load_fences != w->load_fences ? CALLOUT_FENCE_LOADS : 0) |
				(code->store_fences != w->store_fences ? CALLOUT_FENCE_STORES : 0);

	w->load_fences = code->load_fences;
	w->store_fences = code->store_fences;
	if (fences)
		order_fence(c->order, fences);
}

static const void *place_of(const struct guest_code *code)
{
	return (const void *)(uintptr_t)code->pc;
}

void guest_checker_access(struct checker *c, uint64_t address, uint32_t bytes, bool store,
			  const struct guest_code *code, enum guest_machine machine)
{
	const uintptr_t at = (uintptr_t)c->host.memory + address;
	const void *pc = place_of(code);

	if (!c->own || !is_in_view(c, address, bytes) || machine >= ARRAY_SIZE(machines))
		return;
	fences_hear(c, code);
	if (store) {
		order_store(c->order, at, bytes, pc);
		claims_store(c->claims, at, bytes, pc);
		own_store(c->own, at, bytes, pc);
		c->storing.at = at;
		c->storing.bytes = bytes;
		checker_settle(c);
	} else {
		order_load(c->order, at, bytes, pc);
		own_load(c->own, at, bytes, pc);
	}
	order_fence(c->order, fences_of(c, &machines[machine], at, code->pc));
}

/* What makes the device read memory. Doorbells of EQs and CQs do not: an interrupt handler may ring
 * them between a store of somebody else and the barrier behind it. */
static bool is_trigger(unsigned bar, uint64_t offset, uint32_t count)
{
	if (bar == HCA_BAR_REGS)
		return offset == BAR0_HCR + sizeof(struct hcr) - count;
	return offset >= HCA_BF_OFFSET || offset % UAR_PAGE_SIZE == UAR_SEND_DB;
}

void guest_checker_register(struct checker *c, unsigned bar, uint64_t offset, const void *bytes,
			    uint32_t count, const struct guest_code *code,
			    enum guest_machine machine)
{
	if (!c->own || machine >= ARRAY_SIZE(machines))
		return;
	fences_hear(c, code);
	if (is_trigger(bar, offset, count))
		order_trigger(c->order, place_of(code));
	/* doorbells of 8 bytes are those of CQs */
	if (bar == HCA_BAR_UAR &&
	    (offset % UAR_PAGE_SIZE != UAR_CQ_ARM || count == sizeof(struct cq_arm_db)))
		own_register(c->own, offset, bytes, place_of(code));
}
