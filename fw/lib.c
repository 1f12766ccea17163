/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/fw.h"

enum { DMA_PIECE = 64 * 1024 }; /* bytes between two writes of the watchdog */

#ifdef __riscv
/* The compiler emits calls of these three. */
void *memcpy(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0)
		for (; n >= 4; n -= 4, t += 4, f += 4)
			*(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	uint8_t *t = to;
	uint32_t word = (uint8_t)byte * 0x01010101u;

	if (((uintptr_t)t & 3) == 0)
		for (; n >= 4; n -= 4, t += 4)
			*(uint32_t *)(void *)t = word;
	while (n--)
		*t++ = (uint8_t)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n--; x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
#endif

/* @ram: an address in RAM; for a fill the byte, with @step 0. */
static uint32_t dma_run(uint32_t cmd, uint64_t addr, uint32_t ram, uint32_t step, uint32_t len)
{
	while (len) {
		uint32_t piece = min_u32(len, DMA_PIECE);
		uint32_t status;

		fw_write(FW_DMA_ADDR_HI, (uint32_t)(addr >> 32));
		fw_write(FW_DMA_ADDR_LO, (uint32_t)addr);
		fw_write(FW_DMA_RAM, ram);
		fw_write(FW_DMA_LEN, piece);
		fw_write(FW_DMA_CMD, cmd);
		status = fw_read(FW_DMA_STATUS);
		if (status != FW_DMA_OK)
			return status;
		addr += piece;
		ram += piece * step;
		len -= piece;
		fw_kick();
	}
	return FW_DMA_OK;
}

uint32_t fw_dma_read(uint64_t bus, void *ram, uint32_t len)
{
	return dma_run(FW_DMA_READ, bus, fw_ram_address(ram), 1, len);
}

uint32_t fw_dma_write(uint64_t bus, const void *ram, uint32_t len)
{
	return dma_run(FW_DMA_WRITE, bus, fw_ram_address(ram), 1, len);
}

uint32_t fw_dma_fill(uint64_t bus, uint8_t byte, uint32_t len)
{
	return dma_run(FW_DMA_FILL, bus, byte, 0, len);
}

uint32_t fw_icm_read(uint64_t va, void *ram, uint32_t len)
{
	return dma_run(FW_DMA_ICM_READ, va, fw_ram_address(ram), 1, len);
}

uint32_t fw_icm_write(uint64_t va, const void *ram, uint32_t len)
{
	return dma_run(FW_DMA_ICM_WRITE, va, fw_ram_address(ram), 1, len);
}

void fw_event_post(const struct eqe *eqe)
{
	fw_write(FW_EQE_POST, fw_ram_address(eqe));
	fw_read(FW_EQE_STATUS);
}

void fw_guest_error(enum guest_rule rule, enum guest_object_kind kind, uint32_t number,
		    const char *text)
{
	fw_write(FW_GUEST_OBJECT, (uint32_t)kind << 24 | (number & 0xffffff));
	fw_write(FW_GUEST_TEXT, fw_ram_address(text));
	fw_write(FW_GUEST_ERROR, rule);
}

void fw_kick(void)
{
	fw_write(FW_WATCHDOG, fw.watchdog_us);
}

uint64_t fw_now_ns(void)
{
	uint32_t low = fw_read(FW_TIME_LO);

	return (uint64_t)fw_read(FW_TIME_HI) << 32 | low;
}
