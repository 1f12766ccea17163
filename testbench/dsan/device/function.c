// SPDX-License-Identifier: Apache-2.0
/* See function.h. */
#include "testbench/dsan/device/function.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/checker_impl.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "model/interface/regs.h"
#include "model/sim/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	WORD_BYTES = sizeof(uint32_t),
	HEADER_WORDS = 16,
	COMMAND_WORD = 1,
	COMMAND_BITS = 0xffff, /* the status is the other half */
	EXP_DEVCTL = HCA_PCI_CAP_EXPRESS + 8,
	EXP_LNKCTL = HCA_PCI_CAP_EXPRESS + 16,
	MSIX_CONTROL = HCA_PCI_CAP_MSIX + 2,
	MSIX_ENABLE = 1 << 15,
	VECTOR_CONTROL = 3, /* word of an entry: bit 0 masks */
	VECTOR_WORDS = 4,
	VENDOR_LOST = 0xffff, /* read from a device that does not answer */
};

/* For so long a device that was reset must be left alone. Source: Linux mlx4_reset, mthca_reset */
#define RESET_QUIET_PS UINT64_C(1000000000000)
#define PS_PER_US      UINT64_C(1000000)

static bool is_mlx4(const struct checker *c)
{
	return strcmp(hca_personality(c->host.hca), "ipath") != 0;
}

