// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells serve of the loads and stores of the guest's drivers: of the kernel's modules, and of shared
 * libraries of programs, such as libmlx4 and libc. Barriers are counted in all code. The page says
 * which calls the modules made last.
 *
 * QEMU calls memory_accessed() behind each load and each store, when it is made: a store's value is
 * in memory then. An instruction that loads and stores is told twice. What the instructions of the
 * watched code are is looked up when QEMU translates them, and so each costs little as it runs.
 *
 * Nothing here changes the guest, its clock, or how many instructions it runs.
 */
#include "testbench/vm/clock/guest_plugin.h"

#include <stddef.h>
#include <string.h>

/* --- QEMU's interface for plugins, version 7 --- */

struct tb;
struct insn;
struct hwaddr;
struct scoreboard;
typedef uint32_t mem_info;
struct per_vcpu_u64 {
	struct scoreboard *score;
	size_t offset;
};

enum { MEM_LOADS_AND_STORES = 3, NO_REGISTERS = 0, INLINE_ADD = 0, INLINE_STORE = 1 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*f)(struct tb *tb, void *arg),
						  void *arg);
extern size_t qemu_plugin_tb_n_insns(const struct tb *tb);
extern struct insn *qemu_plugin_tb_get_insn(const struct tb *tb, size_t n);
extern size_t qemu_plugin_insn_data(const struct insn *insn, void *bytes, size_t size);
extern uint64_t qemu_plugin_insn_vaddr(const struct insn *insn);
extern void qemu_plugin_register_vcpu_mem_cb(struct insn *insn,
					     void (*f)(unsigned cpu, mem_info info, uint64_t va,
						       void *arg),
					     int registers, int which, void *arg);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct tb *tb, void (*f)(unsigned cpu, void *arg),
						 int registers, void *arg);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn,
						   void (*f)(unsigned cpu, void *arg),
						   int registers, void *arg);
extern void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct insn *insn, int operation,
								struct per_vcpu_u64 entry,
								uint64_t value);
extern unsigned qemu_plugin_mem_size_shift(mem_info info);
extern bool qemu_plugin_mem_is_store(mem_info info);
extern struct hwaddr *qemu_plugin_get_hwaddr(mem_info info, uint64_t va);
extern bool qemu_plugin_hwaddr_is_io(const struct hwaddr *address);
extern uint64_t qemu_plugin_hwaddr_phys_addr(const struct hwaddr *address);
extern struct scoreboard *qemu_plugin_scoreboard_new(size_t size);
extern void *qemu_plugin_scoreboard_find(struct scoreboard *score, unsigned cpu);

/* --- what differs between processors --- */

enum fence {
	FENCE_LOADS = 1 << 0,
	FENCE_STORES = 1 << 1,
	/* of a load that nothing behind it overtakes: the loads behind it, and not it, are behind a
	 * barrier */
	FENCE_BEHIND = 1 << 2,
};
enum { INSN_MAX = 16 };

struct range {
	uint64_t begin, end;
};

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64,
					   0x65, 0x66, 0x67, 0xf2, 0xf3};

	return memchr(prefixes, byte, sizeof(prefixes)) || byte >> 4 == 4;
}

/* Source: Intel SDM 3A 9.2.5: SFENCE, LFENCE, MFENCE; locked instructions, among them XCHG with
 * memory, order all loads and stores. */
static unsigned x86_fence(const uint8_t *insn, size_t bytes)
{
	enum { LOCK = 0xf0, XCHG = 0x86, GROUP_15 = 0xae, REGISTER = 0xc0 };
	size_t i = 0;

	while (i < bytes && is_prefix(insn[i]))
		i++;
	if (i < bytes && insn[i] == LOCK)
		return FENCE_LOADS | FENCE_STORES;
	if (i + 1 < bytes && (insn[i] | 1) == (XCHG | 1) && insn[i + 1] < REGISTER)
		return FENCE_LOADS | FENCE_STORES;
	if (i + 2 >= bytes || insn[i] != 0x0f || insn[i + 1] != GROUP_15)
		return 0;
	switch (insn[i + 2]) {
	case 0xe8:
		return FENCE_LOADS;
	case 0xf0:
		return FENCE_LOADS | FENCE_STORES;
	case 0xf8:
		return FENCE_STORES;
	default:
		return 0;
	}
}

