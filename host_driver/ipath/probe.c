// SPDX-License-Identifier: Apache-2.0
/* Bring-up of the chip in the order of the Linux driver (qib_init.c, qib_iba6120.c), and its end. */
#include "host_driver/drv/pci_regs.h"
#include "host_driver/ipath/ipath.h"
#include "host_driver/mlx4/barriers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	DESCRIPTION_BYTES = 64,
	WIDE = 8,
	PORT = 1,
	OUI_SHIFT = 40,     /* a GUID begins with its maker's OUI */
	SERDES_ON = 0x1000, /* as qib_6120_bringup_serdes() leaves a bit that it waits for */
	EEPROM_READ = 1,
};

#define US_PS        UINT64_C(1000000)
#define INTERRUPT_PS (500000 * US_PS) /* without one by then the card is not usable */
#define LINE_PS      US_PS            /* half a period of the EEPROM's clock */
#define RESET_PS     (10 * US_PS)

/* --- registers --- */

uint64_t ipath_read(struct ipath_device *d, uint64_t offset)
{
	uint8_t bytes[WIDE];
	uint64_t value = 0;

	d->p->ops->mmio_read(d->p, 0, offset, bytes, sizeof(bytes));
	for (unsigned i = 0; i < WIDE; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

void ipath_write(struct ipath_device *d, uint64_t offset, uint64_t value)
{
	uint8_t bytes[WIDE];

	for (unsigned i = 0; i < WIDE; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	d->p->ops->mmio_write(d->p, 0, offset, bytes, sizeof(bytes));
}

void ipath_flush_writes(struct ipath_device *d)
{
	ipath_read(d, IPATH_Scratch);
}

/* --- PCI --- */

static unsigned cap_find(struct platform *p, unsigned id)
{
	unsigned at;

	if (!(p->ops->config_read(p, PCI_STATUS, 2) & PCI_STATUS_CAPS))
		return 0;
	at = p->ops->config_read(p, PCI_CAP_POINTER, 1) & 0xfc;
	for (unsigned n = 0; at && n < PCI_CAPS_MAX; n++) {
		const uint32_t head = p->ops->config_read(p, at, 2);

		if ((head & 0xff) == id)
			return at;
		at = head >> 8 & 0xfc;
	}
	return 0;
}

/* The table has one vector; its words are little-endian. */
static void msix_word(struct ipath_device *d, unsigned word, uint32_t value)
{
	const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				  (uint8_t)(value >> 24)};

	d->p->ops->mmio_write(d->p, 0, IPATH_MSIX_TABLE + 4 * word, bytes, sizeof(bytes));
}

static int msix_enable(struct ipath_device *d)
{
	struct platform *p = d->p;
	uint64_t address;
	uint32_t data;

	d->msix_cap = cap_find(p, PCI_CAP_ID_MSIX);
	if (!d->msix_cap)
		return -EOPNOTSUPP;
	p->ops->config_write(p, d->msix_cap + MSIX_CONTROL, 2,
			     p->ops->config_read(p, d->msix_cap + MSIX_CONTROL, 2) | MSIX_ENABLE);
	p->ops->msi_message(p, 0, &address, &data);
	msix_word(d, 0, (uint32_t)address);
	msix_word(d, 1, (uint32_t)(address >> 32));
	msix_word(d, 2, data);
	msix_word(d, 3, 0);
	return 0;
}

/* --- the EEPROM on two pins: a line is let go, or held low --- */

static unsigned lines(struct ipath_device *d, bool scl, bool sda)
{
	ipath_write(d, IPATH_EXTCtrl,
		    (uint64_t)((scl ? 0 : IPATH_SCL) | (sda ? 0 : IPATH_SDA)) << IPATH_GPIO_SHIFT);
	ipath_write(d, IPATH_GPIOOut, 0);
	d->p->ops->sleep_ps(d->p, LINE_PS);
	return (unsigned)(ipath_read(d, IPATH_EXTStatus) >> IPATH_GPIO_SHIFT);
}

static bool byte_give(struct ipath_device *d, uint8_t byte)
{
	bool acknowledged;

	for (int bit = 7; bit >= 0; bit--) {
		lines(d, false, byte >> bit & 1);
		lines(d, true, byte >> bit & 1);
		lines(d, false, byte >> bit & 1);
	}
	lines(d, false, true);
	acknowledged = !(lines(d, true, true) & IPATH_SDA);
	lines(d, false, true);
	return acknowledged;
}

static uint8_t byte_take(struct ipath_device *d, bool last)
{
	uint8_t byte = 0;

	for (unsigned bit = 0; bit < 8; bit++) {
		byte = (uint8_t)(byte << 1 | !!(lines(d, true, true) & IPATH_SDA));
		lines(d, false, true);
	}
	lines(d, false, last); /* no acknowledgement: the part stops */
	lines(d, true, last);
	lines(d, false, last);
	lines(d, false, true);
	return byte;
}

/* The GUID; the part takes the address in place of a device code. */
static int guid_read(struct ipath_device *d)
{
	lines(d, true, true);
	lines(d, true, false);
	lines(d, false, false);
	if (!byte_give(d, IPATH_EEPROM_GUID << 1 | EEPROM_READ))
		return -EIO;
	d->guid = 0;
	for (unsigned i = 0; i < sizeof(d->guid); i++)
		d->guid = d->guid << 8 | byte_take(d, i == sizeof(d->guid) - 1);
	lines(d, false, false);
	lines(d, true, false);
	lines(d, true, true);
	return 0;
}

/* --- the interrupt --- */

static void interrupt(void *arg)
{
	struct ipath_device *d = arg;
	uint64_t causes;

	d->irq = true;
	causes = ipath_read(d, IPATH_IntStatus);
	if (causes & IPATH_INT_ERROR) {
		const uint64_t errors = ipath_read(d, IPATH_ErrStatus);

		ipath_write(d, IPATH_ErrClear, errors);
		if (errors & IPATH_ERR_LINK_STATE)
			ipath_link_changed(d);
	}
	ipath_write(d, IPATH_IntClear, causes);
	if (causes & IPATH_INT_RECEIVED(0))
		ipath_receive_all(d);
}

static int interrupt_start(struct ipath_device *d)
{
	struct platform *p = d->p;
	const uint64_t limit = p->ops->now_ps(p) + INTERRUPT_PS;
	int rc = p->ops->irq_request(p, 0, interrupt, d);

	if (rc)
		return rc;
	ipath_write(d, IPATH_IntMask, ~UINT64_C(0));
	ipath_write(d, IPATH_IntClear, 0);
	while (!d->irq && p->ops->now_ps(p) < limit)
		p->ops->sleep_ps(p, US_PS);
	return d->irq ? 0 : -EIO;
}

/* --- registration --- */

static struct drv_leftovers ipath_remove(struct drv_device *dev);

static struct drv_leftovers ipath_abandon(struct drv_device *dev)
{
	return ipath_remove(dev);
}

static const struct drv_ops own = {.remove = ipath_remove, .abandon = ipath_abandon};

static const struct rvt_hooks hooks = {
	.query_port_state = ipath_query_port_state,
	.set_link_state = ipath_set_link_state,
	.get_lid = ipath_get_lid,
	.qp_mtu = ipath_qp_mtu,
	.flush_qp = ipath_flush_qp,
	.do_send = ipath_do_send,
	.process_mad = ipath_process_mad,
	.node_desc_changed = ipath_node_desc_changed,
};

static struct rvt_limits limits_of(const struct ipath_device *d, const struct drv_options *options)
{
	struct rvt_limits l = {
		.attr = {.node_guid = d->guid,
			 .sys_image_guid = d->guid,
			 .vendor_id = (uint32_t)(d->guid >> OUI_SHIFT),
			 .device_id = IPATH_PCI_DEVICE,
			 .revision = IPATH_PCI_REVISION,
			 .ports = PORT,
			 .max_qp = 16384,
			 .max_qp_wr = 16384,
			 .max_send_sge = 32,
			 .max_recv_sge = 32,
			 .max_cq = 65535,
			 .max_cqe = 1 << 22,
			 .max_mr = 65535,
			 .max_pd = 65535,
			 .max_srq = 1024,
			 .max_srq_wr = 16384,
			 .max_rd_atomic = 16,
			 .max_dest_rd_atomic = 16,
			 .max_sge_rd = 32,
			 .comp_vectors = 1,
			 .local_ack_delay = 15,
			 .max_message = UINT64_C(1) << 31},
		.max_mtu = IBV_MTU_4096,
		.packet_ps = options ? options->packet_cost_ps : 0,
		.post_ps = options ? options->post_cost_ps : 0,
	};

	l.attr.gids[PORT] = IPATH_GIDS;
	l.attr.pkeys[PORT] = IPATH_PKEYS_HERE;
	snprintf(l.attr.fw_version, sizeof(l.attr.fw_version), "4.1.0");
	return l;
}

/* --- life --- */

static void chip_quiet(struct ipath_device *d)
{
	ipath_write(d, IPATH_IntMask, 0);
	ipath_write(d, IPATH_RcvCtrl, 0);
	ipath_write(d, IPATH_SendCtrl, 0);
	ipath_write(d, IPATH_Control, IPATH_CONTROL_RESET);
	d->p->ops->sleep_ps(d->p, RESET_PS);
}

static int chip_up(struct ipath_device *d)
{
	int rc;

	if (ipath_read(d, IPATH_Revision) != IPATH_REVISION)
		return -ENODEV;
	if (!(ipath_read(d, IPATH_EXTStatus) & IPATH_EXT_MEMORY_TESTED))
		return -EIO;
	rc = guid_read(d);
	if (rc)
		return rc;
	ipath_write(d, IPATH_HwDiagCtrl, 0);
	ipath_write(d, IPATH_HwErrClear, ~UINT64_C(0));
	ipath_write(d, IPATH_HwErrMask, ~UINT64_C(0));
	ipath_write(d, IPATH_ErrClear, ~UINT64_C(0));
	ipath_write(d, IPATH_ErrMask, ~UINT64_C(0));
	ipath_write(d, IPATH_IntClear, ~UINT64_C(0));
	ipath_write(d, IPATH_Control, 0);
	ipath_link_command(d, 0, IPATH_INIT_DISABLE);
	ipath_write(d, IPATH_SerdesCfg0, ipath_read(d, IPATH_SerdesCfg0) | SERDES_ON);
	ipath_write(d, IPATH_Control, IPATH_CONTROL_LINK);
	rc = ipath_send_init(d);
	if (!rc)
		rc = ipath_receive_init(d);
	return rc;
}

static void device_free(struct ipath_device *d)
{
	ipath_receive_cleanup(d);
	ipath_send_cleanup(d);
	free(d->agents);
	free(d);
}

/* The chip neither writes to memory nor interrupts any more; the host's memory is still there. */
static void chip_down(struct ipath_device *d)
{
	struct platform *p = d->p;

	chip_quiet(d);
	if (d->msix_cap)
		p->ops->config_write(p, d->msix_cap + MSIX_CONTROL, 2,
				     p->ops->config_read(p, d->msix_cap + MSIX_CONTROL, 2) &
					     ~(uint32_t)MSIX_ENABLE);
	p->ops->config_write(p, PCI_COMMAND, 2,
			     p->ops->config_read(p, PCI_COMMAND, 2) &
				     ~(uint32_t)PCI_COMMAND_MASTER);
}

static void device_stop(struct ipath_device *d)
{
	ipath_send_stop(d);
	chip_down(d);
}

static int device_register(struct ipath_device *d, const struct drv_options *options)
{
	const struct rvt_limits limits = limits_of(d, options);
	char err[128];

	d->agents = ipath_agents_create(d->guid);
	if (!d->agents)
		return -ENOMEM;
	return rvt_register(d->p, &own, &hooks, &limits, d, &d->rvt, err, sizeof(err));
}

/* The node's name, as qib_register_ib_device() of Linux gives it after the host's. */
static int name_give(struct ipath_device *d)
{
	char text[DESCRIPTION_BYTES] = {0};

	snprintf(text, sizeof(text), "QLogic 6120 of host%u", d->p->host);
	return rvt_describe(d->rvt, text);
}

int ipath_probe(struct platform *p, const struct drv_options *options, struct drv_device **out)
{
	struct ipath_device *d = drv_calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	d->p = p;
	d->state = IBV_PORT_DOWN;
	p->ops->config_write(p, PCI_COMMAND, 2,
			     p->ops->config_read(p, PCI_COMMAND, 2) |
				     (uint32_t)(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER));
	rc = msix_enable(d);
	if (!rc)
		rc = chip_up(d);
	if (!rc)
		rc = device_register(d, options);
	if (rc)
		goto free_device;
	ipath_send_start(d);
	rc = interrupt_start(d);
	if (!rc)
		rc = rvt_start(d->rvt);
	if (!rc)
		rc = name_give(d);
	if (!rc && !(options && options->no_ports))
		rc = drv_port_up(d->rvt, PORT);
	if (rc) {
		ipath_remove(d->rvt);
		return rc;
	}
	*out = d->rvt;
	return 0;

free_device:
	chip_down(d);
	device_free(d);
	return rc;
}

static struct drv_leftovers ipath_remove(struct drv_device *dev)
{
	struct ipath_device *d = ipath_of(dev);
	struct drv_leftovers left;

	drv_agent_stop(dev, PORT);
	/* no upcall comes any more when the transport goes */
	ipath_write(d, IPATH_IntMask, 0);
	d->p->ops->irq_free(d->p, 0);
	left = rvt_unregister(dev);
	d->rvt = NULL;
	device_stop(d);
	device_free(d);
	return left;
}
