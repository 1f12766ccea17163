/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HCA as a vfio-user client sees it: regions, guest memory, interrupts. from: connection; to:
 * the HCA's configuration space and BARs. Accesses take effect at the event core's present time, in
 * the order of the messages. The socket replaces the PCIe link towards the device, so a posted
 * write takes no simulated time.
 */
#ifndef MODEL_VFIO_USER_DEVICE_H
#define MODEL_VFIO_USER_DEVICE_H

#include "model/engine/hca.h"
#include "model/vfio_user/guest_memory.h"
#include "model/vfio_user/irqs.h"
#include "model/vfio_user/late.h"
#include "model/vfio_user/release.h"

enum { VFU_ACCESSES = 16 };

/* An access of the guest to a region; `value` holds at most its first 8 bytes. */
struct vfu_access {
	uint64_t time_ps, offset;
	uint64_t pc;    /* of the guest's instruction, 0: not known */
	uint64_t value; /* configuration space is little-endian, BARs are as the device says */
	uint32_t size;
	uint8_t region; /* enum vfu_region */
	bool write;
};

struct vfu_device;

/* Called when something happens to a device. Any of them may be NULL. */
struct vfu_watcher {
	void *arg;
	void (*guest_error)(void *arg, const struct vfu_device *device,
			    const struct guest_error *error);
	void (*catastrophe)(void *arg, const struct vfu_device *device, const char *text);
	/* A limit of this server was reached: what failed is not the guest's fault. */
	void (*limit)(void *arg, const struct vfu_device *device, const char *text);
	/* Called for every write before it takes effect, and for every read after it. */
	void (*access)(void *arg, const struct vfu_device *device, const struct vfu_access *access);
	/* The guest has mapped memory for the device. */
	void (*dma_map)(void *arg, const struct vfu_device *device, const struct guest_map *map);
	/* The guest takes back memory that it has mapped for the device. size UINT64_MAX: all. */
	void (*dma_unmap)(void *arg, const struct vfu_device *device, uint64_t bus, uint64_t size);
	/* The guest has allowed the device to be a bus master: a driver comes. Or no longer, while
	 * registers stay readable: a driver has let the device go. */
	void (*mastering)(void *arg, const struct vfu_device *device, bool on);
	/* A line for the server's log, without newline. */
	void (*log)(void *arg, const struct vfu_device *device, const char *line);
};

/* A timed read under way. */
struct vfu_reading {
	void *bytes;
	uint64_t offset;
	uint32_t count;
	uint8_t region;
	void (*done)(void *arg);
	void *arg;
};

struct vfu_device {
	unsigned index;
	struct event_core *core;
	struct hca *hca;
	struct vfu_watcher watcher;
	struct releaser *releaser; /* closes what the client gave */
	struct guest_memory memory;
	struct irqs irqs;
	struct late late; /* delays interrupts on their way to irqs */
	struct vfu_access accesses[VFU_ACCESSES];
	uint64_t accessed; /* accesses so far; the latest is accesses[(accessed - 1) % VFU_ACCESSES]
			    */
	struct vfu_reading reading;
	uint64_t pc;           /* of the guest's instruction that accesses a region, 0: not known */
	bool told_unreachable; /* memory without a descriptor was reported; once per client */
	/* 1 << enum guest_limit: reported for a DMA_MAP, for DMA; once per client */
	uint8_t told_map_limits, told_dma_limits;
};

/* The parameters of hca_create(); 0, or -EINVAL with a line in err[]. The device is at power-on. */
int vfu_device_create(struct vfu_device *device, unsigned index, const struct hca_params *params,
		      const struct host_params *host, struct event_core *core, struct trace *trace,
		      const char *fw_path, const struct vfu_watcher *watcher, char *err,
		      size_t err_size);
void vfu_device_destroy(struct vfu_device *device);

/* 0 if the device has no such region. */
uint64_t vfu_region_size(const struct vfu_device *device, unsigned region);

/* 0, or -EINVAL if it is not wholly inside a region. It is split into naturally aligned pieces
 * of at most 8 bytes, in ascending order. */
int vfu_device_read(struct vfu_device *device, unsigned region, uint64_t offset, void *bytes,
		    uint32_t count);
int vfu_device_write(struct vfu_device *device, unsigned region, uint64_t offset, const void *bytes,
		     uint32_t count);

/*
 * The same for a client in simulated time: an access to a BAR takes PCIe's time. A write reaches
 * the device after this call. A read is carried out when `done` is called, which may be before the
 * call returns; one read at a time. An access that is not naturally aligned takes no time.
 */
int vfu_device_read_timed(struct vfu_device *device, unsigned region, uint64_t offset, void *bytes,
			  uint32_t count, void (*done)(void *arg), void *arg);
int vfu_device_write_timed(struct vfu_device *device, unsigned region, uint64_t offset,
			   const void *bytes, uint32_t count);

/* DMA_MAP: guest_memory_map(), and reports a limit that it reaches. */
int vfu_device_map(struct vfu_device *device, const struct guest_map *map);
/* DMA_UNMAP: guest_memory_unmap(); size UINT64_MAX: everything. */
int vfu_device_unmap(struct vfu_device *device, uint64_t start, uint64_t size);

/* An eventfd of the client blocked. Nothing is written to it until the client has gone. */
bool vfu_device_is_blocked(const struct vfu_device *device);
/* Too many descriptors wait to be closed; no further ones are accepted. */
bool vfu_device_is_clogged(const struct vfu_device *device);

/* Resets the device to power-on values. Guest memory and interrupt descriptors stay. */
void vfu_device_reset(struct vfu_device *device);
/* The client has gone: resets the device and drops everything of the client. */
void vfu_device_abandon(struct vfu_device *device);

__attribute__((format(printf, 2, 3))) void vfu_device_log(const struct vfu_device *device,
							  const char *format, ...);

#endif
