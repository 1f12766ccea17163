// SPDX-License-Identifier: Apache-2.0
/* See device.h. */
#include "model/vfio_user/device.h"

#include "model/vfio_user/protocol.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many descriptors may wait to be closed. A message has at most 16. */
enum { BACKLOG_MAX = 64 };
enum { CONFIG_SIZE = 4096, LOG_TEXT = 256, PIECE_MAX = 8, CONFIG_PIECE_MAX = 4 };

void vfu_device_log(const struct vfu_device *device, const char *format, ...)
{
	char text[LOG_TEXT];
	va_list args;

	if (!device->watcher.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	device->watcher.log(device->watcher.arg, device, text);
}

/* --- what the HCA asks for --- */

static void limit_tell(struct vfu_device *device, uint8_t *told, enum guest_limit limit,
		       const char *what, uint64_t bus)
{
	char name[LOG_TEXT / 2], text[LOG_TEXT];

	if (*told >> limit & 1)
		return;
	*told |= (uint8_t)(1u << limit);
	guest_limit_text(limit, name, sizeof(name));
	snprintf(text, sizeof(text), "%s: %s at %llx", name, what, (unsigned long long)bus);
	if (device->watcher.limit)
		device->watcher.limit(device->watcher.arg, device, text);
}

int vfu_device_map(struct vfu_device *device, const struct guest_map *map)
{
	enum guest_limit limit;
	int rc = guest_memory_map(&device->memory, map, &limit);

	if (limit)
		limit_tell(device, &device->told_map_limits, limit, "guest memory is not mapped",
			   map->start);
	if (!rc && device->watcher.dma_map)
		device->watcher.dma_map(device->watcher.arg, device, map);
	return rc;
}

int vfu_device_unmap(struct vfu_device *device, uint64_t start, uint64_t size)
{
	if (device->watcher.dma_unmap)
		device->watcher.dma_unmap(device->watcher.arg, device, start, size);
	if (size != UINT64_MAX)
		return guest_memory_unmap(&device->memory, start, size);
	guest_memory_unmap_all(&device->memory);
	return 0;
}

/* Returns the error of a failed DMA: -ENOMEM when a limit of this server is the cause, so that the
 * driver is not blamed. */
static int dma_failed(struct vfu_device *device, uint64_t bus)
{
	enum guest_limit limit;
	enum guest_lack lack = guest_memory_lack(&device->memory, bus, &limit);

	if (lack == GUEST_LACK_LIMIT) {
		limit_tell(device, &device->told_dma_limits, limit,
			   "DMA fails, which is not the driver's fault,", bus);
		return -ENOMEM;
	}
	if (lack == GUEST_LACK_FILE && !device->told_unreachable) {
		device->told_unreachable = true;
		vfu_device_log(
			device,
			"cannot reach guest memory at %llx: it came without a file descriptor; "
			"give the guest shared memory (memory-backend-memfd, share=on)",
			(unsigned long long)bus);
	}
	return -EFAULT;
}

static int dma_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	struct vfu_device *device = ctx;

	return guest_memory_read(&device->memory, bus, buf, len) ? dma_failed(device, bus) : 0;
}

static int dma_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	struct vfu_device *device = ctx;

	return guest_memory_write(&device->memory, bus, buf, len) ? dma_failed(device, bus) : 0;
}

static void irq_raise(void *ctx, unsigned vector, uint64_t address, uint32_t data)
{
	struct vfu_device *device = ctx;

	late_msix(&device->late, vector);
}

static void intx(void *ctx, bool asserted)
{
	struct vfu_device *device = ctx;

	irqs_intx(&device->irqs, asserted);
}

static void note_guest_error(void *ctx, const struct guest_error *error)
{
	struct vfu_device *device = ctx;

	if (device->watcher.guest_error)
		device->watcher.guest_error(device->watcher.arg, device, error);
}

static void note_catastrophe(void *ctx, const char *text)
{
	struct vfu_device *device = ctx;

	if (device->watcher.catastrophe)
		device->watcher.catastrophe(device->watcher.arg, device, text);
}

