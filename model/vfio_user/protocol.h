/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vfio-user protocol, version 0.0: messages between a virtual machine monitor (client) and this
 * server over a UNIX stream socket, each with its file descriptors as ancillary data. All numbers
 * are little-endian; bytes of device regions stand as the guest has them in memory.
 *
 * Source: QEMU, docs/interop/vfio-user.rst; numbers of regions, interrupts and flags:
 * <linux/vfio.h>, restated because they are part of the wire format.
 */
#ifndef MODEL_VFIO_USER_PROTOCOL_H
#define MODEL_VFIO_USER_PROTOCOL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * M(NAME, code, bytes of the request's fixed part, whether more may follow, maximum of file
 *   descriptors, meaning): the requests. VFU_<NAME> is the code; vfu_on_<NAME>() executes it.
 */
#define VFU_COMMANDS(M)                                                                            \
	M(VERSION, 1, 4, 1, 0, "version and capabilities, first of all")                           \
	M(DMA_MAP, 2, 32, 0, 1, "guest memory is there for DMA")                                   \
	M(DMA_UNMAP, 3, 24, 0, 0, "guest memory is there no more")                                 \
	M(DEVICE_GET_INFO, 4, 16, 1, 0, "numbers of regions and interrupt kinds")                  \
	M(DEVICE_GET_REGION_INFO, 5, 32, 1, 0, "size and access of a region")                      \
	M(DEVICE_GET_IRQ_INFO, 7, 16, 1, 0, "number of interrupts of a kind")                      \
	M(DEVICE_SET_IRQS, 8, 20, 1, 16, "event file descriptors, masks and triggers")             \
	M(REGION_READ, 9, 16, 0, 0, "read of configuration space or a BAR")                        \
	M(REGION_WRITE, 10, 16, 1, 0, "write of configuration space or a BAR")                     \
	M(DEVICE_RESET, 13, 0, 0, 0, "reset of the function")                                      \
	M(REGION_WRITE_MULTI, 15, 8, 1, 0, "writes of at most 8 bytes each, in order")

enum vfu_command {
#define M(name, code, fixed, more, fds, meaning) VFU_##name = code,
	VFU_COMMANDS(M)
#undef M
};

/* Header: offsets, and the bits of its flags. */
enum vfu_header {
	VFU_H_ID = 0,      /* 16 bits, echoed */
	VFU_H_COMMAND = 2, /* 16 bits */
	VFU_H_SIZE = 4,    /* 32 bits, of header and payload */
	VFU_H_FLAGS = 8,   /* 32 bits */
	VFU_H_ERROR = 12,  /* 32 bits, errno */
	VFU_HEADER = 16,

	VFU_F_TYPE = 0xf, /* 0 request, 1 reply */
	VFU_F_REPLY = 0x1,
	VFU_F_NO_REPLY = 0x10,
	VFU_F_ERROR = 0x20,
};

enum vfu_limits {
	VFU_MAX_FDS = 16,    /* per message; QEMU refuses a server that offers more */
	VFU_MAX_XFER = 4096, /* data bytes of a region access: all of configuration space */
	VFU_MAX_MULTI = 200, /* writes of a REGION_WRITE_MULTI */
	VFU_MAX_PAYLOAD = 8192,
	VFU_PAGE = 4096,
	VFU_MULTI_DATA = 8, /* data bytes of a write of REGION_WRITE_MULTI */
};

enum vfu_version {
	VFU_V_MAJOR = 0, /* 16 bits */
	VFU_V_MINOR = 2, /* 16 bits */
	VFU_V_DATA = 4,  /* JSON with its NUL */
	VFU_MAJOR = 0,
	VFU_MINOR = 0,
};

enum vfu_dma {
	VFU_D_ARGSZ = 0,
	VFU_D_FLAGS = 4,
	/* of DMA_MAP */
	VFU_D_MAP_OFFSET = 8,
	VFU_D_MAP_ADDRESS = 16,
	VFU_D_MAP_SIZE = 24,
	VFU_D_READ = 1,
	VFU_D_WRITE = 2,
	/* of DMA_UNMAP */
	VFU_D_UNMAP_ADDRESS = 8,
	VFU_D_UNMAP_SIZE = 16,
	VFU_D_UNMAP_ALL = 2,
};

enum vfu_device_info {
	VFU_I_ARGSZ = 0,
	VFU_I_FLAGS = 4,
	VFU_I_REGIONS = 8,
	VFU_I_IRQS = 12,
	VFU_INFO_SIZE = 16,
	VFU_INFO_RESET = 1,
	VFU_INFO_PCI = 2,
};

enum vfu_region {
	VFU_REGION_BAR0 = 0,
	VFU_REGION_BAR2 = 2,
	VFU_REGION_ROM = 6,
	VFU_REGION_CONFIG = 7,
	VFU_REGION_VGA = 8,
	VFU_REGIONS = 9,

	VFU_R_FLAGS = 4,
	VFU_R_INDEX = 8,
	VFU_R_SIZE = 16,
	VFU_REGION_INFO_SIZE = 32,
	VFU_R_READ = 1,
	VFU_R_WRITE = 2,
};

/* REGION_READ, REGION_WRITE, and a write of REGION_WRITE_MULTI. */
enum vfu_access_message {
	VFU_A_OFFSET = 0,
	VFU_A_REGION = 8,
	VFU_A_COUNT = 12,
	VFU_A_DATA = 16,
};

enum vfu_irq {
	VFU_IRQ_INTX,
	VFU_IRQ_MSI,
	VFU_IRQ_MSIX,
	VFU_IRQ_ERROR,
	VFU_IRQ_REQUEST,
	VFU_IRQS,

	VFU_Q_FLAGS = 4,
	VFU_Q_INDEX = 8,
	VFU_Q_COUNT = 12,
	VFU_IRQ_INFO_SIZE = 16,
	VFU_Q_EVENTFD = 1,
	VFU_Q_MASKABLE = 2,
	VFU_Q_AUTOMASKED = 4,
	VFU_Q_NORESIZE = 8,
};

enum vfu_set_irqs {
	VFU_S_FLAGS = 4,
	VFU_S_INDEX = 8,
	VFU_S_START = 12,
	VFU_S_COUNT = 16,
	VFU_S_DATA = 20,
	VFU_S_NONE = 1,
	VFU_S_BOOL = 2,
	VFU_S_EVENTFD = 4,
	VFU_S_DATA_MASK = 7,
	VFU_S_MASK = 0x8,
	VFU_S_UNMASK = 0x10,
	VFU_S_TRIGGER = 0x20,
	VFU_S_ACTION_MASK = 0x38,
};

static inline uint16_t vfu_get16(const uint8_t *b)
{
	uint16_t v;

	memcpy(&v, b, sizeof(v));
	return le16toh(v);
}

static inline uint32_t vfu_get32(const uint8_t *b)
{
	uint32_t v;

	memcpy(&v, b, sizeof(v));
	return le32toh(v);
}

static inline uint64_t vfu_get64(const uint8_t *b)
{
	uint64_t v;

	memcpy(&v, b, sizeof(v));
	return le64toh(v);
}

static inline void vfu_put16(uint8_t *b, uint16_t v)
{
	v = htole16(v);
	memcpy(b, &v, sizeof(v));
}

static inline void vfu_put32(uint8_t *b, uint32_t v)
{
	v = htole32(v);
	memcpy(b, &v, sizeof(v));
}

static inline void vfu_put64(uint8_t *b, uint64_t v)
{
	v = htole64(v);
	memcpy(b, &v, sizeof(v));
}

#endif
