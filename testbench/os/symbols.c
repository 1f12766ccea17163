/* SPDX-License-Identifier: Apache-2.0 */
/* See symbols.h. */
#define _GNU_SOURCE
#include "testbench/os/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uintptr_t call_of(const void *return_address)
{
	return (uintptr_t)return_address - 1;
}

/* --- without debug information --- */

/* dladdr() gives the nearest name, even if it ends before the address: then nothing is known. */
static size_t find_exported(const void *return_address, struct symbol *symbol)
{
	const uintptr_t pc = call_of(return_address);
	const ElfW(Sym) *sym = NULL;
	Dl_info info;

	if (!dladdr1((const void *)pc, &info, (void **)&sym, RTLD_DL_SYMENT) || !info.dli_sname ||
	    !sym || pc - (uintptr_t)info.dli_saddr >= sym->st_size)
		return 0;
	snprintf(symbol->name, sizeof(symbol->name), "%s", info.dli_sname);
	symbol->file[0] = 0;
	symbol->line = 0;
	return 1;
}

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* The modules of this process when the first address was asked for, or NULL. */
static Dwfl *modules(void)
{
	static char no_path[] = "", *path = no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &path,
	};
	static Dwfl *dwfl;

	if (dwfl)
		return dwfl;
	dwfl = dwfl_begin(&callbacks);
	if (dwfl && (dwfl_linux_proc_report(dwfl, getpid()) || dwfl_report_end(dwfl, NULL, NULL))) {
		dwfl_end(dwfl);
		dwfl = NULL;
	}
	return dwfl;
}

static void set_place(struct symbol *symbol, const char *file, int line)
{
	snprintf(symbol->file, sizeof(symbol->file), "%s", file ? file : "");
	symbol->line = file ? line : 0;
}

static int number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, attribute, &attr), &value) ? 0 : (int)value;
}

/* The file and line that an inlined function was called from. */
static void set_caller_place(struct symbol *symbol, Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Files *files;
	size_t n;
	const int file = number_of(inlined, DW_AT_call_file);

	set_place(symbol,
		  dwarf_getsrcfiles(cu, &files, &n) || file <= 0 || (size_t)file >= n
			  ? NULL
			  : dwarf_filesrc(files, (size_t)file, NULL, NULL),
		  number_of(inlined, DW_AT_call_line));
}

static size_t walk(Dwarf_Die *cu, Dwarf_Die *scopes, int n_scopes, struct symbol *symbols,
		   size_t room)
{
	size_t n = 0;

	for (int i = 0; i < n_scopes && n < room; i++) {
		const int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		snprintf(symbols[n].name, sizeof(symbols[n].name), "%s", name ? name : "?");
		n++;
		if (tag == DW_TAG_subprogram)
			break;
		if (n < room)
			set_caller_place(&symbols[n], cu, &scopes[i]);
	}
	return n;
}

/* A program without debug information may still have its symbol table. */
static size_t find_named(Dwfl_Module *module, Dwarf_Addr pc, struct symbol *symbol)
{
	const char *name = module ? dwfl_module_addrname(module, pc) : NULL;

	if (!name)
		return 0;
	snprintf(symbol->name, sizeof(symbol->name), "%s", name);
	set_place(symbol, NULL, 0);
	return 1;
}

static size_t find_debug(const void *return_address, struct symbol *symbols, size_t room)
{
	const Dwarf_Addr pc = call_of(return_address);
	Dwfl *dwfl = modules();
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	Dwfl_Line *at = module ? dwfl_module_getsrc(module, pc) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *cu = module ? dwfl_module_addrdie(module, pc, &bias) : NULL, *scopes = NULL,
		  *outer = NULL;
	int line = 0, n_scopes;
	size_t n = 0;
	const char *file = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;

	if (!cu)
		return find_named(module, pc, symbols);
	set_place(&symbols[0], file, line);
	n_scopes = dwarf_getscopes(cu, pc - bias, &scopes);
	/* behind an inlined function these are the scopes of its text, not of its callers */
	if (n_scopes > 0)
		n_scopes = dwarf_getscopes_die(&scopes[0], &outer);
	if (n_scopes > 0)
		n = walk(cu, outer, n_scopes, symbols, room);
	free(scopes);
	free(outer);
	return n;
}

/* --- what was found --- */

enum { KEPT_MAX = 8 };

struct found {
	const void *return_address; /* first: what tsearch compares */
	size_t n;
	struct symbol symbols[KEPT_MAX];
};

static int compare(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t)((const struct found *)a)->return_address,
			y = (uintptr_t)((const struct found *)b)->return_address;

	return (x > y) - (x < y);
}

static size_t find(const void *return_address, struct symbol *symbols, size_t room)
{
	const size_t n = find_debug(return_address, symbols, room);

	return n ? n : find_exported(return_address, symbols);
}

/* libdw takes tenths of a millisecond for an address, and a run asks for the same few thousand again and again.
 * NULL: no memory. */
static const struct found *found_of(const void *return_address)
{
	static void *tree;
	const struct found key = {.return_address = return_address};
	struct found **at = tfind(&key, &tree, compare), *new;

	if (at)
		return *at;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->return_address = return_address;
	new->n = find(return_address, new->symbols, KEPT_MAX);
	if (tsearch(new, &tree, compare))
		return new;
	free(new);
	return NULL;
}

size_t symbols_find(const void *return_address, struct symbol *symbols, size_t room)
{
	const struct found *found = room <= KEPT_MAX ? found_of(return_address) : NULL;
	size_t n;

	if (!found)
		return find(return_address, symbols, room);
	n = found->n < room ? found->n : room;
	memcpy(symbols, found->symbols, n * sizeof(*symbols));
	return n;
}

#else

size_t symbols_find(const void *return_address, struct symbol *symbols, size_t room)
{
	return find_exported(return_address, symbols);
}

#endif
