/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HCA as a vfio-user client has it: regions, guest memory, interrupts. from: connection; to: the
 * HCA's configuration space and BARs. Accesses take effect at the event core's present time, in the
 * order of the messages: the socket stands in for PCIe's way down, so posted writes have no further
 * time.
 */
#ifndef MODEL_VFIO_USER_DEVICE_H
#define MODEL_VFIO_USER_DEVICE_H

#include "model/engine/hca.h"
#include "model/vfio_user/guest_memory.h"
#include "model/vfio_user/irqs.h"
#include "model/vfio_user/late.h"
#include "model/vfio_user/release.h"

enum { VFU_ACCESSES = 16 };

/* An access of the guest to a region, as it was asked for; of longer ones the first 8 bytes. */
struct vfu_access {
	uint64_t time_ps, offset;
	uint64_t value; /* as PCI numbers it: configuration space and MSI-X little-endian, the rest
			   big-endian */
	uint32_t size;
	uint8_t region; /* enum vfu_region */
	bool write;
};

struct vfu_device;

/* Who wants to know what happens to a device. Any may be NULL. */
struct vfu_watcher {
	void *arg;
	void (*guest_error)(void *arg, const struct vfu_device *device, const char *rule,
			    const char *text);
	void (*catastrophe)(void *arg, const struct vfu_device *device, const char *text);
	/* A limit of this side was met: what could not be done, which is not the guest's fault. */
	void (*limit)(void *arg, const struct vfu_device *device, const char *text);
	/* Told of every access before it takes effect (reads: after). */
	void (*access)(void *arg, const struct vfu_device *device, const struct vfu_access *access);
	/* A line for the server's log, without newline. */
	void (*log)(void *arg, const struct vfu_device *device, const char *line);
};

struct vfu_device {
	unsigned index;
	struct event_core *core;
	struct hca *hca;
	struct vfu_watcher watcher;
	struct releaser *releaser; /* of what the client gives */
	struct guest_memory memory;
	struct irqs irqs;
	struct late late; /* on the way to irqs */
	struct vfu_access accesses[VFU_ACCESSES];
	uint64_t accessed; /* accesses so far; the latest is accesses[(accessed - 1) % VFU_ACCESSES]
			    */
	bool told_unreachable; /* of memory without a descriptor, once a client */
	/* 1 << enum guest_limit: met by a DMA_MAP, by DMA; once a client */
	uint8_t told_map_limits, told_dma_limits;
};

/* The parameters of hca_create(); 0, or -EINVAL with a line in err[]. The device is at power-on. */
int vfu_device_create(struct vfu_device *device, unsigned index, const struct hca_params *params,
		      const struct host_params *host, struct event_core *core, struct trace *trace,
		      const char *fw_path, const struct vfu_watcher *watcher, char *err,
		      size_t err_size);
void vfu_device_destroy(struct vfu_device *device);

/* 0 for what is no region of the device. */
uint64_t vfu_region_size(unsigned region);

/* 0, or -EINVAL when it is not wholly inside a region. Pieces of 8 bytes at most, naturally
 * aligned, ascending. */
int vfu_device_read(struct vfu_device *device, unsigned region, uint64_t offset, void *bytes,
		    uint32_t count);
int vfu_device_write(struct vfu_device *device, unsigned region, uint64_t offset, const void *bytes,
		     uint32_t count);

/* DMA_MAP: guest_memory_map(), and a limit that it meets is told. */
int vfu_device_map(struct vfu_device *device, const struct guest_map *map);

/* The client has made a descriptor block that an interrupt is written to: nothing more is written
 * until it has gone. */
bool vfu_device_is_blocked(const struct vfu_device *device);
/* So many descriptors of clients wait to be closed that no more are taken. */
bool vfu_device_is_clogged(const struct vfu_device *device);

/* Power-on values; guest memory and descriptors of interrupts stay. */
void vfu_device_reset(struct vfu_device *device);
/* The client has gone: reset, and nothing of it is kept. */
void vfu_device_abandon(struct vfu_device *device);

__attribute__((format(printf, 2, 3))) void vfu_device_log(const struct vfu_device *device,
							  const char *format, ...);

#endif
