/* SPDX-License-Identifier: Apache-2.0 */
/* See pci_config.h. */
#include "model/engine/host/pci_config.h"

#include "model/engine/base/engine.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/host/pcie.h"
#include "model/interface/macros.h"
#include "model/interface/regs.h"
#include "model/sim/params/hca_pcie.h"

#include <stdlib.h>
#include <string.h>

/* Type 0 header. */
enum {
	VENDOR = 0x00,
	DEVICE = 0x02,
	COMMAND = 0x04,
	STATUS = 0x06,
	REVISION = 0x08,
	CACHE_LINE = 0x0c,
	BAR0 = 0x10,
	SUBSYSTEM_VENDOR = 0x2c,
	SUBSYSTEM = 0x2e,
	CAPABILITIES = 0x34,
	INTERRUPT_LINE = 0x3c,
	INTERRUPT_PIN = 0x3d,

	COMMAND_MEMORY = 1 << 1,
	COMMAND_MASTER = 1 << 2,
	COMMAND_PARITY = 1 << 6,
	COMMAND_SERR = 1 << 8,
	COMMAND_INTX_OFF = 1 << 10,
	STATUS_INTX = 1 << 3,
	STATUS_CAPABILITIES = 1 << 4,
	STATUS_ERRORS = 0xf900,

	BAR_BYTES = 4,
	BAR_64BIT = 0x4,
	BAR_PREFETCH = 0x8,
};

/* Power management: PCI PM 1.2, 3.2. */
enum {
	PM_ID = 0x01,
	PM_CAPS = 2,
	PM_CONTROL = 4,
	PM_VERSION = 3,
	PM_STATE = 0x3,
	PM_D3 = 0x3,
	PM_NO_SOFT_RESET = 1 << 3,
};

/* PCI Express capability, version 2: PCI Express Base 3.0, 7.8. */
enum {
	EXP_ID = 0x10,
	EXP_FLAGS = 0x02,
	EXP_DEV_CAP = 0x04,
	EXP_DEV_CTL = 0x08,
	EXP_DEV_STATUS = 0x0a,
	EXP_LINK_CAP = 0x0c,
	EXP_LINK_CTL = 0x10,
	EXP_LINK_STATUS = 0x12,
	EXP_DEV_CAP2 = 0x24,
	EXP_DEV_CTL2 = 0x28,
	EXP_LINK_CAP2 = 0x2c,
	EXP_LINK_CTL2 = 0x30,

	EXP_VERSION2_ENDPOINT = 0x0002,
	EXP_ROLE_BASED_ERRORS = 1 << 15,
	EXP_DEV_CTL_RELAXED = 1 << 4,
	EXP_DEV_CTL_NO_SNOOP = 1 << 11,
	EXP_DEV_CTL_WRITABLE = 0x7fff,
	EXP_DEV_STATUS_ERRORS = 0x000f,
	EXP_MPS_SHIFT = 5,
	EXP_MRRS_SHIFT = 12,
	EXP_SIZE_MASK = 0x7,
	EXP_SIZE_BASE = 128, /* code 0 */
	EXP_LINK_WIDTH_SHIFT = 4,
	EXP_LINK_RCB128 = 1 << 3,
	EXP_LINK_CTL_WRITABLE = 0x01c3,
	EXP_LINK_SLOT_CLOCK = 1 << 12,
	EXP_TIMEOUT_RANGES = 0xf,
	EXP_TIMEOUT_DISABLE = 1 << 4,
	EXP_DEV_CTL2_WRITABLE = 0x001f,
	EXP_LINK_CTL2_WRITABLE = 0x000f,
};

/* MSI-X: PCI 3.0, 6.8.2. */
enum {
	MSIX_ID = 0x11,
	MSIX_CONTROL = 2,
	MSIX_TABLE = 4,
	MSIX_PBA = 8,
	MSIX_ENABLE = 1 << 15,
	MSIX_MASKED = 1 << 14,
};

enum { PCI_CONFIG_SIZE = 256 };

struct pci_config {
	const struct pci_identity *identity;
	uint8_t value[PCI_CONFIG_SIZE];
	uint8_t writable[PCI_CONFIG_SIZE]; /* bits */
	uint8_t clears[PCI_CONFIG_SIZE];   /* bits that a written 1 clears */
	bool lost; /* software has not written the command register since a software reset */
	bool told; /* and it was told so */
};

