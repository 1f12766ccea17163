/* SPDX-License-Identifier: Apache-2.0 */
/* The chip made, reset, looked at: see ipath.h. */
#include "model/engine/ipath/ipath.h"

#include "model/engine/host/interrupt.h"
#include "model/engine/host/pcie.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/interface/macros.h"

#include <stdio.h>
#include <stdlib.h>

enum { PORT = 1, WIDTH = 4, SDR_MBPS = 2000 };

void ipath_chip_reset(struct hca *hca)
{
	struct ipath *ipath = hca->ipath;

	/* First the DMAs: nothing of what is forgotten below may be called back. */
	pcie_reset(hca);
	event_cancel(hca->core, &ipath->reset);
	ipath_send_reset(ipath);
	ipath->landing = 0;
	ipath->header_head = ipath->header_tail = 0;
	ipath->eager_head = ipath->eager_tail = 0;
	ipath->interrupt_armed = ipath->armed_since_status = ipath->link_unread = false;
	link_port_reset(hca, PORT);
	ipath_registers_reset(ipath);
	eeprom_lines(&ipath->eeprom, true, true);
	interrupt_clear_intx(hca);
}

static void give_back(struct hca *hca)
{
	ipath_chip_reset(hca);
	packet_pool_trim(hca);
}

/* A reset of the function also clears the vector's entry, and ends a stop. A reset that the driver
 * writes does neither. */
static void soft_reset(struct hca *hca)
{
	ipath_chip_reset(hca);
	if (hca->memory.what)
		packet_pool_trim(hca);
	memory_reset(hca);
	hca->stopped = false;
	interrupt_reset(hca);
}

static void reset_due(struct event *ev)
{
	struct ipath *ipath = container_of(ev, struct ipath, reset);

	HCA_TRACE(ipath->hca, TP_RESET, .text = "chip reset");
	ipath_chip_reset(ipath->hca);
}

/* The chip has no way to tell its driver: it answers no more, and reads give ones. */
static void catastrophe(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			uint32_t detail, const char *text)
{
	ipath_chip_reset(hca);
	if (hca->env.catastrophe)
		hca->env.catastrophe(hca->env.ctx, text);
	if (told)
		told(hca);
}

static int create(struct hca *hca, const char *fw_path, char *err, size_t err_size)
{
	struct ipath *ipath = memory_create(1, sizeof(*ipath), "a chip");

	hca->ipath = ipath;
	ipath->hca = hca;
	ipath->reset.job = reset_due;
	ipath_send_create(ipath);
	eeprom_fill(&ipath->eeprom, hca_node_guid(hca));
	return 0;
}

static void destroy(struct hca *hca)
{
	free(hca->ipath);
}

static bool is_quiet(const struct hca *hca)
{
	return !ipath_send_busy(hca->ipath) && !hca->ipath->landing;
}

static void describe(const struct hca *hca, char *text, size_t size)
{
	const unsigned n = ipath_send_busy(hca->ipath);

	text[0] = 0;
	if (n)
		snprintf(text, size, "%u send buffers", n);
}

static size_t footprint(const struct hca *hca)
{
	return sizeof(*hca->ipath);
}

static const struct pci_identity its_identity = {
	.vendor = IPATH_PCI_VENDOR,
	.device = IPATH_PCI_DEVICE,
	.subsystem_vendor = IPATH_PCI_VENDOR,
	.subsystem = IPATH_PCI_DEVICE,
	.class_code = IPATH_PCI_CLASS,
	.revision = IPATH_PCI_REVISION,
	.bar_bytes = {IPATH_BAR_BYTES},
	.little_endian = true,
	.msix_table = IPATH_MSIX_TABLE,
	.msix_pba = IPATH_MSIX_PBA,
	.vectors_max = 1,
	.max_mt_s = IPATH_PCIE_MT_S,
};

static const struct pci_identity *identity(const struct hca_params *params)
{
	return &its_identity;
}

const struct personality personality_ipath = {
	.name = "ipath",
	.calls = {.give_back = give_back,
		  .bar_write = ipath_bar_write,
		  .bar_read = ipath_bar_read,
		  .packet_came = ipath_receive,
		  .packet_bad = ipath_receive_bad,
		  .port_changed = ipath_port_changed,
		  .catastrophe = catastrophe,
		  .stop = ipath_chip_reset,
		  .soft_reset = soft_reset},
	.pci = identity,
	.max_ports = 1,
	.max_lane_mbps = SDR_MBPS,
	.max_width = WIDTH,
	.create = create,
	.destroy = destroy,
	.is_quiet = is_quiet,
	.describe = describe,
	.footprint = footprint,
};
