// SPDX-License-Identifier: Apache-2.0
/* Each answer of bring-up is changed on its way to the driver: a device that says other things of itself than ours
 * does. Between answers_begin() and answers_end(), come_up() brings such a device up, and go() takes it down. */
#ifndef TESTBENCH_SCENARIOS_DEVICE_OTHER_DEVICE_H
#define TESTBENCH_SCENARIOS_DEVICE_OTHER_DEVICE_H

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "testbench/harm.h"

enum { BOXES_MAX = 64, LANES_MAX = 8 };

/* A device: what its answers say instead. */
struct device {
	const char *name;
	void (*firmware)(struct query_fw *q);
	void (*caps)(struct dev_cap *d);
	void (*port)(struct query_port *q, unsigned port);
	void (*node)(struct node_info *n);
	void (*info)(struct port_info *pi, unsigned port);
};

static struct {
	const struct device *device;
	const struct hca_monitor *real;
	struct hca_monitor monitor;
	const struct platform_ops *real_ops;
	struct platform_ops ops;
	struct {
		void *bytes;
		uint64_t bus;
	} boxes[BOXES_MAX];
	unsigned n_boxes;
	unsigned lanes[LANES_MAX], n_lanes; /* of the SET_PORTs of port 1 */
} other;

static inline void *pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	void *addr = other.real_ops->pages_alloc(p, bytes, bus);

	if (addr && bytes == HCR_MBOX_SIZE && other.n_boxes < BOXES_MAX) {
		other.boxes[other.n_boxes].bytes = addr;
		other.boxes[other.n_boxes++].bus = *bus;
	}
	return addr;
}

static inline void answer_change(const struct hcr *command, void *box)
{
	const struct device *d = other.device;
	struct smp *smp = box;

	switch (hcr_get_opcode(command)) {
	case HCR_QUERY_FW:
		if (d->firmware)
			d->firmware(box);
		break;
	case HCR_QUERY_DEV_CAP:
		if (d->caps)
			d->caps(box);
		break;
	case HCR_QUERY_PORT:
		if (d->port)
			d->port(box, hcr_get_in_mod(command));
		break;
	case HCR_MAD_IFC:
		if (d->node && mad_hdr_get_attr_id(smp_hdr_const(smp)) == SMP_ATTR_NODE_INFO)
			d->node((struct node_info *)(void *)smp_data_ptr(smp));
		if (d->info && mad_hdr_get_attr_id(smp_hdr_const(smp)) == SMP_ATTR_PORT_INFO)
			d->info((struct port_info *)(void *)smp_data_ptr(smp),
				mad_hdr_get_attr_mod(smp_hdr_const(smp))
					? mad_hdr_get_attr_mod(smp_hdr_const(smp))
					: hcr_get_in_mod(command));
		break;
	default:
		break;
	}
}

static inline void lanes_see(const struct hcr *command)
{
	for (unsigned i = 0; i < other.n_boxes; i++)
		if (other.boxes[i].bus == hcr_get_in_param(command) && other.n_lanes < LANES_MAX)
			other.lanes[other.n_lanes++] =
				set_port_get_vl_cap((const struct set_port *)other.boxes[i].bytes);
}

static inline void command(void *ctx, const struct hcr *command,
			   const struct hca_command_answer *answer)
{
	if (!answer && hcr_get_opcode(command) == HCR_SET_PORT && hcr_get_in_mod(command) == 1)
		lanes_see(command);
	for (unsigned i = 0; answer && !answer->status && i < other.n_boxes; i++)
		if (other.boxes[i].bus == hcr_get_out_param(command))
			answer_change(command, other.boxes[i].bytes);
	if (other.real)
		other.real->command(ctx, command, answer);
}

static inline void no_dma(void *ctx, const struct hca_dma_seen *dma)
{
}

static inline void no_wqe(void *ctx, const struct hca_wqe_seen *wqe)
{
}

static inline void no_object(void *ctx, enum hca_object type, uint32_t number, bool valid,
			     const struct mpt_entry *mpt)
{
}

static inline void no_map(void *ctx, uint64_t va, uint64_t bus, uint64_t len)
{
}

static inline void no_unmap(void *ctx, uint64_t va, uint64_t len)
{
}

static inline void no_sync(void *ctx)
{
}

static inline void no_forgotten(void *ctx, bool reset)
{
}

static inline void answers_begin(struct tb_end *a)
{
	struct hca *hca = host_hca(a->host);
	static const struct hca_monitor nobody = {.dma = no_dma,
						  .wqe = no_wqe,
						  .object = no_object,
						  .icm_map = no_map,
						  .icm_unmap = no_unmap,
						  .sync = no_sync,
						  .forgotten = no_forgotten};

	other.real = hca->monitor;
	other.monitor = other.real ? *other.real : nobody;
	other.monitor.command = command;
	hca_monitor_set(hca, &other.monitor);
	other.real_ops = a->platform->ops;
	other.ops = *other.real_ops;
	other.ops.pages_alloc = pages_alloc;
	a->platform->ops = &other.ops;
}

static inline void answers_end(struct tb_end *a)
{
	hca_monitor_set(host_hca(a->host), other.real);
	a->platform->ops = other.real_ops;
}

static inline int come_up(struct tb_end *a, const struct device *d,
			  const struct drv_options *options, struct drv_device **dev)
{
	other.n_boxes = 0;
	other.device = d;
	return drv_probe(a->platform, options, dev);
}

/* Everything that a user of the driver had is back, and so is what the driver had. */
static inline void go(struct tb *tb, struct tb_end *a, struct drv_device *dev)
{
	const struct drv_leftovers none = {0};
	struct drv_leftovers left = drv_remove(dev);

	expect_true(!memcmp(&left, &none, sizeof(left)));
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
}

#endif
