/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver needs from the machine that it runs on. The hosts of the test bench implement it
 * over a simulated PCIe root complex. There is one instance per host, and no global state.
 *
 * All functions are called from a host thread (a coroutine of the simulation): those marked "takes
 * time" let simulated time pass and other threads run. Bus addresses are what the device uses;
 * `void *` is what the driver uses.
 */
#ifndef HOST_DRIVER_PLATFORM_H
#define HOST_DRIVER_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLATFORM_PAGE_SIZE = 4096 };

/* Time between two looks whether threads have left what is about to go: 20 us. With 1 us, one that never leaves
 * takes more than a minute of real time until the run's limit. */
#define PLATFORM_END_POLL_PS UINT64_C(20000000)

struct platform;

enum platform_call_kind {
	PLATFORM_CALL_ENTER,
	PLATFORM_CALL_POST, /* as ENTER: it posts a send to qpn */
	PLATFORM_CALL_POLL, /* as ENTER: it has taken a completion of qpn from cqn */
	PLATFORM_CALL_EXIT,
};

/* A call of one of the driver's functions, for traces. */
struct platform_call {
	enum platform_call_kind kind;
	const char *name;
	const char *args; /* a short text of arguments or result */
	uint32_t qpn, cqn;
};

struct platform_ops {
	/* PCI configuration space; size 1, 2, 4; little-endian value. Takes time. */
	uint32_t (*config_read)(struct platform *p, unsigned offset, unsigned size);
	void (*config_write)(struct platform *p, unsigned offset, unsigned size, uint32_t value);

	/*
	 * BAR accesses, bytes in memory order. A read returns after the round trip (takes time). A
	 * write is posted: it returns after the CPU's own cost, which may pass before and after the
	 * write leaves (takes time), and writes reach the device in program order. `mmio_write` is
	 * at most 8 bytes; `mmio_copy64` is one write-combined 64-byte line.
	 */
	void (*mmio_read)(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			  unsigned size);
	void (*mmio_write)(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			   unsigned size);
	void (*mmio_copy64)(struct platform *p, unsigned bar, uint64_t offset, const void *line);

	/*
	 * Memory: whole pages, contiguous on the bus, mapped for the device. Freeing unmaps. The
	 * content is NOT zeroed: it holds a pattern, as memory that was used before. NULL when
	 * there is none left.
	 */
	void *(*pages_alloc)(struct platform *p, size_t bytes, uint64_t *bus);
	void (*pages_free)(struct platform *p, void *addr, size_t bytes);
	/* Pages that the device may not reach until dma_map; user memory of scenarios. dma_map
	 * returns the bus address of the first byte, 0 on failure. */
	void *(*user_alloc)(struct platform *p, size_t bytes);
	void (*user_free)(struct platform *p, void *addr, size_t bytes);
	uint64_t (*dma_map)(struct platform *p, void *addr, size_t bytes);
	void (*dma_unmap)(struct platform *p, uint64_t bus, size_t bytes);

	/* The CPU's address of `bytes` that are mapped for the device at a bus address, without a
	 * gap; NULL: they are not. For transports in software, which copy where hardware uses
	 * DMA. */
	void *(*bus_memory)(struct platform *p, uint64_t bus, size_t bytes);

	/* Interrupts: `handler` runs in interrupt context (a thread of its own that must not sleep)
	 * for each message of `vector`. */
	int (*irq_request)(struct platform *p, unsigned vector, void (*handler)(void *arg),
			   void *arg);
	void (*irq_free)(struct platform *p, unsigned vector);
	/* What an MSI-X table entry must hold so that `vector` arrives here. */
	void (*msi_message)(struct platform *p, unsigned vector, uint64_t *address, uint32_t *data);

	/* Time. sleep and cpu cost take time. */
	uint64_t (*now_ps)(struct platform *p);
	void (*sleep_ps)(struct platform *p, uint64_t ps);
	void (*cpu_ps)(struct platform *p, uint64_t ps);
	/*
	 * Sleeps until somebody (device or another host thread) writes any byte of [addr, addr+len)
	 * after this call, or until the deadline (UINT64_MAX: none); true when written. Check the
	 * memory first, then call: threads are not preempted, so no write is missed in between.
	 * Waking rounds up to the next poll of the CPU.
	 */
	bool (*wait_write)(struct platform *p, const void *addr, size_t len, uint64_t deadline_ps);

	/* Threads of this host, and wait queues for them (sleeping without polling; wake_all may be
	 * called from interrupt context). */
	void (*thread_start)(struct platform *p, const char *name, void (*fn)(void *arg),
			     void *arg);
	struct platform_waitq *(*waitq_create)(struct platform *p);
	void (*waitq_destroy)(struct platform *p, struct platform_waitq *q);
	/* Sleeps until woken or the deadline; false when the deadline came first. A wake-up between
	 * check and wait cannot happen: threads are not preempted. */
	bool (*waitq_wait)(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps);
	void (*waitq_wake_all)(struct platform *p, struct platform_waitq *q);

	/* Trace: a function of the driver is entered or left. */
	void (*trace_call)(struct platform *p, const struct platform_call *call);
	bool (*trace_on)(struct platform *p);
	/* The driver refuses a verb because its device or transport lacks it; NULL: nobody wants to
	 * know. */
	void (*refused)(struct platform *p, const char *verb);
};

struct platform {
	const struct platform_ops *ops;
	unsigned host;         /* number of this host, 0 or 1 */
	unsigned msix_vectors; /* what the platform can deliver */
	/* the first dword of configuration space, as enumeration of the bus has found it */
	uint32_t pci_id;
};

#endif