int vfu_device_create(struct vfu_device *device, unsigned index, const struct hca_params *params,
		      const struct host_params *host, struct event_core *core, struct trace *trace,
		      const char *fw_path, const struct vfu_watcher *watcher, char *err,
		      size_t err_size)
{
	const struct hca_env env = {
		.ctx = device,
		.dma_read = dma_read,
		.dma_write = dma_write,
		.irq_raise = irq_raise,
		.intx = intx,
		.guest_error = note_guest_error,
		.catastrophe = note_catastrophe,
	};

	memset(device, 0, sizeof(*device));
	device->index = index;
	device->core = core;
	irqs_init(&device->irqs, NULL);
	late_init(&device->late, core, &device->irqs);
	device->hca = hca_create(index, params, host, core, &env, trace, fw_path, err, err_size);
	if (!device->hca) {
		irqs_free(&device->irqs);
		return -EINVAL;
	}
	device->releaser = device->memory.files.releaser = releaser_create();
	device->irqs.hca = device->hca;
	device->watcher = *watcher;
	return 0;
}

void vfu_device_destroy(struct vfu_device *device)
{
	memset(&device->watcher, 0, sizeof(device->watcher));
	hca_destroy(device->hca);
	device->hca = NULL;
	late_clear(&device->late);
	irqs_free(&device->irqs);
	guest_memory_unmap_all(&device->memory);
	releaser_destroy(device->releaser);
}

bool vfu_device_is_blocked(const struct vfu_device *device)
{
	return device->irqs.blocked;
}

bool vfu_device_is_clogged(const struct vfu_device *device)
{
	return releaser_backlog(device->releaser) > BACKLOG_MAX;
}

void vfu_device_reset(struct vfu_device *device)
{
	hca_pci_reset(device->hca);
	late_clear(&device->late);
	irqs_device_reset(&device->irqs);
}

void vfu_device_abandon(struct vfu_device *device)
{
	/* First the device, because its outstanding work would miss the memory. */
	hca_pci_reset(device->hca);
	late_clear(&device->late);
	irqs_clear(&device->irqs);
	guest_memory_unmap_all(&device->memory);
	device->accessed = 0;
	device->told_unreachable = false;
	device->told_map_limits = device->told_dma_limits = 0;
}

/* --- regions --- */

uint64_t vfu_region_size(const struct vfu_device *device, unsigned region)
{
	return region == VFU_REGION_CONFIG ? CONFIG_SIZE : hca_bar_bytes(device->hca, region);
}

static bool inside(const struct vfu_device *device, unsigned region, uint64_t offset,
		   uint32_t count)
{
	uint64_t size = vfu_region_size(device, region);

	return count && offset < size && count <= size - offset;
}

/* The largest power of two that divides offset, is not more than what is left, and is not more than
 * max. */
static unsigned piece(uint64_t offset, uint32_t left, unsigned max)
{
	unsigned size = max;

	while (size > left || offset % size)
		size /= 2;
	return size;
}

static void note_access(struct vfu_device *device, unsigned region, uint64_t offset,
			const uint8_t *bytes, uint32_t count, bool write)
{
	struct vfu_access *a = &device->accesses[device->accessed++ % VFU_ACCESSES];
	const bool little = region == VFU_REGION_CONFIG || hca_bars_little_endian(device->hca);
	uint64_t value = 0;

	for (uint32_t i = 0; i < count && i < sizeof(value); i++)
		value = little ? value | (uint64_t)bytes[i] << (8 * i) : value << 8 | bytes[i];
	*a = (struct vfu_access){.time_ps = device->core->now_ps,
				 .offset = offset,
				 .pc = device->pc,
				 .value = value,
				 .size = count,
				 .region = (uint8_t)region,
				 .write = write};
	if (device->watcher.access)
		device->watcher.access(device->watcher.arg, device, a);
}

static void config_read(struct vfu_device *device, uint64_t offset, uint8_t *bytes, uint32_t count)
{
	while (count) {
		unsigned size = piece(offset, count, CONFIG_PIECE_MAX);
		uint32_t value = hca_config_read(device->hca, (unsigned)offset, size);

		for (unsigned i = 0; i < size; i++)
			bytes[i] = (uint8_t)(value >> (8 * i));
		offset += size;
		bytes += size;
		count -= size;
	}
}

