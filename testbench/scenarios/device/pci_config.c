/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose configuration space says other things than ours does: capabilities in another order or
 * none, an MSI-X table elsewhere or of another size, another owner, a semaphore that is taken, and a reset
 * that takes its time. Each is seen by the driver through operations of the platform that change what is
 * read. The driver drives what it can, and says why it does not drive the others.
 */
/* behaviours: HCA-configuration */
#include "host_driver/drv/pci_regs.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"

enum {
	OTHER_BITS = 0x140, /* of the command register: SERR#, and not for the driver to change */
	BAR_FIRST = 0x10,
	BAR_LAST = 0x24,
	LOW_BITS = 3, /* reserved in a capability's pointer (PCI 3.0, 6.7) */
	ID_OTHER = 5, /* no capability that the driver looks for */
	DISOWN_MS = 1000,
	VECTORS = 4, /* of the device */
	OTHER_BAR = 4,
	OTHER_TABLE = 0x7000,
};

struct function {
	const char *name;
	int rc;
	uint32_t id;
	bool owned, no_capabilities, endless, low_bits;
	unsigned msix_table;   /* 0: as ours */
	unsigned vectors, got; /* 0: not looked at */
	uint64_t semaphore_ps, silent_ps;
};

static struct {
	struct tb *tb;
	const struct platform_ops *real;
	struct platform_ops ops;
	const struct function *function;
	uint64_t begun, reset_at, disowned_at;
	uint32_t table; /* where ours is */
	unsigned command;
	bool restored, early, table_written;
	uint32_t express[2];
} seen;

/* device and link control of PCI Express */
static const unsigned express[] = {HCA_PCI_CAP_EXPRESS + 8, HCA_PCI_CAP_EXPRESS + 16};

static bool is_silent(struct platform *p)
{
	return seen.reset_at && seen.real->now_ps(p) - seen.reset_at < seen.function->silent_ps;
}

/* A function that is not for this driver is left as it is. */
static bool is_foreign(const struct function *f)
{
	return f->owned || (f->rc == -ENODEV && !f->silent_ps);
}

static void touch(struct platform *p)
{
	if (seen.disowned_at && seen.real->now_ps(p) - seen.disowned_at < CFG_MS(DISOWN_MS))
		seen.early = true;
}

static uint32_t config_read(struct platform *p, unsigned offset, unsigned size)
{
	const uint32_t value = seen.real->config_read(p, offset, size);
	const struct function *f = seen.function;
	struct tb *tb = seen.tb;

	touch(p);
	expect_equal(offset % size, 0);
	expect_true(offset != PCI_CAP_POINTER || size == 4 || !f->no_capabilities);
	switch (offset) {
	case PCI_ID:
		return is_silent(p) ? UINT32_MAX : f->id ? f->id : value;
	case PCI_COMMAND:
		return value | OTHER_BITS;
	case PCI_STATUS:
		return f->no_capabilities ? value & ~(uint32_t)PCI_STATUS_CAPS : value;
	case PCI_CAP_POINTER:
		return value | (f->low_bits ? LOW_BITS : 0);
	case HCA_PCI_CAP_MSIX:
		if (f->endless)
			return HCA_PCI_CAP_MSIX << 8 | ID_OTHER;
		/* fall through */
	case HCA_PCI_CAP_EXPRESS:
		return value | (f->low_bits ? LOW_BITS << 8 : 0);
	case HCA_PCI_CAP_MSIX + MSIX_TABLE:
		return f->msix_table ? f->msix_table : value;
	default:
		return value;
	}
}

static void config_write(struct platform *p, unsigned offset, unsigned size, uint32_t value)
{
	struct tb *tb = seen.tb;

	touch(p);
	expect_true(offset < BAR_FIRST || !is_silent(p));
	if (offset == PCI_COMMAND)
		seen.command = value & UINT16_MAX;
	/* which the driver cannot find */
	if (offset == PCI_COMMAND && seen.function->no_capabilities)
		for (size_t i = 0; i < ARRAY_SIZE(express); i++)
			seen.real->config_write(p, express[i], 2, seen.express[i]);
	if (offset >= BAR_FIRST && offset <= BAR_LAST)
		seen.restored = true;
	seen.real->config_write(p, offset, size, value);
}

static void mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	const struct function *f = seen.function;

	touch(p);
	/* what another has taken is not taken for the driver */
	if ((bar == HCA_BAR_REGS && offset == BAR0_OWNERSHIP && f->owned) ||
	    (bar == HCA_BAR_REGS && offset == BAR0_SEMAPHORE &&
	     seen.real->now_ps(p) - seen.begun < f->semaphore_ps))
		be32_store(bytes, 1);
	else
		seen.real->mmio_read(p, bar, offset, bytes, size);
}

