/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/tests/fake_chip.h"

#include <stdlib.h>
#include <stdio.h>

struct fake_chip chip;

/* --- RAM as the helpers address it --- */

enum { SLOTS = 64, SLOT_SHIFT = 24 };

static const uint8_t *slots[SLOTS];
static unsigned next_slot;

uint32_t fw_ram_address(const void *ram)
{
	next_slot = (next_slot + 1) % SLOTS;
	slots[next_slot] = ram;
	return FW_RAM_BASE + (next_slot << SLOT_SHIFT);
}

static uint8_t *ram_at(uint32_t address)
{
	uint32_t offset = address - FW_RAM_BASE;

	if (chip.ram)
		return chip.ram + offset;
	return (uint8_t *)(uintptr_t)slots[offset >> SLOT_SHIFT] +
	       (offset & ((1u << SLOT_SHIFT) - 1));
}

/* --- DMA --- */

static uint64_t reg64(uint32_t hi, uint32_t lo)
{
	return (uint64_t)chip.reg[hi / 4] << 32 | chip.reg[lo / 4];
}

static uint32_t dma_bytes(uint32_t cmd, uint64_t bus, uint32_t ram, uint32_t len)
{
	if (bus > HOST_BYTES || len > HOST_BYTES - bus)
		return FW_DMA_FAULT;
	if (cmd == FW_DMA_READ)
		memcpy(ram_at(ram), chip.host + bus, len);
	else if (cmd == FW_DMA_WRITE)
		memcpy(chip.host + bus, ram_at(ram), len);
	else
		memset(chip.host + bus, (int)(ram & 0xff), len);
	return FW_DMA_OK;
}

static uint32_t dma_icm(uint32_t cmd, uint64_t va, uint32_t ram, uint32_t len)
{
	while (len) {
		uint32_t here = min_u32(len, 4096 - va % 4096), status;
		uint64_t page = va / 4096;

		if (page >= ICM_PAGES || chip.icm[page] == 1)
			return FW_DMA_NO_ICM;
		status = dma_bytes(cmd, chip.icm[page] + va % 4096, ram, here);
		if (status)
			return status;
		va += here;
		len -= here;
		ram += cmd == FW_DMA_FILL ? 0 : here;
	}
	return FW_DMA_OK;
}

static void dma_start(uint32_t cmd)
{
	uint64_t addr = reg64(FW_DMA_ADDR_HI, FW_DMA_ADDR_LO);
	uint32_t ram = chip.reg[FW_DMA_RAM / 4], len = chip.reg[FW_DMA_LEN / 4];

	chip.reg[FW_DMA_STATUS / 4] =
		cmd >= FW_DMA_ICM_READ
			? dma_icm(cmd - FW_DMA_ICM_READ + FW_DMA_READ, addr, ram, len)
			: dma_bytes(cmd, addr, ram, len);
}

static void icm_command(uint32_t cmd)
{
	uint64_t page = reg64(FW_ICM_VA_HI, FW_ICM_VA_LO) / 4096;
	uint64_t bus = reg64(FW_ICM_PA_HI, FW_ICM_PA_LO);

	for (uint32_t n = chip.reg[FW_ICM_PAGES / 4]; n-- && page < ICM_PAGES; page++) {
		chip.icm[page] = cmd == FW_ICM_MAP ? bus : 1;
		bus += 4096;
	}
}

/* --- objects --- */

static void object_command(uint32_t value)
{
	uint32_t command = value & 0xff, table = value >> 8, number = chip.reg[FW_OBJ_NUMBER / 4];
	uint8_t *valid = NULL;

	if (command != FW_OBJ_SYNC_ALL) {
		if (table > FW_TABLE_MPT && table != FW_TABLE_MCG)
			abort();
		valid = &chip.valid[table][number & ((1u << chip.table_log[table]) - 1)];
	}
	if (command != FW_OBJ_TEST) {
		chip.object[chip.objects % OBJ_LOG] = (struct fake_object){command, table, number};
		chip.objects++;
	}
	chip.reg[FW_OBJ_STATUS / 4] = FW_OBJ_OK;
	if (chip.on_object && command != FW_OBJ_TEST)
		chip.on_object(command, table, number);
	if (command == FW_OBJ_VALIDATE)
		*valid = 1;
	else if (command == FW_OBJ_INVALIDATE)
		*valid = 0;
	else if (command == FW_OBJ_TEST)
		chip.reg[FW_OBJ_STATUS / 4] = *valid;
}

bool object_was(unsigned back, uint32_t command, uint32_t table, uint32_t number)
{
	const struct fake_object *o = &chip.object[(chip.objects - 1 - back) % OBJ_LOG];

	return back < chip.objects && o->command == command &&
	       (command == FW_OBJ_SYNC_ALL || (o->table == table && o->number == number));
}

/* --- registers --- */

