/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest of `hcasim serve` without a virtual machine. It has its own vfio-user client (offsets and
 * numbers from QEMU's docs/interop/vfio-user.rst). On top of it is the platform that the host
 * driver needs, so the real driver drives the device from this process. The driver polls;
 * interrupts are not delivered. Single-threaded.
 */
#ifndef TESTBENCH_TESTS_SERVE_GUEST_H
#define TESTBENCH_TESTS_SERVE_GUEST_H

#include "host_driver/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GUEST_VERSION = 1,
	GUEST_MAP,
	GUEST_UNMAP,
	GUEST_SET_IRQS = 8,
	GUEST_READ,
	GUEST_WRITE,
	GUEST_RESET = 13,
	GUEST_WRITE_MULTI = 15,
	GUEST_NO_REPLY = 0x10,
	GUEST_BAR0 = 0,
	GUEST_BAR2 = 2,
	GUEST_CONFIG = 7,
	GUEST_PAGES = 16384,
};

static const uint64_t guest_bus = 0x40000000;

struct guest {
	struct platform platform; /* must be the first member: cast back */
	int fd, memfd;
	uint8_t *memory; /* GUEST_PAGES, at guest_bus */
	uint8_t used[GUEST_PAGES];
	uint16_t id;
	void (*lost)(void); /* called when the connection is lost; does not return */
};

/* Connects a guest with its memory to the socket. -1 when the server does not accept it. */
int guest_open(struct guest *g, const char *path, void (*lost)(void));
void guest_close(struct guest *g);

/* Sends a message with descriptors. -1 when the connection is gone. */
int guest_send(struct guest *g, unsigned command, uint32_t flags, const void *payload, size_t len,
	       const int *fds, unsigned n_fds);
/* Sends a message and waits for the answer, of which it keeps `room` bytes. Returns the answer's
 * errno, 0 for none, or -1 when the connection is gone. */
int guest_ask(struct guest *g, unsigned command, const void *payload, size_t len, const int *fds,
	      unsigned n_fds, void *answer, size_t room);
int guest_map(struct guest *g, uint64_t bus, uint64_t size, int fd, uint64_t offset, bool writable);
/* Reads from a region and waits for the answer. */
int guest_read(struct guest *g, unsigned region, uint64_t offset, void *bytes, uint32_t size);
/* Writes to a region and does not wait for an answer. */
int guest_write(struct guest *g, unsigned region, uint64_t offset, const void *bytes,
		uint32_t size);
uint64_t guest_wall_ns(void);

#endif
