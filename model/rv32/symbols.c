/* SPDX-License-Identifier: Apache-2.0 */
/* Turns addresses into names, and formats the call stack as text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/rv32/rv32_core.h"

enum { REG_RA = 1, REG_SP = 2, SCAN_BYTES = 4096, FRAMES_MAX = 32 };

void rv_symbols_free(struct rv_symbols *symbols)
{
	free(symbols->row);
	free(symbols->names);
	*symbols = (struct rv_symbols){0};
}

/* The number of symbols at or below @addr. */
static size_t at_or_below(const struct rv_symbols *symbols, uint32_t addr)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->row[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the function that covers @pc. If there is none, finds the nearest label below @pc that has
 * no function in between. */
const char *rv_core_symbol(const struct rv_core *core, uint32_t pc, uint32_t *offset)
{
	const struct rv_symbol *best = NULL;

	if (!rv_in_ram(core, pc, 1))
		return NULL;
	for (size_t i = at_or_below(&core->symbols, pc); i > 0; i--) {
		const struct rv_symbol *symbol = &core->symbols.row[i - 1];

		if (!symbol->code)
			continue;
		if (symbol->size) {
			best = pc - symbol->addr < symbol->size ? symbol : best;
			break;
		}
		if (!best)
			best = symbol;
	}
	if (!best)
		return NULL;
	if (offset)
		*offset = pc - best->addr;
	return best->name;
}

int rv_core_symbol_addr(const struct rv_core *core, const char *name, uint32_t *addr)
{
	for (size_t i = 0; i < core->symbols.count; i++) {
		if (strcmp(core->symbols.row[i].name, name))
			continue;
		*addr = core->symbols.row[i].addr;
		return 0;
	}
	return -ENOENT;
}

/* Whether a call (a jal, jalr, c.jal or c.jalr that writes ra) ends right before @pc. */
static bool is_return_address(const struct rv_core *core, uint32_t pc)
{
	struct rv_insn insn;
	uint32_t low;

	if (pc & 1 || !rv_core_symbol(core, pc, NULL))
		return false;
	for (unsigned len = 2; len <= 4; len += 2) {
		if (!rv_in_ram(core, pc - len, len))
			continue;
		low = rv_ram_get(core->ram + (pc - len - core->ram_base), len);
		if (rv_is_compressed(low) != (len == 2))
			continue;
		rv_decode(low, &insn);
		if ((insn.op == RV_OP_JAL || insn.op == RV_OP_JALR) && insn.rd == REG_RA)
			return true;
	}
	return false;
}

struct text {
	char *buf;
	size_t size;
	int used;
	unsigned frames;
};

static void add_frame(struct text *text, const struct rv_core *core, uint32_t pc)
{
	size_t used = (size_t)text->used < text->size ? (size_t)text->used : text->size;
	uint32_t offset = 0;
	const char *name = rv_core_symbol(core, pc, &offset);
	int n;

	if (name)
		n = snprintf(text->buf + used, text->size - used, "#%u %08x %s+0x%x\n",
			     text->frames, pc, name, offset);
	else
		n = snprintf(text->buf + used, text->size - used, "#%u %08x\n", text->frames, pc);
	text->used += n;
	text->frames++;
}

int rv_core_backtrace(const struct rv_core *core, char *buf, size_t size)
{
	struct text text = {.buf = buf, .size = size};
	uint32_t sp = core->x[REG_SP] & ~3u, ra = core->x[REG_RA];

	if (size)
		buf[0] = '\0';
	add_frame(&text, core, core->pc);
	if (is_return_address(core, ra))
		add_frame(&text, core, ra);
	for (uint32_t at = 0; at < SCAN_BYTES && text.frames < FRAMES_MAX; at += 4) {
		uint32_t word;

		if (!rv_in_ram(core, sp + at, 4))
			break;
		word = rv_ram_get(core->ram + (sp + at - core->ram_base), 4);
		if (word != ra && is_return_address(core, word))
			add_frame(&text, core, word);
	}
	return text.used;
}
