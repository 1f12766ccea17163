// SPDX-License-Identifier: Apache-2.0
/* The requests that a client may make, one function for each command: see connection.h and the rows
 * of protocol.h. */
#include "model/interface/macros.h"
#include "model/vfio_user/connection.h"
#include "model/vfio_user/device.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define M(name, code, fixed, more, fds, meaning)                                                   \
	static int vfu_on_##name(struct vfu_connection *c, struct vfu_message *m,                  \
				 struct vfu_reply *r);
VFU_COMMANDS(M)
#undef M

static const struct command {
	const char *name;
	uint32_t fixed;
	bool more;
	unsigned fds;
	int (*run)(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r);
} commands[] = {
#define M(name, code, fixed, more, fds, meaning) [code] = {#name, fixed, more, fds, vfu_on_##name},
	VFU_COMMANDS(M)
#undef M
};

static const struct command *command_find(unsigned command)
{
	if (command >= ARRAY_SIZE(commands) || !commands[command].run)
		return NULL;
	return &commands[command];
}

const char *vfu_command_name(unsigned command)
{
	const struct command *row = command_find(command);

	return row ? row->name : NULL;
}

int vfu_request(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *reply)
{
	const struct command *row = command_find(m->command);

	reply->len = 0;
	if (!row)
		return -EOPNOTSUPP;
	if (m->len < row->fixed || (m->len > row->fixed && !row->more) || m->n_fds > row->fds)
		return -EINVAL;
	return row->run(c, m, reply);
}

/* --- version --- */

static int vfu_on_VERSION(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	int n;

	if (vfu_get16(m->payload + VFU_V_MAJOR) != VFU_MAJOR)
		return -EOPNOTSUPP;
	if (m->len > VFU_V_DATA && m->payload[m->len - 1])
		return -EINVAL;
	vfu_put16(r->payload + VFU_V_MAJOR, VFU_MAJOR);
	vfu_put16(r->payload + VFU_V_MINOR, VFU_MINOR);
	n = snprintf((char *)r->payload + VFU_V_DATA, sizeof(r->payload) - VFU_V_DATA,
		     "{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u,"
		     "\"max_dma_maps\":%u,\"pgsizes\":%u,\"write_multiple\":true}}",
		     VFU_MAX_FDS, VFU_MAX_XFER, GUEST_MAX_MAPS, VFU_PAGE);
	r->len = VFU_V_DATA + (uint32_t)n + 1;
	c->greeted = true;
	return 0;
}

/* --- memory --- */

static int vfu_on_DMA_MAP(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	const uint32_t flags = vfu_get32(m->payload + VFU_D_FLAGS);
	const struct guest_map map = {
		.start = vfu_get64(m->payload + VFU_D_MAP_ADDRESS),
		.size = vfu_get64(m->payload + VFU_D_MAP_SIZE),
		.offset = vfu_get64(m->payload + VFU_D_MAP_OFFSET),
		.fd = m->n_fds ? m->fds[0] : -1,
		.readable = flags & VFU_D_READ,
		.writable = flags & VFU_D_WRITE,
	};
	int rc;

	if (!(flags & VFU_D_READ) || flags & ~(uint32_t)(VFU_D_READ | VFU_D_WRITE))
		return -EINVAL;
	rc = vfu_device_map(c->device, &map);
	/* The mapping keeps the file open, so this close is quick. */
	if (!rc && m->n_fds) {
		close(m->fds[0]);
		m->fds[0] = -1;
	}
	return rc;
}

static int vfu_on_DMA_UNMAP(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	const uint32_t flags = vfu_get32(m->payload + VFU_D_FLAGS);
	const uint64_t start = vfu_get64(m->payload + VFU_D_UNMAP_ADDRESS);
	const uint64_t size = vfu_get64(m->payload + VFU_D_UNMAP_SIZE);
	int rc;

	if (flags & ~(uint32_t)VFU_D_UNMAP_ALL)
		return -EINVAL;
	if (flags && (start || size))
		return -EINVAL;
	rc = vfu_device_unmap(c->device, start, flags ? UINT64_MAX : size);
	memcpy(r->payload, m->payload, m->len);
	r->len = m->len;
	return rc;
}

/* --- what the device is --- */

static int vfu_on_DEVICE_GET_INFO(struct vfu_connection *c, struct vfu_message *m,
				  struct vfu_reply *r)
{
	if (vfu_get32(m->payload + VFU_I_ARGSZ) < VFU_INFO_SIZE)
		return -EINVAL;
	vfu_put32(r->payload + VFU_I_ARGSZ, VFU_INFO_SIZE);
	vfu_put32(r->payload + VFU_I_FLAGS, VFU_INFO_RESET | VFU_INFO_PCI);
	vfu_put32(r->payload + VFU_I_REGIONS, VFU_REGIONS);
	vfu_put32(r->payload + VFU_I_IRQS, VFU_IRQS);
	r->len = VFU_INFO_SIZE;
	return 0;
}

