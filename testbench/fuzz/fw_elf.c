/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware files. The first byte tells what the rest is: a whole ELF file, changes to the real
 * firmware's file (offset, byte), or bare instructions that are placed where the real firmware
 * starts.
 */
#include "model/sim/cfg.h"
#include "testbench/fuzz/rig.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, WHOLE = 0, CHANGES = 1 };

static uint8_t firmware[FILE_MAX];
static size_t firmware_size;

static void firmware_read(void)
{
	const char *path = getenv("FUZZ_FW");
	FILE *f = fopen(path ? path : "build/fw/hcasim-fw.elf", "rb");

	if (!f)
		abort();
	firmware_size = fread(firmware, 1, sizeof(firmware), f);
	fclose(f);
}

/* File offset of the code at the entry point, or 0 if the file does not contain it. */
static size_t entry_offset(const uint8_t *file)
{
	const Elf32_Ehdr *eh = (const void *)file;
	const Elf32_Phdr *ph = (const void *)(file + eh->e_phoff);

	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && eh->e_entry >= ph[i].p_vaddr &&
		    eh->e_entry - ph[i].p_vaddr < ph[i].p_filesz)
			return ph[i].p_offset + (eh->e_entry - ph[i].p_vaddr);
	return 0;
}

static const char *file_of(const uint8_t *data, size_t size)
{
	static uint8_t changed[FILE_MAX];
	struct fuzz_bytes b = {data + 1, data + size};
	size_t at;

	if (!firmware_size)
		firmware_read();
	if (size < 2 || data[0] % 4 == WHOLE)
		return fuzz_file(size ? data + 1 : data, size ? size - 1 : 0);
	memcpy(changed, firmware, firmware_size);
	if (data[0] % 4 == CHANGES) {
		while (fuzz_more(&b)) {
			at = data[0] & 4 ? fuzz_take(&b, 1) : fuzz_take(&b, 3);
			changed[at % firmware_size] = (uint8_t)fuzz_take(&b, 1);
		}
	} else {
		at = entry_offset(firmware);
		for (size_t i = 0; at && i + 1 < size && at + i < firmware_size; i++)
			changed[at + i] = data[1 + i];
	}
	return fuzz_file(changed, firmware_size);
}

static int no_memory_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	return -EFAULT;
}

static int no_memory_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	return -EFAULT;
}

static void nobody_interrupted(void *ctx, unsigned vector, uint64_t address, uint32_t data)
{
}

static void nobody_asserted(void *ctx, bool asserted)
{
}

static void nobody_blamed(void *ctx, const struct guest_error *error)
{
}

static void nobody_told(void *ctx, const char *text)
{
}

static const struct hca_env nowhere = {
	.dma_read = no_memory_read,
	.dma_write = no_memory_write,
	.irq_raise = nobody_interrupted,
	.intx = nobody_asserted,
	.guest_error = nobody_blamed,
	.catastrophe = nobody_told,
};

int fuzz_input(const uint8_t *data, size_t size)
{
	const char *path = file_of(data, size);
	struct event_core core;
	struct config config;
	struct hca *hca;
	char err[256];

	event_core_init(&core);
	cfg_defaults(&config);
	hca = hca_create(0, &config.hca[0], &config.host[0], &core, &nowhere, NULL, path, err,
			 sizeof(err));
	if (hca) {
		event_core_run_until(&core, CFG_MS(1));
		hca_destroy(hca);
	}
	event_core_free(&core);
	return 0;
}
