/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assembler for firmware of a few lines, and the ELF file that it becomes. Include it once, in
 * the test's file. Registers: x5 the register block, x6 the block of port 1, x10 the results in
 * RAM, x7 scratch.
 */
#ifndef MODEL_ENGINE_TESTS_RV_ASM_H
#define MODEL_ENGINE_TESTS_RV_ASM_H

#include "model/interface/fwregs.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	CODE = FW_RAM_BASE,
	RESULTS = FW_RAM_BASE + 0x8000,
	TEXT = FW_RAM_BASE + 0x9000, /* in the image */
	REGS = 5,
	PORT = 6,
	TMP = 7,
	RESULT = 10,
	CSR_MIE = 0x304,
	CSR_MTVEC = 0x305,
	MEIE = 0x800,
	TEXT_OFFSET = TEXT - CODE,
};

static uint32_t code[TEXT_OFFSET / 4 + 16];
static unsigned words, results;

static inline void emit(uint32_t word)
{
	code[words++] = word;
}

static inline void li(unsigned rd, uint32_t value)
{
	emit(((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
	emit((value & 0xfff) << 20 | rd << 15 | rd << 7 | 0x13);
}

static inline void lw(unsigned rd, unsigned base, uint32_t off)
{
	emit((off & 0xfff) << 20 | base << 15 | 2 << 12 | rd << 7 | 0x03);
}

static inline void sw(unsigned rs, unsigned base, uint32_t off)
{
	emit((off >> 5 & 0x7f) << 25 | rs << 20 | base << 15 | 2 << 12 | (off & 0x1f) << 7 | 0x23);
}

static inline void csrw(unsigned csr, uint32_t value)
{
	li(TMP, value);
	emit(csr << 20 | TMP << 15 | 1 << 12 | 0x73);
}

static inline void jump(unsigned to)
{
	uint32_t off = (to - words) * 4;

	emit((off >> 20 & 1) << 31 | (off >> 1 & 0x3ff) << 21 | (off >> 11 & 1) << 20 |
	     (off >> 12 & 0xff) << 12 | 0x6f);
}

static inline void wfi(void)
{
	emit(0x10500073);
}

static inline void set(enum fw_register reg, uint32_t value)
{
	li(TMP, value);
	sw(TMP, REGS, reg);
}

/* Stores the register's value as the next result. */
static inline void keep(unsigned base, uint32_t reg)
{
	lw(TMP, base, reg);
	sw(TMP, RESULT, 4 * results++);
}

static inline void object(uint32_t command, uint32_t type, uint32_t number)
{
	set(FW_OBJ_NUMBER, number);
	set(FW_OBJ_CMD, command | type << 8);
	keep(REGS, FW_OBJ_STATUS);
}

static inline void dma(uint32_t command, uint64_t addr, uint32_t ram, uint32_t len)
{
	set(FW_DMA_ADDR_HI, (uint32_t)(addr >> 32));
	set(FW_DMA_ADDR_LO, (uint32_t)addr);
	set(FW_DMA_RAM, ram);
	set(FW_DMA_LEN, len);
	set(FW_DMA_CMD, command);
	keep(REGS, FW_DMA_STATUS);
}

static inline void icm(uint32_t command, uint64_t va, uint64_t pa, uint32_t pages)
{
	set(FW_ICM_VA_HI, (uint32_t)(va >> 32));
	set(FW_ICM_VA_LO, (uint32_t)va);
	set(FW_ICM_PA_HI, (uint32_t)(pa >> 32));
	set(FW_ICM_PA_LO, (uint32_t)pa);
	set(FW_ICM_PAGES, pages);
	set(FW_ICM_CMD, command);
}

static inline void finish_with_sleep(void)
{
	unsigned loop = words;

	wfi();
	jump(loop);
}

#define ELF_PATH "hcasim-test-fw-XXXXXX.elf"

enum { ELF_PATH_SIZE = sizeof(ELF_PATH) };

static inline void elf_write(const char *path)
{
	const Elf32_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_RISCV,
		.e_version = EV_CURRENT,
		.e_entry = CODE,
		.e_phoff = sizeof(ehdr),
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	};
	const Elf32_Phdr phdr = {
		.p_type = PT_LOAD,
		.p_offset = sizeof(ehdr) + sizeof(phdr),
		.p_vaddr = CODE,
		.p_paddr = CODE,
		.p_filesz = sizeof(code),
		.p_memsz = sizeof(code),
		.p_flags = PF_R | PF_W | PF_X,
		.p_align = 4,
	};
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(&ehdr, sizeof(ehdr), 1, f), 1);
	assert_int_equal(fwrite(&phdr, sizeof(phdr), 1, f), 1);
	assert_int_equal(fwrite(code, sizeof(code), 1, f), 1);
	fclose(f);
}

/* Makes the file; the caller unlinks it. */
static inline void elf_make(char path[ELF_PATH_SIZE])
{
	int fd;

	memcpy(path, ELF_PATH, ELF_PATH_SIZE);
	fd = mkstemps(path, 4);
	assert_true(fd >= 0);
	close(fd);
	elf_write(path);
}

/* Begins a new program. */
static inline void assemble(void)
{
	memset(code, 0, sizeof(code));
	words = results = 0;
	li(REGS, FW_REG_BASE);
	li(PORT, FW_REG_BASE + FW_PORT_BASE);
	li(RESULT, RESULTS);
}

#endif