static uint32_t get(const uint8_t *at, unsigned size)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint32_t)at[i] << (8 * i);
	return value;
}

static void put(uint8_t *at, unsigned size, uint32_t value)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint16_t get16(const struct pci_config *config, unsigned offset)
{
	return (uint16_t)get(config->value + offset, sizeof(uint16_t));
}

static void set16(struct pci_config *config, unsigned offset, uint32_t value, uint32_t writable)
{
	put(config->value + offset, sizeof(uint16_t), value);
	put(config->writable + offset, sizeof(uint16_t), writable);
}

static void set32(struct pci_config *config, unsigned offset, uint32_t value, uint32_t writable)
{
	put(config->value + offset, sizeof(uint32_t), value);
	put(config->writable + offset, sizeof(uint32_t), writable);
}

static unsigned log2_of(uint64_t value)
{
	return 63 - (unsigned)__builtin_clzll(value);
}

/* A payload or request size as its register code. */
static uint32_t size_code(uint64_t bytes)
{
	return log2_of(bytes) - log2_of(EXP_SIZE_BASE);
}

/* Codes of the link rates in Link Capabilities. */
static uint32_t speed_code(uint64_t mt_s)
{
	static const uint16_t rates[] = {2500, 5000, 8000, 16000};
	uint32_t code = 1;

	while (code < ARRAY_SIZE(rates) && rates[code - 1] != mt_s)
		code++;
	return code;
}

static void bar_fill(struct pci_config *c, unsigned bar)
{
	const unsigned at = BAR0 + bar * BAR_BYTES;
	const uint32_t prefetch = c->identity->bar_prefetchable[bar] ? BAR_PREFETCH : 0;

	set32(c, at, BAR_64BIT | prefetch, ~(c->identity->bar_bytes[bar] - 1));
	set32(c, at + BAR_BYTES, 0, UINT32_MAX);
}

static void header_fill(struct pci_config *c)
{
	const struct pci_identity *identity = c->identity;

	set16(c, VENDOR, identity->vendor, 0);
	set16(c, DEVICE, identity->device, 0);
	set16(c, COMMAND, 0,
	      COMMAND_MEMORY | COMMAND_MASTER | COMMAND_PARITY | COMMAND_SERR | COMMAND_INTX_OFF);
	set16(c, STATUS, STATUS_CAPABILITIES, 0);
	put(c->clears + STATUS, sizeof(uint16_t), STATUS_ERRORS);
	set32(c, REVISION, identity->class_code << 8 | identity->revision, 0);
	c->writable[CACHE_LINE] = 0xff;
	for (unsigned bar = 0; bar < PCI_BARS; bar++)
		if (identity->bar_bytes[bar])
			bar_fill(c, bar);
	set16(c, SUBSYSTEM_VENDOR, identity->subsystem_vendor, 0);
	set16(c, SUBSYSTEM, identity->subsystem, 0);
	c->value[CAPABILITIES] = HCA_PCI_CAP_PM;
	c->writable[INTERRUPT_LINE] = 0xff;
	c->value[INTERRUPT_PIN] = HCA_PCI_INTA_PIN;
}

static void capability_fill(struct pci_config *c, unsigned offset, uint8_t id, uint8_t next)
{
	c->value[offset] = id;
	c->value[offset + 1] = next;
}

/* The rate of a lane: that of the slot, or of the device where it is slower. */
static uint64_t mt_s(const struct pci_identity *identity, const struct hca_params *p)
{
	const uint64_t slot = param_pcie_speed(p);

	return identity->max_mt_s && identity->max_mt_s < slot ? identity->max_mt_s : slot;
}