static void mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
		       unsigned size)
{
	const uint64_t at = seen.table & ~(uint32_t)MSIX_BIR_MASK;
	struct tb *tb = seen.tb;

	touch(p);
	expect_true(!is_foreign(seen.function));
	expect_true(!seen.function->msix_table || bar != HCA_BAR_REGS || offset < OTHER_TABLE ||
		    offset >= OTHER_TABLE + VECTORS * HCA_MSIX_ENTRY_SIZE);
	if (bar == HCA_BAR_REGS && offset == BAR0_RESET)
		seen.reset_at = seen.real->now_ps(p);
	if (bar == HCA_BAR_REGS && offset == BAR0_OWNERSHIP)
		seen.disowned_at = seen.real->now_ps(p);
	if (seen.function->msix_table && bar == OTHER_BAR && offset >= OTHER_TABLE) {
		seen.table_written = true;
		seen.real->mmio_write(p, seen.table & MSIX_BIR_MASK, at + offset - OTHER_TABLE,
				      bytes, size);
		return;
	}
	seen.real->mmio_write(p, bar, offset, bytes, size);
}

static void drives(struct tb *tb, struct tb_end *a, const struct function *f)
{
	const struct drv_options options = {
		.log_eq_size = 8, .no_ports = true, .comp_vectors = f->vectors};
	struct drv_device_attr attr;
	struct drv_device *dev;
	int rc;

	seen.begun = tb_now(tb);
	seen.reset_at = seen.disowned_at = 0;
	seen.restored = seen.early = seen.table_written = false;
	seen.command = OTHER_BITS;
	seen.function = f;
	a->platform->ops = &seen.ops;
	rc = drv_probe(a->platform, &options, &dev);
	expect_equal(-rc, -f->rc);
	if (rc) {
		/* it is left alone, or, once it was touched, without DMA */
		expect_equal(seen.command & (OTHER_BITS | PCI_COMMAND_MASTER), OTHER_BITS);
		expect_equal(!!seen.restored, !!(seen.reset_at && f->rc != -ENODEV));
		expect_true(!f->owned || (!seen.reset_at && !seen.disowned_at));
	} else {
		expect_equal(seen.command, OTHER_BITS | PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
		expect_equal(seen.table_written, f->msix_table != 0);
		must(drv_query_device(dev, &attr));
		if (f->got)
			expect_equal(attr.comp_vectors, f->got);
		drv_remove(dev);
		expect_equal(seen.command, OTHER_BITS | PCI_COMMAND_MEMORY);
	}
	expect_true(!seen.early);
	a->platform->ops = seen.real;
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
}

SCENARIO(pci_config, "functions whose configuration space, ownership and reset differ from ours",
	 .bare = true, .of_mlx4 = "configuration space",
	 .settings = {"sim.time_limit=0", "hca.msix_vectors=4"})
{
	const uint32_t vendor = HCA_PCI_VENDOR, ours = (uint32_t)HCA_PCI_DEVICE << 16 | vendor;
	const struct function rows[] = {
		{"as ours", .vectors = 1, .got = 1},
		{"its younger relative", .id = (uint32_t)HCA_PCI_DEVICE_PRO << 16 | vendor},
		{"another device of its vendor", -ENODEV, .id = 0x1002u << 16 | vendor},
		{"the device of another vendor", -ENODEV, .id = (ours & ~0xffffu) | 0x15b4},
		{"the halves swapped", -ENODEV, .id = vendor << 16 | HCA_PCI_DEVICE},
		{"no device", -ENODEV, .id = UINT32_MAX},
		{"one that another driver has", -EBUSY, .owned = true},
		{"reserved bits in pointers", .low_bits = true},
		{"a list without an end", -EOPNOTSUPP, .endless = true},
		{"no capabilities", -EOPNOTSUPP, .no_capabilities = true},
		{"a table elsewhere", .msix_table = OTHER_TABLE | OTHER_BAR, .vectors = 2,
		 .got = 2},
		{"as many vectors as it has", .vectors = VECTORS - 1, .got = VECTORS - 1},
		{"more vectors than it has", .vectors = VECTORS, .got = VECTORS - 1},
		{"a semaphore that is taken", .semaphore_ps = CFG_MS(9900)},
		{"one that stays taken", -EAGAIN, .semaphore_ps = CFG_MS(12000)},
		{"a long reset", .silent_ps = CFG_MS(2900)},
		{"as ours, at last", .rc = 0},
		/* it loses its BARs */
		{"a reset without an end", -ENODEV, .silent_ps = CFG_MS(3100)},
	};

	seen.tb = tb;
	seen.real = a->platform->ops;
	seen.table = seen.real->config_read(a->platform, HCA_PCI_CAP_MSIX + MSIX_TABLE, 4);
	for (size_t i = 0; i < ARRAY_SIZE(express); i++)
		seen.express[i] = seen.real->config_read(a->platform, express[i], 2);
	seen.ops = *seen.real;
	seen.ops.config_read = config_read;
	seen.ops.config_write = config_write;
	seen.ops.mmio_read = mmio_read;
	seen.ops.mmio_write = mmio_write;
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		drives(tb, a, &rows[i]);
	}
}