static void chip_write(uint32_t reg, uint32_t value)
{
	chip.reg[reg / 4] = value;
	switch (reg) {
	case FW_DMA_CMD:
		dma_start(value);
		break;
	case FW_ICM_CMD:
		icm_command(value);
		break;
	case FW_OBJ_CMD:
		object_command(value);
		break;
	case FW_TABLE_CMD:
		chip.table_log[value] = chip.reg[FW_TABLE_LOG_NUM / 4];
		break;
	case FW_HCA_CTRL:
		if (!value)
			memset(chip.valid, 0, sizeof(chip.valid));
		break;
	case FW_EVENT_MAP:
		chip.event_map[value & 0xff] = value;
		break;
	case FW_EQE_POST:
		memcpy(&chip.eqe[chip.eqes++ % EQE_LOG], ram_at(value), sizeof(struct eqe));
		break;
	case FW_HCR_DONE:
		chip.done = value;
		chip.reg[FW_IRQ_CAUSE / 4] &= ~(uint32_t)FW_IRQ_HCR;
		break;
	case FW_GUEST_ERROR:
		if (value >= RULE_COUNT)
			abort();
		chip.errors[value]++;
		break;
	default:
		break;
	}
}

static void port_write(struct fake_port *p, uint32_t reg, uint32_t value)
{
	uint32_t counter = p->reg[FW_PORT_COUNTER_INDEX / 4];

	p->reg[reg / 4] = value;
	switch (reg) {
	case FW_PORT_GID_GUID_LO:
		p->guids[p->reg[FW_PORT_GID_INDEX / 4] % 128] =
			(uint64_t)p->reg[FW_PORT_GID_GUID_HI / 4] << 32 | value;
		break;
	case FW_PORT_PKEY:
		p->pkeys[p->reg[FW_PORT_PKEY_INDEX / 4] % 128] = value;
		break;
	case FW_PORT_COUNTER_LO:
		p->counters[counter] = value;
		break;
	case FW_PORT_COUNTER_HI:
		p->counters[counter] = (uint64_t)value << 32 | (uint32_t)p->counters[counter];
		break;
	default:
		break;
	}
}

static uint32_t port_read(const struct fake_port *p, uint32_t reg)
{
	uint64_t guid = p->guids[p->reg[FW_PORT_GID_INDEX / 4] % 128];
	uint64_t counter = p->counters[p->reg[FW_PORT_COUNTER_INDEX / 4]];

	switch (reg) {
	case FW_PORT_GID_GUID_HI:
		return (uint32_t)(guid >> 32);
	case FW_PORT_GID_GUID_LO:
		return (uint32_t)guid;
	case FW_PORT_PKEY:
		return p->pkeys[p->reg[FW_PORT_PKEY_INDEX / 4] % 128];
	case FW_PORT_COUNTER_LO:
		return (uint32_t)counter;
	case FW_PORT_COUNTER_HI:
		return (uint32_t)(counter >> 32);
	default:
		return p->reg[reg / 4];
	}
}

void fw_write(uint32_t reg, uint32_t value)
{
	if (reg >= FW_PORT_BASE)
		port_write(&chip.port[(reg - FW_PORT_BASE) / FW_PORT_STRIDE],
			   (reg - FW_PORT_BASE) % FW_PORT_STRIDE, value);
	else if (reg == FW_IRQ_CAUSE)
		chip.reg[0] &= ~(value & ~(uint32_t)FW_IRQ_HCR);
	else
		chip_write(reg, value);
}

uint32_t fw_read(uint32_t reg)
{
	if (reg >= FW_PORT_BASE)
		return port_read(&chip.port[(reg - FW_PORT_BASE) / FW_PORT_STRIDE],
				 (reg - FW_PORT_BASE) % FW_PORT_STRIDE);
	if (reg == FW_TIME_LO)
		return (uint32_t)chip.now_ns;
	if (reg == FW_TIME_HI)
		return (uint32_t)(chip.now_ns >> 32);
	return chip.reg[reg / 4];
}

/* --- set-up --- */

void chip_reset(void)
{
	chip_power_on();
	fw_boot();
}

void chip_power_on(void)
{
	memset(&chip, 0, sizeof(chip));
	for (unsigned i = 0; i < ICM_PAGES; i++)
		chip.icm[i] = 1;
	chip.reg[FW_NUM_PORTS / 4] = 2;
	chip.reg[FW_GUID_HI / 4] = 0x0002c903;
	chip.reg[FW_GUID_LO / 4] = 0x00112230;
	chip.reg[FW_LOG_MAX_MSG / 4] = 30;
	chip.reg[FW_LOG_GIDS / 4] = 3;
	chip.reg[FW_LOG_PKEYS / 4] = 5;
	chip.reg[FW_LOG_MAX_QP / 4] = 18;
	chip.reg[FW_LOG_MAX_SRQ / 4] = 16;
	chip.reg[FW_LOG_MAX_CQ / 4] = 16;
	chip.reg[FW_LOG_MAX_EQ / 4] = 7;
	chip.reg[FW_LOG_MAX_MPT / 4] = 19;
	chip.reg[FW_BLUEFLAME / 4] = 0x309;
	chip.reg[FW_MSIX_VECTORS / 4] = 128;
	chip.reg[FW_UAR_SIZE_LOG_MB / 4] = 2;
	chip.reg[FW_LOCAL_ACK_DELAY / 4] = 15;
	chip.reg[FW_CORE_CLOCK_MHZ / 4] = 250;
	for (unsigned i = 0; i < 2; i++) {
		chip.port[i].reg[FW_PORT_TYPE / 4] = FW_TYPE_IB | FW_TYPE_IB << FW_TYPE_NOW_SHIFT;
		chip.port[i].reg[FW_PORT_WIDTH / 4] = 0x0302; /* 4x, supports 1x and 4x */
		chip.port[i].reg[FW_PORT_SPEED / 4] = 0x1714; /* QDR and FDR of SDR..QDR, FDR */
	}
}