static void express_fill(struct pci_config *c, const struct hca_params *p)
{
	const unsigned at = HCA_PCI_CAP_EXPRESS;
	const uint32_t speed = speed_code(mt_s(c->identity, p));
	const uint32_t link = speed | (uint32_t)param_pcie_lanes(p) << EXP_LINK_WIDTH_SHIFT;

	set16(c, at + EXP_FLAGS, EXP_VERSION2_ENDPOINT, 0);
	set32(c, at + EXP_DEV_CAP, EXP_ROLE_BASED_ERRORS | size_code(param_pcie_mps(p)), 0);
	set16(c, at + EXP_DEV_CTL,
	      EXP_DEV_CTL_RELAXED | EXP_DEV_CTL_NO_SNOOP |
		      size_code(param_pcie_mps(p)) << EXP_MPS_SHIFT |
		      size_code(param_pcie_mrrs(p)) << EXP_MRRS_SHIFT,
	      EXP_DEV_CTL_WRITABLE);
	put(c->clears + at + EXP_DEV_STATUS, sizeof(uint16_t), EXP_DEV_STATUS_ERRORS);
	set32(c, at + EXP_LINK_CAP, link, 0);
	set16(c, at + EXP_LINK_CTL, param_pcie_rcb(p) > 64 ? EXP_LINK_RCB128 : 0,
	      EXP_LINK_CTL_WRITABLE | EXP_LINK_RCB128);
	set16(c, at + EXP_LINK_STATUS, link | EXP_LINK_SLOT_CLOCK, 0);
	set32(c, at + EXP_DEV_CAP2, EXP_TIMEOUT_RANGES | EXP_TIMEOUT_DISABLE, 0);
	set16(c, at + EXP_DEV_CTL2, 0, EXP_DEV_CTL2_WRITABLE);
	/* bit n stands for the rate with code n */
	set32(c, at + EXP_LINK_CAP2, (1u << (speed + 1)) - 2, 0);
	set16(c, at + EXP_LINK_CTL2, speed, EXP_LINK_CTL2_WRITABLE);
}

static bool awake(const struct pci_config *config)
{
	return (config->value[HCA_PCI_CAP_PM + PM_CONTROL] & PM_STATE) != PM_D3;
}

/* Passes the settings on to the units that use them. */
static void control_changed(const struct pci_config *c, struct hca *hca)
{
	const uint16_t msix = get16(c, HCA_PCI_CAP_MSIX + MSIX_CONTROL);
	const uint16_t dev = get16(c, HCA_PCI_CAP_EXPRESS + EXP_DEV_CTL);
	uint32_t mps = EXP_SIZE_BASE << (dev >> EXP_MPS_SHIFT & EXP_SIZE_MASK);
	uint32_t mrrs = EXP_SIZE_BASE << (dev >> EXP_MRRS_SHIFT & EXP_SIZE_MASK);

	if (mps > param_pcie_mps(hca->params))
		mps = (uint32_t)param_pcie_mps(hca->params);
	if (mrrs > param_pcie_mrrs(hca->params))
		mrrs = (uint32_t)param_pcie_mrrs(hca->params);
	pcie_configure(hca, mps, mrrs);
	pcie_master_set(hca, get16(c, COMMAND) & COMMAND_MASTER && awake(c));
	interrupt_intx_control(hca, get16(c, COMMAND) & COMMAND_INTX_OFF);
	interrupt_control(hca, msix & MSIX_ENABLE, msix & MSIX_MASKED);
}

struct pci_config *pci_config_create(const struct pci_identity *identity)
{
	struct pci_config *config = memory_create(1, sizeof(*config), "a configuration space");

	config->identity = identity;
	return config;
}

void pci_config_destroy(struct pci_config *config)
{
	free(config);
}

const struct pci_identity *pci_config_identity(const struct hca *hca)
{
	return hca->config->identity;
}

void pci_config_reset(struct hca *hca)
{
	const unsigned pm = HCA_PCI_CAP_PM, msix = HCA_PCI_CAP_MSIX;
	struct pci_config *config = hca->config;
	const struct pci_identity *identity = config->identity;

	*config = (struct pci_config){.identity = identity};
	header_fill(config);
	capability_fill(config, pm, PM_ID, HCA_PCI_CAP_EXPRESS);
	set16(config, pm + PM_CAPS, PM_VERSION, 0);
	set16(config, pm + PM_CONTROL, PM_NO_SOFT_RESET, PM_STATE);
	capability_fill(config, HCA_PCI_CAP_EXPRESS, EXP_ID, HCA_PCI_CAP_MSIX);
	express_fill(config, hca->params);
	capability_fill(config, msix, MSIX_ID, 0);
	set16(config, msix + MSIX_CONTROL, interrupt_vectors(hca) - 1, MSIX_ENABLE | MSIX_MASKED);
	set32(config, msix + MSIX_TABLE, identity->msix_table, 0);
	set32(config, msix + MSIX_PBA, identity->msix_pba, 0);
	control_changed(config, hca);
	HCA_TRACE(hca, TP_RESET, .text = "configuration space reset");
}