/* `by` has done what led to it. */
static void report(struct checker *c, enum guest_rule rule, const struct calls *by,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
static void report(struct checker *c, enum guest_rule rule, const struct calls *by,
		   const char *format, ...)
{
	char text[CHAIN_BYTES], names[CHAIN_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	chain_format(by, names, sizeof(names));
	checker_report(c, &(struct breach){rule, {0}, NULL, NULL}, "%s by %s", text, names);
}

static void report_now(struct checker *c, enum guest_rule rule, const char *text)
{
	struct calls now;

	chain_take(&now);
	report(c, rule, &now, "%s", text);
}

/* --- reset --- */

void function_begin(struct checker *c)
{
	c->function.reset_once = false;
}

void function_raw(struct checker *c, bool raw)
{
	c->function.raw = raw;
}

static void quiet_check(struct checker *c)
{
	struct function *f = &c->function;
	const uint64_t passed_ps = hca_now(c->host.hca) - f->reset_ps;

	if (!f->was_reset || !f->own_reset || passed_ps >= RESET_QUIET_PS)
		return;
	report(c, RULE_reset_sequence, &f->reset_by,
	       "the device is accessed %" PRIu64 " us after its reset, and it wants 1 s of quiet; "
	       "the reset was written",
	       passed_ps / PS_PER_US);
	f->own_reset = false; /* once is enough */
}

static void reset_written(struct checker *c)
{
	struct function *f = &c->function;
	const struct function before = *f;

	if (!f->semaphore && !f->raw)
		report_now(c, RULE_reset_sequence,
			   "the reset is written, and nobody has read the semaphore and found it "
			   "free:");
	*f = (struct function){.raw = before.raw,
			       .own_reset = !before.raw,
			       .hung = before.hung,
			       .reset_once = true,
			       .was_reset = true,
			       .reset_ps = hca_now(c->host.hca),
			       .disowned = before.disowned,
			       .owned_by = before.owned_by};
	/* the host's handlers stay */
	for (unsigned v = 0; v < FUNCTION_VECTORS; v++) {
		f->vectors[v].handlers = before.vectors[v].handlers;
		f->vectors[v].handler_by = before.vectors[v].handler_by;
	}
	for (unsigned word = 0; word < FUNCTION_WORDS; word++)
		f->before[word] = hca_config_peek(c->host.hca, word * WORD_BYTES);
	chain_take(&f->reset_by);
}

void function_config_read(struct checker *c, unsigned offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	if (offset / WORD_BYTES == HCA_PCI_GATEWAY_ADDR / WORD_BYTES ||
	    offset / WORD_BYTES == HCA_PCI_GATEWAY_DATA / WORD_BYTES)
		report_now(c, RULE_register_unknown,
			   "a word of configuration space is read that is a gateway into the "
			   "device, and none of its state");
	quiet_check(c);
	if (!offset && (value & VENDOR_LOST) != VENDOR_LOST)
		f->answers = true;
}

static void restore_begins(struct checker *c)
{
	struct function *f = &c->function;

	if (!f->was_reset || f->restoring)
		return;
	f->restoring = true;
	quiet_check(c);
	if (!f->answers && f->own_reset)
		report_now(c, RULE_reset_sequence,
			   "configuration space is written back, and nobody has read the vendor "
			   "ID and found that the device answers again:");
}

/* What a reset loses, and a driver must write back. Source: Linux mlx4_reset, PCI 3.0 6.1 */
static const struct kept {
	const char *name;
	unsigned offset;
	uint32_t bits;
} kept[] = {
	{"BAR 0", 0x10, UINT32_MAX},
	{"BAR 1", 0x14, UINT32_MAX},
	{"BAR 2", 0x18, UINT32_MAX},
	{"BAR 3", 0x1c, UINT32_MAX},
	{"interrupt line", 0x3c, 0xff},
	{"command register", 4, COMMAND_BITS},
	{"device control of PCI Express", EXP_DEVCTL, 0xffff},
	{"link control of PCI Express", EXP_LNKCTL, 0xffff},
};

/* Another value than the one before the reset is written back. The command register may be written in steps. */
static void value_check(struct checker *c, unsigned offset, uint32_t value)
{
	const struct function *f = &c->function;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const uint32_t was = f->before[offset / WORD_BYTES] & kept[i].bits;

		if (kept[i].offset == offset && offset / WORD_BYTES != COMMAND_WORD &&
		    (value & kept[i].bits) != was)
			report(c, RULE_config_not_restored, &f->config_by,
			       "0x%x is written back to the %s (0x%x), which was 0x%x before the "
			       "reset,",
			       value & kept[i].bits, kept[i].name, offset, was);
	}
}

void function_config(struct checker *c, unsigned offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;
	const unsigned word = offset / WORD_BYTES;

	if (!is_mlx4(c))
		return;
	restore_begins(c);
	chain_take(&f->config_by);
	if (offset == MSIX_CONTROL) {
		f->msix_on = value & MSIX_ENABLE;
		chain_take(&f->msix_by);
	}
	if (!f->was_reset || word >= FUNCTION_WORDS)
		return;
	if (word < HEADER_WORDS && word != COMMAND_WORD &&
	    f->restored & UINT64_C(1) << COMMAND_WORD)
		report(c, RULE_config_not_restored, &f->config_by,
		       "the command register was written back before dword %u,", word);
	value_check(c, offset, value);
	f->restored |= UINT64_C(1) << word;
}

/* Whose work it was: that of the function that writes back, else of the one that reset. */
static void restored_check(struct checker *c)
{
	const struct function *f = &c->function;
	const struct calls *by = f->restored ? &f->config_by : &f->reset_by;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const struct kept *k = &kept[i];
		const unsigned word = k->offset / WORD_BYTES;
		const uint32_t is = hca_config_peek(c->host.hca, word * WORD_BYTES) & k->bits;

		if (!(f->restored & UINT64_C(1) << word)) {
			report(c, RULE_config_not_restored, by,
			       "a command is given, and nobody has written back the %s (0x%x) "
			       "since "
			       "the reset %s",
			       k->name, k->offset,
			       f->restored ? "while the others were written" : "that was written");
			return;
		}
		if (is != (f->before[word] & k->bits)) {
			report(c, RULE_config_not_restored, by,
			       "a command is given, and the %s (0x%x) is 0x%x, not 0x%x as before "
			       "the reset; it was written back",
			       k->name, k->offset, is, f->before[word] & k->bits);
			return;
		}
	}
}

void function_command(struct checker *c, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	if (f->was_reset)
		restored_check(c);
	else if (!f->reset_once)
		report_now(c, RULE_reset_sequence,
			   "the first command is given to a device that was not reset, so it may "
			   "be in any state:");
	f->reset_once = true;
	f->was_reset = false;
	f->hung = false;
}