static int vfu_on_DEVICE_GET_REGION_INFO(struct vfu_connection *c, struct vfu_message *m,
					 struct vfu_reply *r)
{
	const uint32_t index = vfu_get32(m->payload + VFU_R_INDEX);
	const uint64_t size = vfu_region_size(c->device, index);

	if (vfu_get32(m->payload) < VFU_REGION_INFO_SIZE || index >= VFU_REGIONS)
		return -EINVAL;
	memset(r->payload, 0, VFU_REGION_INFO_SIZE);
	vfu_put32(r->payload, VFU_REGION_INFO_SIZE);
	vfu_put32(r->payload + VFU_R_FLAGS, size ? VFU_R_READ | VFU_R_WRITE : 0);
	vfu_put32(r->payload + VFU_R_INDEX, index);
	vfu_put64(r->payload + VFU_R_SIZE, size);
	r->len = VFU_REGION_INFO_SIZE;
	return 0;
}

static int vfu_on_DEVICE_GET_IRQ_INFO(struct vfu_connection *c, struct vfu_message *m,
				      struct vfu_reply *r)
{
	const uint32_t index = vfu_get32(m->payload + VFU_Q_INDEX);

	if (vfu_get32(m->payload) < VFU_IRQ_INFO_SIZE || index >= VFU_IRQS)
		return -EINVAL;
	vfu_put32(r->payload, VFU_IRQ_INFO_SIZE);
	vfu_put32(r->payload + VFU_Q_FLAGS, irqs_flags(index));
	vfu_put32(r->payload + VFU_Q_INDEX, index);
	vfu_put32(r->payload + VFU_Q_COUNT, irqs_count(&c->device->irqs, index));
	r->len = VFU_IRQ_INFO_SIZE;
	return 0;
}

static int vfu_on_DEVICE_SET_IRQS(struct vfu_connection *c, struct vfu_message *m,
				  struct vfu_reply *r)
{
	return irqs_set(&c->device->irqs, m->payload, m->len, m->fds, m->n_fds);
}

static int vfu_on_DEVICE_RESET(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	vfu_device_reset(c->device);
	return 0;
}

/* --- accesses --- */

static int vfu_on_REGION_READ(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	const uint32_t count = vfu_get32(m->payload + VFU_A_COUNT);
	int rc;

	if (count > VFU_MAX_XFER)
		return -EINVAL;
	rc = vfu_device_read(c->device, vfu_get32(m->payload + VFU_A_REGION),
			     vfu_get64(m->payload + VFU_A_OFFSET), r->payload + VFU_A_DATA, count);
	if (rc)
		return rc;
	memcpy(r->payload, m->payload, VFU_A_DATA);
	r->len = VFU_A_DATA + count;
	return 0;
}

static int vfu_on_REGION_WRITE(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *r)
{
	const uint32_t count = vfu_get32(m->payload + VFU_A_COUNT);
	int rc;

	if (count > VFU_MAX_XFER || m->len - VFU_A_DATA != count)
		return -EINVAL;
	rc = vfu_device_write(c->device, vfu_get32(m->payload + VFU_A_REGION),
			      vfu_get64(m->payload + VFU_A_OFFSET), m->payload + VFU_A_DATA, count);
	if (rc)
		return rc;
	memcpy(r->payload, m->payload, VFU_A_DATA);
	r->len = VFU_A_DATA;
	return 0;
}

static int vfu_on_REGION_WRITE_MULTI(struct vfu_connection *c, struct vfu_message *m,
				     struct vfu_reply *r)
{
	const uint64_t n = vfu_get64(m->payload);
	const uint32_t stride = VFU_A_DATA + VFU_MULTI_DATA;
	const uint8_t *w = m->payload + sizeof(uint64_t);

	if (n > VFU_MAX_MULTI || m->len - sizeof(uint64_t) != n * stride)
		return -EINVAL;
	for (uint64_t i = 0; i < n; i++, w += stride) {
		const uint32_t count = vfu_get32(w + VFU_A_COUNT);

		if (count > VFU_MULTI_DATA ||
		    vfu_device_write(c->device, vfu_get32(w + VFU_A_REGION),
				     vfu_get64(w + VFU_A_OFFSET), w + VFU_A_DATA, count))
			return -EINVAL;
	}
	vfu_put64(r->payload, n);
	r->len = sizeof(uint64_t);
	return 0;
}
