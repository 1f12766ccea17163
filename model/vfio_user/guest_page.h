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
	GUEST_PAGE_VERSION = 5,
	GUEST_DATA_MAX = 4096, /* a whole configuration space */
	GUEST_IRQS_MAX = 256,  /* each vector of two devices once */
	GUEST_MEMORY_PAGE = 4096,
	/* of a guest's memory, up to 64 GiB; those beyond are not watched */
	GUEST_MEMORY_PAGES = 1 << 24,
	GUEST_CALLS_OPEN = 24,
	GUEST_CALLS_RETURNED = 16,
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

/* Where the guest's processor is, and how many barriers it has come by. All 0 without watch=on. */
struct guest_code {
	uint64_t pc;                        /* the instruction, of the code that is watched */
	uint32_t load_fences, store_fences; /* what keeps loads, and stores, in order */
};

/*
 * The last calls of the kernel's modules, of all threads and interrupt handlers. A call is known by
 * the address behind it, to which it returns. Each list has an address once, the newest first; 0:
 * there is no further one. All 0 without watch=on.
 */
struct guest_calls {
	uint64_t open[GUEST_CALLS_OPEN];         /* have not returned; the first was made last */
	uint64_t returned[GUEST_CALLS_RETURNED]; /* the first returned last */
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
		struct guest_code code;
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
	/*
	 * A load or store of the guest in a page that serve watches. The guest fills it in, adds
	 * one to `told`, and waits until serve has made `heard` equal. No time passes meanwhile, so
	 * the run is the same as without it.
	 */
	struct {
		uint32_t told;
		uint32_t store;   /* 0: a load */
		uint32_t count;   /* bytes */
		uint32_t devices; /* bit N: device N watches this page */
		uint64_t address; /* physical */
		struct guest_code code;
	} access __attribute__((aligned(64)));
	uint32_t heard __attribute__((aligned(64)));
	uint32_t machine; /* enum guest_machine, before the first question */
	/* Only the guest writes it. Serve reads it while the guest waits. */
	struct guest_calls calls __attribute__((aligned(64)));
	/* Set by a side before it sleeps on its eventfd; the other side then signals it. */
	uint32_t guest_sleeps __attribute__((aligned(64)));
	uint32_t server_sleeps __attribute__((aligned(64)));
	uint8_t data[GUEST_DATA_MAX] __attribute__((aligned(64)));
};

/* The guest's processor. What it keeps in order differs. */
enum guest_machine { GUEST_X86_64, GUEST_AARCH64 };

/*
 * The first and only message on the socket, from serve. Four descriptors come with it: the page,
 * the eventfd on which the guest sleeps, that on which serve sleeps, and memory with a byte for each
 * page of the guest's memory: bit N: device N watches it. Only serve writes there.
 */
enum { GUEST_HELLO_FDS = 4 };
struct guest_hello {
	char magic[8];
	uint32_t version;   /* GUEST_PAGE_VERSION */
	uint32_t page_size; /* sizeof(struct guest_page) */
};
#define GUEST_HELLO_MAGIC "hcasim\n"

#endif