static bool is_master(const struct vfu_device *device)
{
	return hca_config_peek(device->hca, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

/* Who takes the whole function away, as QEMU does before it resets a guest, is no driver. */
static void mastering_tell(struct vfu_device *device, bool before)
{
	const uint32_t command = hca_config_peek(device->hca, PCI_COMMAND);
	const bool is = command & PCI_COMMAND_MASTER;

	if (device->watcher.mastering && is != before && command & PCI_COMMAND_MEMORY)
		device->watcher.mastering(device->watcher.arg, device, is);
}

static void config_write(struct vfu_device *device, uint64_t offset, const uint8_t *bytes,
			 uint32_t count)
{
	const bool before = is_master(device);

	while (count) {
		unsigned size = piece(offset, count, CONFIG_PIECE_MAX);
		uint32_t value = 0;

		for (unsigned i = 0; i < size; i++)
			value |= (uint32_t)bytes[i] << (8 * i);
		hca_config_write(device->hca, (unsigned)offset, size, value);
		offset += size;
		bytes += size;
		count -= size;
	}
	mastering_tell(device, before);
}

static void bar_read(struct vfu_device *device, unsigned bar, uint64_t offset, uint8_t *bytes,
		     uint32_t count)
{
	while (count) {
		unsigned size = piece(offset, count, PIECE_MAX);

		hca_mmio_read_now(device->hca, bar, offset, bytes, size);
		offset += size;
		bytes += size;
		count -= size;
	}
	/* What the device wrote before its answer must be in memory before the guest sees the
	 * answer. */
	event_core_run_until(device->core, hca_writes_landed_ps(device->hca));
}

int vfu_device_read(struct vfu_device *device, unsigned region, uint64_t offset, void *bytes,
		    uint32_t count)
{
	if (!inside(device, region, offset, count))
		return -EINVAL;
	if (region == VFU_REGION_CONFIG)
		config_read(device, offset, bytes, count);
	else
		bar_read(device, region, offset, bytes, count);
	note_access(device, region, offset, bytes, count, false);
	return 0;
}

int vfu_device_write(struct vfu_device *device, unsigned region, uint64_t offset, const void *bytes,
		     uint32_t count)
{
	const uint8_t *b = bytes;

	if (!inside(device, region, offset, count))
		return -EINVAL;
	note_access(device, region, offset, bytes, count, true);
	if (region == VFU_REGION_CONFIG) {
		config_write(device, offset, b, count);
		return 0;
	}
	while (count) {
		unsigned size = piece(offset, count, PIECE_MAX);

		hca_mmio_write_now(device->hca, region, offset, b, size);
		offset += size;
		b += size;
		count -= size;
	}
	return 0;
}

/* --- the same in simulated time --- */

/* On a BAR, and one transaction on PCIe. */
static bool is_transaction(unsigned region, uint64_t offset, uint32_t count)
{
	return region != VFU_REGION_CONFIG && count <= PIECE_MAX &&
	       piece(offset, count, PIECE_MAX) == count;
}

static void read_back(void *arg, const void *bytes, unsigned size)
{
	struct vfu_device *device = arg;
	const struct vfu_reading *r = &device->reading;

	memcpy(r->bytes, bytes, size);
	note_access(device, r->region, r->offset, bytes, size, false);
	r->done(r->arg);
}

int vfu_device_read_timed(struct vfu_device *device, unsigned region, uint64_t offset, void *bytes,
			  uint32_t count, void (*done)(void *arg), void *arg)
{
	int rc;

	if (inside(device, region, offset, count) && is_transaction(region, offset, count)) {
		device->reading = (struct vfu_reading){.bytes = bytes,
						       .offset = offset,
						       .count = count,
						       .region = (uint8_t)region,
						       .done = done,
						       .arg = arg};
		hca_mmio_read(device->hca, region, offset, count, read_back, device);
		return 0;
	}
	rc = vfu_device_read(device, region, offset, bytes, count);
	if (!rc)
		done(arg);
	return rc;
}

int vfu_device_write_timed(struct vfu_device *device, unsigned region, uint64_t offset,
			   const void *bytes, uint32_t count)
{
	if (!inside(device, region, offset, count) || !is_transaction(region, offset, count))
		return vfu_device_write(device, region, offset, bytes, count);
	note_access(device, region, offset, bytes, count, true);
	hca_mmio_write(device->hca, region, offset, bytes, count);
	return 0;
}
