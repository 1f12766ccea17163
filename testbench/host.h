/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated host: memory with an IOMMU map, interrupts, threads. It is the platform that
 * host_driver/ runs on.
 *
 * Its memory is one range of bus addresses from HOST_MEMORY_BUS on. The device reaches a page only
 * while it is mapped.
 */
#ifndef TESTBENCH_HOST_H
#define TESTBENCH_HOST_H

#include "host_driver/platform.h"
#include "model/engine/hca.h"
#include "model/systemc/kernel.h"

#define HOST_MEMORY_BUS  0x100000000ull /* not below 4 GiB, so that no address fits in 32 bits */
#define HOST_MSI_ADDRESS 0xfee00000ull

struct acts;
struct holds;
struct host;
struct trace;

/*
 * The owner (kernel_thread_set_owner) of a kernel thread that can be killed. After `killed` is set,
 * the thread ends (kernel_thread_unwind) when it is woken from a wait while `in_kernel` is 0.
 * Threads without an owner cannot be killed.
 */
struct host_thread {
	bool killed;
	unsigned in_kernel;
};

struct host_config {
	unsigned index;
	const struct host_params *params;
	const struct hca_params *hca_params;
	struct trace *trace;
	const char *fw_path;
	bool dmi;
	uint64_t seed;
	struct holds *holds; /* NULL: nobody holds threads back */
	/* Called for each guest error and each catastrophe of this host's device. */
	void (*guest_error)(void *arg, unsigned host, const struct guest_error *error);
	void (*catastrophe)(void *arg, unsigned host, const char *text);
	void *arg;
};

/* The host and the HCA in it. NULL with one line in err[]. */
struct host *host_create(struct kernel *kernel, struct event_core *core,
			 const struct host_config *config, char *err, size_t err_size);
void host_destroy(struct host *host);

struct platform *host_platform(struct host *host);
/* What the driver of this host did last. */
const struct acts *host_acts(const struct host *host);
/* The page that the device found not mapped last, as a bus address. */
uint64_t host_fault_bus(const struct host *host);
struct hca *host_hca(struct host *host);
/* From now on, latencies of the host and of its HCA vary, at random by the seed (sim.jitter). */
void host_jitter(struct host *host, uint64_t seed);

/* The number of pages that are allocated now, and of those mapped for the device. Both are 0 after a
 * complete tear-down. */
size_t host_pages_used(const struct host *host);
size_t host_pages_mapped(const struct host *host);
uint64_t host_bus(struct host *host, const void *addr);

#endif
