/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * What a guest that runs in simulated time and serve share: one page of memory per guest. Both
 * hcasim (guest_clock.c) and the plugin in QEMU (testbench/vm/clock/) include this file.
 *
 * The guest asks and waits; serve answers. Each question says which time it is in the guest. Each
 * answer says up to which time the guest may go on before it must ask again.
 */
#ifndef MODEL_VFIO_USER_GUEST_PAGE_H
#define MODEL_VFIO_USER_GUEST_PAGE_H

#include <stdint.h>

enum {
	GUEST_PAGE_VERSION = 3,
	GUEST_DATA_MAX = 4096, /* a whole configuration space */
	GUEST_IRQS_MAX = 256,  /* each vector of two devices once */
};

enum guest_question {
	GUEST_TICK,  /* the time of the last answer has come */
	GUEST_READ,  /* read a region */
	GUEST_WRITE, /* write a region */
	GUEST_END,   /* the guest ends in order */
};

/* An MSI-X vector that rose. */
struct guest_irq {
	uint32_t device, vector;
};

struct guest_page {
	/* The guest fills in a question and then adds one to `asked`. */
	struct {
		uint32_t asked;
		uint32_t kind; /* enum guest_question */
		uint64_t time_ns;
		/* of a read or write: device, region as in vfio-user, place, bytes */
		uint32_t device, region, count;
		uint64_t offset;
	} question __attribute__((aligned(64)));
	/* Serve fills in an answer and then makes `answered` equal to `asked`. */
	struct {
		uint32_t answered;
		int32_t status;   /* of a read or write: 0 or -errno */
		uint64_t time_ns; /* when the guest goes on: a read takes time */
		uint64_t next_ns; /* the guest must ask again at this time */
		/* 1: the guest stands still, at this very moment, until serve makes it 0 and signals
		 * the guest's eventfd; or until a debugger of the guest lets it go on */
		uint32_t held;
		uint32_t intx; /* bit N: device N asserts INTx */
		uint32_t irqs;
		struct guest_irq irq[GUEST_IRQS_MAX];
	} answer __attribute__((aligned(64)));
	/* Set by a side before it sleeps on its eventfd; the other side then signals it. */
	uint32_t guest_sleeps __attribute__((aligned(64)));
	uint32_t server_sleeps __attribute__((aligned(64)));
	uint8_t data[GUEST_DATA_MAX] __attribute__((aligned(64)));
};

/*
 * The first and only message on the socket, from serve. Three descriptors come with it: the page,
 * the eventfd on which the guest sleeps, and that on which serve sleeps.
 */
enum { GUEST_HELLO_FDS = 3 };
struct guest_hello {
	char magic[8];
	uint32_t version;   /* GUEST_PAGE_VERSION */
	uint32_t page_size; /* sizeof(struct guest_page) */
};
#define GUEST_HELLO_MAGIC "hcasim\n"

#endif