uint8_t *in_box(void)
{
	return memset(chip.host + BUS_IN, 0, 4096);
}

uint8_t *out_box(void)
{
	return chip.host + BUS_OUT;
}

uint32_t cmd(uint32_t op, uint32_t op_mod, uint32_t in_mod, uint64_t in, uint64_t out)
{
	chip.reg[FW_HCR0 / 4] = (uint32_t)(in >> 32);
	chip.reg[FW_HCR1 / 4] = (uint32_t)in;
	chip.reg[FW_HCR2 / 4] = in_mod;
	chip.reg[FW_HCR3 / 4] = (uint32_t)(out >> 32);
	chip.reg[FW_HCR4 / 4] = (uint32_t)out;
	chip.reg[FW_HCR5 / 4] = 0xffff0000;
	chip.reg[FW_HCR6 / 4] = 1u << 23 | op_mod << 12 | op;
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_HCR;
	chip.done = ~0u;
	if (chip.serve)
		chip.serve();
	else
		fw_poll();
	return chip.done;
}

uint32_t cmd_box(uint32_t op, uint32_t op_mod, uint32_t in_mod)
{
	memset(chip.host + BUS_OUT, 0x55, 4096);
	return cmd(op, op_mod, in_mod, BUS_IN, BUS_OUT);
}

uint64_t cmd_out(void)
{
	return reg64(FW_HCR_OUT_HI, FW_HCR_OUT_LO);
}

unsigned errors_taken(unsigned rule)
{
	unsigned n = chip.errors[rule];

	chip.errors[rule] = 0;
	return n;
}

unsigned all_errors_taken(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < RULE_COUNT; i++)
		n += errors_taken(i);
	return n;
}

uint8_t *icm_at(uint32_t va)
{
	return chip.host + BUS_ICM + va;
}

void mtt_set(uint32_t index, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		be64_store(icm_at(ICM_MTT + 8 * (index + i)), BUS_QUEUE + first + i * 4096 + 1);
}

static void must(uint32_t status)
{
	if (status) {
		fprintf(stderr, "bring-up failed with status 0x%x\n", status);
		abort();
	}
}

void bring_up_to_run(void)
{
	uint8_t *box = in_box();

	be64_store(box + 8, 0x10000);
	must(cmd(0xfff, 0, 1, BUS_IN, 0));
	must(cmd(0xff6, 0, 0, 0, 0));
	must(cmd(0xffd, 0, 0, 0x200000, 0));
	must(cmd(0xffc, 0, 1, BUS_IN, 0));
	/* 2 MiB at ICM address 0. Not cleared, because a host does not clear the pages it gives. */
	memset(chip.host + BUS_ICM, 0xa5, 0x200000);
	be64_store(box, 0);
	be64_store(box + 8, BUS_ICM + 9);
	must(cmd(0xffa, 0, 1, BUS_IN, 0));
}

void bring_up(void)
{
	uint8_t *box;

	bring_up_to_run();
	box = in_box();
	box[0x00] = 2;
	box[0x0e] = 0x50;
	be32_store(box + 0x14, 1);
	be64_store(box + 0x30, ICM_QPC + 8);
	be64_store(box + 0x48, ICM_SRQC + 8);
	be64_store(box + 0x50, ICM_CQC + 8);
	be64_store(box + 0x60, ICM_ALTC);
	be64_store(box + 0x70, ICM_AUXC);
	be64_store(box + 0x80, ICM_EQC + 5);
	be64_store(box + 0x90, 0x90000 + 4);
	be64_store(box + 0xc0, ICM_MCG);
	box[0xd3] = 10;
	box[0xd7] = 5;
	box[0xdb] = 6;
	be64_store(box + 0xf0, ICM_MPT);
	box[0xf8] = 0x80;
	box[0xfb] = 8;
	be64_store(box + 0x100, ICM_MTT);
	be64_store(box + 0x108, ICM_CMPT);
	box[0x12a] = 10;
	must(cmd(0x007, 0, 0, BUS_IN, 0));

	mtt_set(0, 0, 1);
	box = in_box();
	be32_store(box, 0x00000900);
	box[0x0c] = 5;
	must(cmd(0x013, 0, CQ_EVENT_EQN, BUS_IN, 0));
}
