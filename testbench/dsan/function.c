// SPDX-License-Identifier: Apache-2.0
/* See function.h. */
#include "testbench/dsan/function.h"

#include "testbench/dsan/asked_impl.h"
#include "testbench/dsan/checker_impl.h"

#include "model/engine/base/engine.h"
#include "model/interface/regs.h"

#include <string.h>

enum {
	HEADER_WORDS = 16,
	COMMAND_WORD = 1,
	FIRST_BAR = 4, /* and those behind it, up to the fourth: this function has BARs 0 and 2 */
	LAST_BAR = 7,
	MSIX_CONTROL = HCA_PCI_CAP_MSIX + 2,
	MSIX_ENABLE = 1 << 15,
	VECTOR_CONTROL = 3, /* word of an entry: bit 0 masks */
	VECTOR_WORDS = 4,
};

static bool is_mlx4(const struct checker *c)
{
	return strcmp(hca_personality(c->host.hca), "ipath") != 0;
}

static void report(struct checker *c, enum guest_rule rule, const void *pc, const char *what,
		   unsigned number)
{
	checker_report(c, &(struct breach){rule, {0}, pc, NULL}, "%s %u", what, number);
}

/* --- reset --- */

void function_config(struct checker *c, unsigned offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;
	const unsigned word = offset / sizeof(uint32_t);

	if (!is_mlx4(c))
		return;
	f->config_pc = pc;
	if (offset == MSIX_CONTROL)
		f->msix_on = value & MSIX_ENABLE;
	if (!f->was_reset || word >= HEADER_WORDS)
		return;
	if (word != COMMAND_WORD && f->restored & 1u << COMMAND_WORD)
		report(c, RULE_config_not_restored, pc,
		       "the command register was written back before dword", word);
	f->restored |= 1u << word;
}

void function_command(struct checker *c, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	for (unsigned word = FIRST_BAR; f->was_reset && word <= LAST_BAR; word++)
		if (!(f->restored & 1u << word))
			report(c, RULE_config_not_restored, f->config_pc ? f->config_pc : pc,
			       "a command is given, and after the reset nobody has written back "
			       "dword",
			       word);
	f->was_reset = false;
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
	v->pc = pc;
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
	if (vector < FUNCTION_VECTORS)
		c->function.vectors[vector].handlers += more;
}

void function_armed(struct checker *c, unsigned vector, const void *pc)
{
	const struct vector *v = &c->function.vectors[vector];

	if (vector >= FUNCTION_VECTORS || !is_mlx4(c) ||
	    (v->unmasked && v->handlers > 0 && c->function.msix_on))
		return;
	checker_report(c,
		       &(struct breach){RULE_vector_not_ready, {GUEST_VECTOR, vector}, pc, v->pc},
		       "an EQ is armed, and its vector %s",
		       v->handlers <= 0 ? "has no handler yet"
		       : v->unmasked    ? "cannot strike, because MSI-X is off"
					: "is masked");
}

/* --- registers, and the end --- */

void function_register(struct checker *c, uint64_t offset, uint32_t value, const void *pc)
{
	struct function *f = &c->function;

	if (!is_mlx4(c))
		return;
	if (offset - BAR0_MSIX_TABLE < FUNCTION_VECTORS * HCA_MSIX_ENTRY_SIZE)
		vector_write(c, (unsigned)(offset - BAR0_MSIX_TABLE), value, pc);
	else if (offset == BAR0_OWNERSHIP)
		f->disowned = !value;
	else if (offset == BAR0_RESET) {
		*f = (struct function){.was_reset = true, .disowned = f->disowned};
	}
}

void function_left_check(struct ask *a)
{
	const struct function *f = a->c ? &a->c->function : NULL;

	if (!f || !is_mlx4(a->c))
		return;
	if (f->msix_on)
		report(a->c, RULE_not_given_back, f->config_pc,
		       "the driver has left, and MSI-X is on, control", MSIX_ENABLE);
	if (!f->disowned)
		ask_report(a, RULE_not_given_back, (struct guest_object){0},
			   "the driver has left, and owns the device still (register OWNERSHIP)");
}