static uint32_t arm64_word(const uint8_t *insn)
{
	return insn[0] | (uint32_t)insn[1] << 8 | (uint32_t)insn[2] << 16 | (uint32_t)insn[3] << 24;
}

/* Source: Arm ARM C6.2: DMB and DSB with their domains and kinds; LDAR, LDAXR, STLR, STLXR; atomics
 * of LSE that acquire or release. */
static unsigned arm64_fence(const uint8_t *insn, size_t bytes)
{
	const uint32_t word = arm64_word(insn);
	static const unsigned kinds[] = {0, FENCE_LOADS, FENCE_STORES, FENCE_LOADS | FENCE_STORES};

	if (bytes != sizeof(word))
		return 0;
	if ((word & 0xfffff0df) == 0xd503309f) /* DSB, DMB */
		return kinds[word >> 8 & 3];
	if ((word & 0x3f008000) == 0x08008000) /* exclusive or ordered, with acquire or release */
		return word >> 22 & 1 ? FENCE_LOADS | FENCE_BEHIND : FENCE_LOADS | FENCE_STORES;
	if ((word & 0x3f200c00) == 0x38200000 && word >> 22 & 3)
		return FENCE_LOADS | FENCE_STORES;
	return 0;
}

/* Source: Intel SDM 2A, CALL: E8 with a distance; FF /2 with a register or memory. */
static bool x86_call(const uint8_t *insn, size_t bytes)
{
	enum { CALL = 0xe8, GROUP_5 = 0xff, CALL_OF_GROUP_5 = 2 };
	size_t i = 0;

	while (i < bytes && is_prefix(insn[i]))
		i++;
	if (i + 1 >= bytes)
		return false;
	return insn[i] == CALL || (insn[i] == GROUP_5 && (insn[i + 1] >> 3 & 7) == CALL_OF_GROUP_5);
}

/* Source: Arm ARM C6.2: BL, BLR. */
static bool arm64_call(const uint8_t *insn, size_t bytes)
{
	const uint32_t word = arm64_word(insn);

	return bytes == sizeof(word) &&
	       ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000);
}

/* The kernel's area of modules without KASLR, and where Linux maps the shared libraries of programs. */
static const struct machine {
	const char *target;
	enum guest_machine machine;
	struct range watched[2];
	unsigned (*fence)(const uint8_t *insn, size_t bytes); /* bits of enum fence */
	bool (*call)(const uint8_t *insn, size_t bytes);
} machines[] = {
	{"x86_64",
	 GUEST_X86_64,
	 {{0xffffffffc0000000, 0xffffffffff000000}, {0x7f0000000000, 0x800000000000}},
	 x86_fence,
	 x86_call},
	{"aarch64",
	 GUEST_AARCH64,
	 {{0xffff800000000000, 0xffff800008000000}, {0xff0000000000, 0x1000000000000}},
	 arm64_fence,
	 arm64_call},
};
static const struct machine *machine;

/* --- as the guest runs --- */

/* In the order of struct per_vcpu_u64.offset below. One processor, so this is its copy. */
struct place {
	uint64_t pc, load_fences, store_fences;
};
static struct scoreboard *score;
static struct place *place;
static struct guest_calls *calls;

void watch_code(struct guest_code *code)
{
	*code = (struct guest_code){0};
	if (place)
		*code = (struct guest_code){.pc = place->pc,
					    .load_fences = (uint32_t)place->load_fences,
					    .store_fences = (uint32_t)place->store_fences};
}

/* A page that is not RAM is a device's, whose accesses are questions. */
static void memory_accessed(unsigned cpu, mem_info info, uint64_t va, void *pc)
{
	const struct hwaddr *address = qemu_plugin_get_hwaddr(info, va);
	struct guest_code code;

	if (!address || qemu_plugin_hwaddr_is_io(address))
		return;
	watch_code(&code);
	code.pc = (uint64_t)(uintptr_t)pc;
	access_tell(qemu_plugin_hwaddr_phys_addr(address),
		    UINT32_C(1) << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info),
		    &code);
}

