/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind BAR0 of the chip, see ipath.h: its registers, user registers, counters, eager
 * and expected entries, send buffers, and the MSI-X table.
 */
#include "model/engine/host/interrupt.h"
#include "model/engine/host/pci_config.h"
#include "model/engine/ipath/ipath.h"
#include "model/interface/macros.h"
#include "model/interface/regs.h"

#include <string.h>

enum {
	WIDE = 8,
	HALF = 4,
	SEND_END = IPATH_SEND_LARGE + IPATH_LARGE_BUFFERS * IPATH_LARGE_STRIDE,
	TABLE_BYTES = HCA_MSIX_ENTRY_SIZE, /* one vector */
};

/* --- registers --- */

static void hw_err_clear_write(struct ipath *ipath, uint64_t value)
{
	*ipath_register(ipath, IPATH_HwErrStatus, 0) &= ~value;
}

static void gpio_clear_write(struct ipath *ipath, uint64_t value)
{
	*ipath_register(ipath, IPATH_GPIOStatus, 0) &= ~value;
}

/* A pin is driven while its output is enabled, and pulled up otherwise. */
static bool pin(const struct ipath *ipath, unsigned bit)
{
	const uint64_t enabled = ipath_get(ipath, IPATH_EXTCtrl) >> IPATH_GPIO_SHIFT;

	return !(enabled & bit) || ipath_get(ipath, IPATH_GPIOOut) & bit;
}

static void ext_ctrl_write(struct ipath *ipath, uint64_t value)
{
	*ipath_register(ipath, IPATH_EXTCtrl, 0) = value;
	eeprom_lines(&ipath->eeprom, pin(ipath, IPATH_SCL), pin(ipath, IPATH_SDA));
}

static void gpio_out_write(struct ipath *ipath, uint64_t value)
{
	*ipath_register(ipath, IPATH_GPIOOut, 0) = value;
	eeprom_lines(&ipath->eeprom, pin(ipath, IPATH_SCL), pin(ipath, IPATH_SDA));
}

static uint64_t ext_status_read(struct ipath *ipath)
{
	uint64_t pins = 0;

	for (unsigned bit = 1; bit <= IPATH_GPIO_MASK; bit <<= 1)
		if (bit == IPATH_SDA ? eeprom_sda(&ipath->eeprom) : pin(ipath, bit))
			pins |= bit;
	return pins << IPATH_GPIO_SHIFT | IPATH_EXT_MEMORY_TESTED;
}

enum kind { CONST, STORE, ACTION };

static const struct reg {
	const char *name;
	uint64_t reset;
	uint16_t offset;
	uint8_t count, kind;
} rows[] = {
#define R(name, offset, count, kind, reset, meaning) {#name, reset, offset, count, kind},
	IPATH_REGISTERS(R)
#undef R
};

static const struct {
	enum ipath_register reg;
	void (*write)(struct ipath *ipath, uint64_t value);
	uint64_t (*read)(struct ipath *ipath);
} actions[] = {
	{IPATH_Control, ipath_control_write, NULL},
	{IPATH_IntMask, ipath_int_mask_write, NULL},
	{IPATH_IntStatus, NULL, ipath_int_status_read},
	{IPATH_IntClear, ipath_int_clear_write, NULL},
	{IPATH_ErrMask, ipath_err_mask_write, NULL},
	{IPATH_ErrClear, ipath_err_clear_write, NULL},
	{IPATH_HwErrClear, hw_err_clear_write, NULL},
	{IPATH_IBCStatus, NULL, ipath_ibc_status_read},
	{IPATH_IBCCtrl, ipath_ibc_ctrl_write, NULL},
	{IPATH_EXTStatus, NULL, ext_status_read},
	{IPATH_EXTCtrl, ext_ctrl_write, NULL},
	{IPATH_GPIOOut, gpio_out_write, NULL},
	{IPATH_GPIOClear, gpio_clear_write, NULL},
	{IPATH_RcvCtrl, ipath_rcv_ctrl_write, NULL},
	{IPATH_SendCtrl, ipath_send_ctrl_write, NULL},
	{IPATH_SendPIOAvailAddr, ipath_send_avail_write, NULL},
};

static int action_of(uint64_t offset)
{
	for (unsigned i = 0; i < ARRAY_SIZE(actions); i++)
		if ((uint64_t)actions[i].reg == offset)
			return (int)i;
	return -1;
}

