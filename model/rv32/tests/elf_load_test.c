/* SPDX-License-Identifier: Apache-2.0 */
/* Executables that are broken in a known way. Each gives one line that names the file and the
 * fault, and RAM stays unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "model/rv32/rv32.h"
#include "model/rv32/tests/beside.h"

enum { BASE = 0x80000000u, SIZE = 1 << 20 };

struct fixture {
	char path[PATH_MAX]; /* of the broken copy */
	uint8_t *good;
	uint8_t *bytes; /* the bytes to break */
	size_t size;
	struct rv_core *core;
	char err[512];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[PATH_MAX];
	FILE *file = fopen(beside(path, "memory.elf"), "rb");

	if (!f || !file)
		return -1;
	beside(f->path, "broken.elf");
	fseek(file, 0, SEEK_END);
	f->size = (size_t)ftell(file);
	rewind(file);
	f->good = malloc(f->size);
	f->bytes = malloc(f->size);
	if (fread(f->good, 1, f->size, file) != f->size)
		return -1;
	fclose(file);
	memcpy(f->bytes, f->good, f->size);
	f->core = rv_core_create(BASE, SIZE, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	rv_core_destroy(f->core);
	free(f->good);
	free(f->bytes);
	free(f);
	return 0;
}

static Elf32_Ehdr *ehdr(struct fixture *f)
{
	return (Elf32_Ehdr *)f->bytes;
}

static Elf32_Phdr *first_load(struct fixture *f)
{
	Elf32_Phdr *phdr = (Elf32_Phdr *)(f->bytes + ehdr(f)->e_phoff);

	while (phdr->p_type != PT_LOAD)
		phdr++;
	return phdr;
}

static int load(struct fixture *f, size_t size)
{
	FILE *file = fopen(f->path, "wb");
	uint32_t entry = 0;

	assert_non_null(file);
	assert_int_equal(fwrite(f->bytes, 1, size, file), size);
	fclose(file);
	memset(f->err, 0, sizeof(f->err));
	return rv_core_load_elf(f->core, f->path, &entry, f->err, sizeof(f->err));
}

static void expect_untouched(struct fixture *f)
{
	uint32_t base, size;
	const uint8_t *ram = rv_core_ram(f->core, &base, &size);

	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(ram[i], 0);
}

static void expect_refused(struct fixture *f, size_t size, const char *why)
{
	assert_true(load(f, size) < 0);
	if (!strstr(f->err, why))
		fail_msg("\"%s\" in \"%s\"", why, f->err);
	assert_non_null(strstr(f->err, "broken.elf: "));
	assert_null(strchr(f->err, '\n'));
	expect_untouched(f);
}

static void good_one_is_loaded(void **state)
{
	struct fixture *f = *state;
	const Elf32_Phdr *phdr = first_load(f);
	struct rv_extent extent;

	assert_int_equal(load(f, f->size), 0);
	assert_memory_equal(rv_core_ram(f->core, NULL, NULL) + (phdr->p_paddr - BASE),
			    f->bytes + phdr->p_offset, phdr->p_filesz);
	assert_int_equal(rv_elf_extent(f->path, &extent, f->err, sizeof(f->err)), 0);
	assert_int_equal(extent.first, BASE);
	assert_int_equal(extent.entry, BASE);
}

static void bss_is_zeroed(void **state)
{
	struct fixture *f = *state;
	Elf32_Phdr *phdr = first_load(f);
	uint8_t *ram = rv_core_ram(f->core, NULL, NULL);

	memset(ram, 0xee, SIZE);
	phdr->p_filesz = 8;
	assert_int_equal(load(f, f->size), 0);
	for (uint32_t i = 8; i < phdr->p_memsz; i++)
		assert_int_equal(ram[i], 0);
}