static void ordered_load(unsigned cpu, mem_info info, uint64_t va, void *pc)
{
	memory_accessed(cpu, info, va, pc);
	place->load_fences++;
}

/* Puts an address first. It is dropped where it was, or else the last one is. */
static void list_put(uint64_t *list, size_t max, uint64_t address)
{
	size_t i = 0;

	while (i < max - 1 && list[i] && list[i] != address)
		i++;
	memmove(list + 1, list, i * sizeof(*list));
	list[0] = address;
}

/* Takes an address out of the list. False if it is not there. */
static bool list_take(uint64_t *list, size_t max, uint64_t address)
{
	size_t i = 0;

	while (i < max && list[i] && list[i] != address)
		i++;
	if (i == max || !list[i])
		return false;
	memmove(list + i, list + i + 1, (max - 1 - i) * sizeof(*list));
	list[max - 1] = 0;
	return true;
}

static void called(unsigned cpu, void *return_to)
{
	list_put(calls->open, GUEST_CALLS_OPEN, (uint64_t)(uintptr_t)return_to);
}

/*
 * A call has returned when the processor comes to the address behind it. Jumps come there, too, but
 * hardly ever while that very call is open.
 */
static void came_to(unsigned cpu, void *va)
{
	const uint64_t address = (uint64_t)(uintptr_t)va;

	if (list_take(calls->open, GUEST_CALLS_OPEN, address))
		list_put(calls->returned, GUEST_CALLS_RETURNED, address);
}

/* --- as QEMU translates --- */

static bool is_within(const struct range *range, uint64_t va)
{
	return va >= range->begin && va < range->end;
}

static bool is_module(uint64_t va)
{
	return is_within(&machine->watched[0], va);
}

static bool is_watched(uint64_t va)
{
	return is_module(va) || is_within(&machine->watched[1], va);
}

static void count_inline(struct insn *insn, size_t offset)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
		insn, INLINE_ADD, (struct per_vcpu_u64){score, offset}, 1);
}

/* What a call returns to is always the begin of a block. */
static void block_translated(struct tb *tb)
{
	const uint64_t va = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));

	if (is_module(va))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, came_to, NO_REGISTERS,
						     (void *)(uintptr_t)va);
}

static void translated(struct tb *tb, void *arg)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	uint8_t bytes[INSN_MAX];

	block_translated(tb);
	for (size_t i = 0; i < n; i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint64_t va = qemu_plugin_insn_vaddr(insn);
		const size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
		const unsigned fence = machine->fence(bytes, size);

		if (fence & FENCE_LOADS && !(fence & FENCE_BEHIND))
			count_inline(insn, offsetof(struct place, load_fences));
		if (fence & FENCE_STORES)
			count_inline(insn, offsetof(struct place, store_fences));
		if (!is_watched(va))
			continue;
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, INLINE_STORE,
			(struct per_vcpu_u64){score, offsetof(struct place, pc)}, va);
		qemu_plugin_register_vcpu_mem_cb(
			insn, fence & FENCE_BEHIND ? ordered_load : memory_accessed, NO_REGISTERS,
			MEM_LOADS_AND_STORES, (void *)(uintptr_t)va);
		if (is_module(va) && machine->call(bytes, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, called, NO_REGISTERS,
							       (void *)(uintptr_t)(va + size));
	}
}

void watch_begin(void)
{
	if (score)
		place = qemu_plugin_scoreboard_find(score, 0);
}

int watch_install(plugin_id id, const char *target, struct guest_page *page)
{
	const size_t n = sizeof(machines) / sizeof(*machines);

	for (machine = machines; machine < machines + n; machine++)
		if (!strcmp(machine->target, target))
			break;
	if (machine == machines + n)
		return refuse("it cannot watch the drivers of a %s", target);
	page->machine = machine->machine;
	calls = &page->calls;
	score = qemu_plugin_scoreboard_new(sizeof(*place));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	return 0;
}