static const struct reg *reg_at(uint64_t offset)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (offset >= rows[i].offset && offset < rows[i].offset + rows[i].count * 8u)
			return &rows[i];
	return NULL;
}

void ipath_registers_reset(struct ipath *ipath)
{
	memset(ipath->registers, 0, sizeof(ipath->registers));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned n = 0; n < rows[i].count; n++)
			ipath->registers[rows[i].offset / 8 + n] = rows[i].reset;
}

static void unknown(struct hca *hca, const char *what, uint64_t offset, unsigned size)
{
	guest_error(hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
		    "%s of %u bytes at bar0 %llx", what, size, (unsigned long long)offset);
}

static void reg_write(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size)
{
	const struct reg *reg = reg_at(offset);
	const int action = action_of(offset);
	const uint64_t value = ipath_load(bytes, size);

	if (!reg || reg->kind == CONST || (reg->kind == ACTION && !actions[action].write)) {
		unknown(ipath->hca, "write", offset, size);
		return;
	}
	if (size != WIDE || offset % WIDE) {
		guest_error(ipath->hca, RULE_register_size, guest_object(GUEST_NONE, 0),
			    "write of %u bytes to %s", size, reg->name);
		return;
	}
	ipath_rcv_address_write(ipath, (enum ipath_register)offset, value);
	if (reg->kind == ACTION)
		actions[action].write(ipath, value);
	else
		ipath->registers[offset / WIDE] = value;
}

static uint64_t reg_read(struct ipath *ipath, uint64_t offset, unsigned size)
{
	const uint64_t at = offset & ~(uint64_t)(WIDE - 1);
	const struct reg *reg = reg_at(at);
	const int action = action_of(at);
	uint64_t value;

	if (!reg) {
		unknown(ipath->hca, "read", offset, size);
		return 0;
	}
	value = action >= 0 && actions[action].read ? actions[action].read(ipath)
						    : ipath->registers[at / WIDE];
	return value >> (8 * (offset % WIDE));
}

/* --- the rest of BAR0 --- */

static void user_write(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size)
{
	const uint64_t name = offset % IPATH_ALIGN / WIDE;

	if (size != WIDE || offset % WIDE || name >= IPATH_USER_REGISTERS)
		unknown(ipath->hca, "write", IPATH_USER + offset, size);
	else if (offset / IPATH_ALIGN == 0) /* the other contexts are those of processes */
		ipath_user_write(ipath, (enum ipath_user)name, ipath_load(bytes, size));
}

static uint64_t user_read(struct ipath *ipath, uint64_t offset, unsigned size)
{
	const uint64_t name = offset % IPATH_ALIGN / WIDE;

	if (offset % WIDE || name >= IPATH_USER_REGISTERS) {
		unknown(ipath->hca, "read", IPATH_USER + offset, size);
		return 0;
	}
	return offset / IPATH_ALIGN ? 0 : ipath_user_read(ipath, (enum ipath_user)name);
}

static void entry_write(struct ipath *ipath, bool eager, uint64_t offset, const void *bytes,
			unsigned size)
{
	const uint32_t value = (uint32_t)ipath_load(bytes, size);
	const uint32_t index = (uint32_t)(offset / WIDE);

	if (size != HALF || offset % WIDE)
		guest_error(ipath->hca, RULE_register_size, guest_object(GUEST_NONE, 0),
			    "write of %u bytes to an %s entry, at %llx", size,
			    eager ? "eager" : "expected", (unsigned long long)offset);
	else if (eager)
		ipath_eager_write(ipath, index, value);
	else
		ipath->tids[index] = value;
}

static void counter_write(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size)
{
	if (size != WIDE || ipath_counter_write(ipath, (uint32_t)offset, ipath_load(bytes, size)))
		unknown(ipath->hca, "write", IPATH_COUNTERS + offset, size);
}

static uint64_t counter_read(struct ipath *ipath, uint64_t offset, unsigned size)
{
	const uint32_t at = (uint32_t)offset & ~(uint32_t)(WIDE - 1);
	uint64_t value = 0;

	if (ipath_counter_read(ipath, at, &value))
		unknown(ipath->hca, "read", IPATH_COUNTERS + offset, size);
	return value >> (8 * (offset % WIDE));
}

static bool within(uint64_t offset, uint64_t start, uint64_t end)
{
	return offset >= start && offset < end;
}