/* --- vectors --- */

static bool entry_is_right(const struct checker *c, unsigned vector)
{
	const uint32_t *entry = c->function.vectors[vector].entry;
	uint64_t address;
	uint32_t data;

	c->ops->msi_message(c->host.platform, vector, &address, &data);
	return entry[0] == (uint32_t)address && entry[1] == (uint32_t)(address >> 32) &&
	       entry[2] == data;
}

static void vector_write(struct checker *c, unsigned at, uint32_t value, const void *pc)
{
	const unsigned vector = at / HCA_MSIX_ENTRY_SIZE, word = at / 4 % VECTOR_WORDS;
	struct vector *v = &c->function.vectors[vector];

	v->entry[word] = value;
	chain_take(&v->by);
	if (word != VECTOR_CONTROL)
		return;
	v->unmasked = !(value & 1);
	if (v->unmasked && !entry_is_right(c, vector))
		checker_report(
			c,
			&(struct breach){RULE_vector_not_ready, {GUEST_VECTOR, vector}, pc, NULL},
			"it is unmasked, and its address or data is not what the host gave "
			"for it");
}

void function_handler(struct checker *c, unsigned vector, int more)
{
	if (vector >= FUNCTION_VECTORS)
		return;
	c->function.vectors[vector].handlers += more;
	if (more > 0)
		chain_take(&c->function.vectors[vector].handler_by);
}

/* Who wrote the entry last; nobody has: who wrote the one before it, or before that. */
static const struct calls *entry_writers(const struct function *f, unsigned vector)
{
	while (vector && !f->vectors[vector].by.n)
		vector--;
	return &f->vectors[vector].by;
}

void function_armed(struct checker *c, unsigned vector, const void *pc)
{
	const struct function *f = &c->function;
	const struct vector *v = &f->vectors[vector];
	char names[CHAIN_BYTES];

	if (vector >= FUNCTION_VECTORS || !is_mlx4(c) ||
	    (v->unmasked && v->handlers > 0 && f->msix_on))
		return;
	chain_format(v->unmasked && f->msix_by.n ? &f->msix_by : entry_writers(f, vector), names,
		     sizeof(names));
	checker_report(c, &(struct breach){RULE_vector_not_ready, {GUEST_VECTOR, vector}, pc, NULL},
		       "an EQ is armed, and its vector %s; %s by %s",
		       v->handlers <= 0 ? "has no handler yet"
		       : v->unmasked    ? "cannot strike, because MSI-X is off"
					: "is masked",
		       v->by.n ? "last written" : "its entry was never written, another one was",
		       names);
}

/* --- registers, and the end --- */

void function_register(struct checker *c, uint64_t offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	if (offset == BAR0_RESET && value & 1) {
		reset_written(c);
		return;
	}
	quiet_check(c);
	if (offset - BAR0_MSIX_TABLE < FUNCTION_VECTORS * HCA_MSIX_ENTRY_SIZE)
		vector_write(c, (unsigned)(offset - BAR0_MSIX_TABLE), value, pc);
	else if (offset == BAR0_OWNERSHIP)
		f->disowned = !value;
}

void function_register_read(struct checker *c, uint64_t offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	quiet_check(c);
	if (offset == BAR0_SEMAPHORE)
		f->semaphore = !value;
	if (offset != BAR0_OWNERSHIP)
		return;
	f->disowned = false;
	chain_take(&f->owned_by);
}

void function_left_check(struct ask *a)
{
	const struct function *f = a->c ? &a->c->function : NULL;

	if (!f || !is_mlx4(a->c))
		return;
	if (f->msix_on)
		report(a->c, RULE_not_given_back, &f->msix_by,
		       "the driver has left, and MSI-X is on; its control register was written "
		       "last");
	if (!f->disowned)
		report(a->c, RULE_not_given_back, &f->owned_by,
		       "the driver has left, and owns the device still (register OWNERSHIP); it "
		       "was "
		       "taken");
}