static bool outside(unsigned offset, unsigned size)
{
	return (size != 1 && size != 2 && size != 4) || offset % size || offset >= PCI_CONFIG_SIZE;
}

static uint32_t config_read(const struct hca *hca, unsigned offset, unsigned size)
{
	const struct pci_config *config = hca->config;
	uint8_t value[PCI_CONFIG_SIZE];

	if (outside(offset, size))
		return 0;
	if (offset / 4 != COMMAND / 4)
		return get(config->value + offset, size);
	memcpy(value + COMMAND, config->value + COMMAND, 4);
	if (interrupt_intx_pending(hca))
		value[STATUS] |= STATUS_INTX;
	return get(value + offset, size);
}

uint32_t hca_config_read(struct hca *hca, unsigned offset, unsigned size)
{
	uint32_t value = config_read(hca, offset, size);

	HCA_TRACE(hca, TP_CFG_READ, .args = {0, offset, value, size});
	return value;
}

uint32_t hca_config_peek(const struct hca *hca, unsigned offset)
{
	return config_read(hca, offset, sizeof(uint32_t));
}

void pci_config_soft_reset(struct hca *hca)
{
	pci_config_reset(hca);
	hca->config->lost = true;
}

bool pci_config_is_lost(const struct hca *hca)
{
	return hca->config->lost;
}

void hca_config_write(struct hca *hca, unsigned offset, unsigned size, uint32_t value)
{
	struct pci_config *config = hca->config;
	const uint8_t power = config->value[HCA_PCI_CAP_PM + PM_CONTROL];
	const bool was_master = get16(config, COMMAND) & COMMAND_MASTER;

	HCA_TRACE(hca, TP_CFG_WRITE, .args = {0, offset, value, size});
	if (outside(offset, size))
		return;
	for (unsigned i = offset; i < offset + size; i++, value >>= 8) {
		uint8_t v = (uint8_t)value, w = config->writable[i];

		config->value[i] =
			(uint8_t)(((config->value[i] & ~w) | (v & w)) & ~(v & config->clears[i]));
	}
	/* D1 and D2 are not supported: the write changes nothing. PCI PM 1.2, 3.2.4 */
	if ((config->value[HCA_PCI_CAP_PM + PM_CONTROL] & PM_STATE) % PM_D3)
		config->value[HCA_PCI_CAP_PM + PM_CONTROL] = power;
	control_changed(config, hca);
	if (offset / 4 == COMMAND / 4)
		config->lost = config->told = false;
	/* Who clears memory decoding, too, takes the whole function away, and wants no CLOSE_HCA: QEMU
	 * does so before it resets the function of a guest that is reset. */
	if (was_master &&
	    (get16(config, COMMAND) & (COMMAND_MEMORY | COMMAND_MASTER)) == COMMAND_MEMORY &&
	    hca->ctrl & FW_CTRL_RUN)
		guest_error(hca, RULE_bus_master_off, guest_object(GUEST_NONE, 0),
			    "bus mastering was cleared while the device runs, before CLOSE_HCA");
}

bool pci_config_decodes(struct hca *hca, const char *what, unsigned bar, uint64_t offset)
{
	if (get16(hca->config, COMMAND) & COMMAND_MEMORY && awake(hca->config))
		return true;
	if (!hca->config->lost)
		guest_error(hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
			    "%s at bar%u %llx while memory decoding is off or the device sleeps",
			    what, bar, (unsigned long long)offset);
	else if (!hca->config->told)
		guest_error(hca, RULE_config_not_restored, guest_object(GUEST_NONE, 0),
			    "%s at bar%u %llx, and the command register of configuration space was "
			    "not written since the reset",
			    what, bar, (unsigned long long)offset);
	hca->config->told = hca->config->lost;
	return false;
}