static void write_at(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size)
{
	if (offset < IPATH_REGISTERS_END)
		reg_write(ipath, offset, bytes, size);
	else if (within(offset, IPATH_USER, IPATH_USER + IPATH_CONTEXTS * IPATH_ALIGN))
		user_write(ipath, offset - IPATH_USER, bytes, size);
	else if (within(offset, IPATH_COUNTERS, IPATH_COUNTERS_END))
		counter_write(ipath, offset - IPATH_COUNTERS, bytes, size);
	else if (within(offset, IPATH_EAGER, IPATH_EAGER + sizeof(ipath->eager) * 2))
		entry_write(ipath, true, offset - IPATH_EAGER, bytes, size);
	else if (within(offset, IPATH_TID, IPATH_TID + sizeof(ipath->tids) * 2))
		entry_write(ipath, false, offset - IPATH_TID, bytes, size);
	else if (within(offset, IPATH_MSIX_TABLE, IPATH_MSIX_TABLE + TABLE_BYTES) &&
		 (size == HALF || size == WIDE) && offset % size == 0)
		interrupt_table_write(ipath->hca, (uint32_t)(offset - IPATH_MSIX_TABLE), bytes,
				      size);
	else
		unknown(ipath->hca, "write", offset, size);
}

static uint64_t read_at(struct ipath *ipath, uint64_t offset, unsigned size)
{
	uint8_t bytes[WIDE] = {0};

	if (size > WIDE) {
		unknown(ipath->hca, "read", offset, size);
		return 0;
	}
	if (offset < IPATH_REGISTERS_END)
		return reg_read(ipath, offset, size);
	if (within(offset, IPATH_USER, IPATH_USER + IPATH_CONTEXTS * IPATH_ALIGN))
		return user_read(ipath, offset - IPATH_USER, size);
	if (within(offset, IPATH_COUNTERS, IPATH_COUNTERS_END))
		return counter_read(ipath, offset - IPATH_COUNTERS, size);
	if (within(offset, IPATH_MSIX_TABLE, IPATH_MSIX_TABLE + TABLE_BYTES) && offset % size == 0)
		interrupt_table_read(ipath->hca, (uint32_t)(offset - IPATH_MSIX_TABLE), bytes,
				     size);
	else if (within(offset, IPATH_MSIX_PBA, IPATH_MSIX_PBA + WIDE) && offset % size == 0)
		interrupt_pba_read(ipath->hca, (uint32_t)(offset - IPATH_MSIX_PBA), bytes, size);
	else
		unknown(ipath->hca, "read", offset, size);
	return ipath_load(bytes, size);
}

static const char *name_of(uint64_t offset)
{
	static const char *const user[] = {"HdrTail", "HdrHead", "EgrIndexTail", "EgrIndexHead"};
	const struct reg *reg = reg_at(offset);

	if (reg)
		return reg->name;
	if (within(offset, IPATH_USER, IPATH_USER + IPATH_CONTEXTS * IPATH_ALIGN) &&
	    offset % IPATH_ALIGN / WIDE < IPATH_USER_REGISTERS)
		return user[offset % IPATH_ALIGN / WIDE];
	if (within(offset, IPATH_COUNTERS, IPATH_COUNTERS_END))
		return "counter";
	if (within(offset, IPATH_EAGER, IPATH_EAGER + sizeof(((struct ipath *)0)->eager) * 2))
		return "eager entry";
	return "";
}

/* Whether the access reaches the chip. One that has stopped answers no more. */
static bool reaches(struct hca *hca, const char *what, unsigned bar, uint64_t offset)
{
	return pci_config_decodes(hca, what, bar, offset) && !hca->stopped;
}

void ipath_bar_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
		     unsigned size)
{
	if (within(offset, IPATH_SEND, SEND_END)) {
		/* the log has the packet, when it is complete */
		if (reaches(hca, "write", bar, offset))
			ipath_send_write(hca->ipath, offset, bytes, size);
		return;
	}
	HCA_TRACE(hca, TP_IPATH_WRITE, .text = name_of(offset),
		  .args = {offset, ipath_load(bytes, size), size});
	if (reaches(hca, "write", bar, offset))
		write_at(hca->ipath, offset, bytes, size);
}

void ipath_bar_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	if (reaches(hca, "read", bar, offset))
		ipath_store(bytes, size, read_at(hca->ipath, offset, size));
	else
		memset(bytes, 0xff, size);
	HCA_TRACE(hca, TP_IPATH_READ, .text = name_of(offset),
		  .args = {offset, ipath_load(bytes, size), size});
}