static void each_header_field(void **state)
{
	struct fixture *f = *state;

#define BREAK(change, why)                                                                         \
	do {                                                                                       \
		memcpy(f->bytes, f->good, f->size);                                                \
		change;                                                                            \
		expect_refused(f, f->size, why);                                                   \
	} while (0)

	BREAK(f->bytes[1] = 'e', "not an ELF file");
	BREAK(f->bytes[EI_CLASS] = ELFCLASS64, "not a 32-bit");
	BREAK(f->bytes[EI_DATA] = ELFDATA2MSB, "not a 32-bit");
	BREAK(ehdr(f)->e_machine = EM_ARM, "not for RISC-V (ELF machine 40)");
	BREAK(ehdr(f)->e_type = ET_REL, "not a linked executable (ELF type 1)");
	BREAK(ehdr(f)->e_phnum = 0, "no program headers");
	BREAK(ehdr(f)->e_phoff = 0, "no program headers");
	BREAK(ehdr(f)->e_phoff++, "broken program header table");
	BREAK(ehdr(f)->e_phoff = 0xfffffff0, "truncated: program headers end at");
	BREAK(ehdr(f)->e_phnum = PN_XNUM, "program header");
	BREAK(ehdr(f)->e_shoff++, "broken section header table");
	BREAK(ehdr(f)->e_shentsize++, "broken section header table");
	BREAK(ehdr(f)->e_shoff = 0xfffffff0, "truncated: section headers end at");
	BREAK(ehdr(f)->e_phentsize = 16, "program header");
	BREAK(ehdr(f)->e_entry = 0x1000, "entry 0x00001000");
	BREAK(ehdr(f)->e_entry++, "entry 0x80000001");
}

static void each_segment_field(void **state)
{
	struct fixture *f = *state;

	BREAK(first_load(f)->p_filesz = first_load(f)->p_memsz + 1, "in the file");
	BREAK(first_load(f)->p_offset = 0xfffffff0, "truncated: segment");
	BREAK(first_load(f)->p_paddr = ehdr(f)->e_entry = 0x20000000, "is outside memory");
	BREAK(first_load(f)->p_memsz = SIZE + 1, "overlap");
	BREAK(first_load(f)->p_memsz = 0x90000000, "outside the address space");
	BREAK(first_load(f)->p_paddr = 0xfffffffe, "outside the address space");
	BREAK(first_load(f)->p_type = PT_NULL, "is not an address of code");
}

static void every_truncation(void **state)
{
	struct fixture *f = *state;

	for (size_t size = 0; size < f->size; size += size < 256 ? 1 : 61)
		assert_true(load(f, size) < 0);
	expect_refused(f, 15, "not an ELF file");
	expect_refused(f, 40, "truncated: 40 bytes");
	expect_refused(f, f->size - 1, "truncated: section headers end at");
}

/* Bytes changed at random (a fixed sequence): the file is loaded, or refused with a line. */
static void random_damage(void **state)
{
	struct fixture *f = *state;
	uint32_t random = 1;

	for (int round = 0; round < 3000; round++) {
		memcpy(f->bytes, f->good, f->size);
		for (int i = 0; i < 1 + round % 8; i++) {
			size_t span = round % 2 ? 52 + 4 * 32 : f->size;

			random = random * 1664525 + 1013904223;
			f->bytes[(random >> 8) % span] = (uint8_t)(random >> 16);
		}
		if (load(f, f->size))
			assert_non_null(strstr(f->err, "broken.elf: "));
	}
}

/* Damages what only symbols need: the section headers and tables at the end. */
static void random_damage_to_symbols(void **state)
{
	struct fixture *f = *state;
	uint32_t random = 7, addr;

	for (int round = 0; round < 2000; round++) {
		size_t span = f->size - (ehdr(f)->e_shoff - 1024);

		memcpy(f->bytes, f->good, f->size);
		random = random * 1664525 + 1013904223;
		f->bytes[f->size - 1 - (random >> 8) % span] = (uint8_t)(random >> 3);
		if (load(f, f->size))
			assert_non_null(strstr(f->err, "broken.elf: "));
		rv_core_symbol(f->core, BASE + (random >> 16), &addr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(good_one_is_loaded, setup, teardown),
		cmocka_unit_test_setup_teardown(bss_is_zeroed, setup, teardown),
		cmocka_unit_test_setup_teardown(each_header_field, setup, teardown),
		cmocka_unit_test_setup_teardown(each_segment_field, setup, teardown),
		cmocka_unit_test_setup_teardown(every_truncation, setup, teardown),
		cmocka_unit_test_setup_teardown(random_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(random_damage_to_symbols, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
