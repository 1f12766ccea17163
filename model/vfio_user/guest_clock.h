/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests in simulated time: the clocks of one or two guests and the event core are one clock. from:
 * the plugin in each guest's QEMU (guest_link.h); to: the event core, the devices.
 *
 * A guest may run up to a time, its limit. It asks when it gets there, and at each access to a
 * device. Serve brings the core to the time of a question, carries out the access, and answers with
 * the interrupts that rose and the next limit, which is not after the next event of the core. So
 * accesses, DMA and interrupts happen at their simulated time, and nothing depends on the wall
 * clock.
 *
 * Two guests: serve answers a question when the other guest cannot ask an earlier one any more. So
 * the order of their accesses is always the same. Both share a window of time: what one does inside
 * of it reaches the other one at its end. The window is sim.guest_quantum_min long while there is
 * traffic, and grows to sim.guest_quantum_max while there is none.
 *
 * The last GUEST_NOTE_BYTES of a device's configuration space, which are reserved in the device, are
 * a note from guest to guest: what a guest writes there the other one reads there.
 */
#ifndef MODEL_VFIO_USER_GUEST_CLOCK_H
#define MODEL_VFIO_USER_GUEST_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct event_core;
struct guest_clock;
struct guest_code;
struct sim_params;
struct vfu_device;
struct vfu_server;

/* GUEST_CALLS_TEXT: has room for all calls that a guest tells of. */
enum { GUEST_CLOCKS_MAX = 2, GUEST_NOTE_BYTES = 16, GUEST_CALLS_TEXT = 1100 };

/* NULL without memory. The server, the core and the parameters outlive it. */
struct guest_clock *guest_clock_create(struct vfu_server *server, struct event_core *core,
				       const struct sim_params *params);
void guest_clock_destroy(struct guest_clock *clock);

/* Awaits a guest at a socket. 0, or -errno with a line in err[]. */
int guest_clock_listen(struct guest_clock *clock, const char *path, char *err, size_t err_size);
/* Gives a device to the guest that awaits at the socket number `guest`, counted from 0. */
void guest_clock_attach(struct guest_clock *clock, unsigned guest, struct vfu_device *device);

/* A load or store of the guest in a page that is watched. */
struct guest_access {
	uint64_t address; /* physical */
	uint32_t bytes;
	bool store; /* it is made */
};

/* Who hears what the guests' drivers do, when they do it: a write to a device is heard before PCIe
 * has carried it there. `machine`: enum guest_machine. */
struct guest_clock_watcher {
	void *arg;
	void (*access)(void *arg, const struct vfu_device *device,
		       const struct guest_access *access, const struct guest_code *code,
		       uint32_t machine);
	void (*write)(void *arg, const struct vfu_device *device, uint32_t region, uint64_t offset,
		      const void *bytes, uint32_t count, const struct guest_code *code,
		      uint32_t machine);
};
void guest_clock_watch(struct guest_clock *clock, const struct guest_clock_watcher *watcher);
/* This page of the guest's memory is watched for the device from now on, or no longer. */
void guest_clock_watch_page(struct guest_clock *clock, const struct vfu_device *device,
			    uint64_t page, bool watched);

/*
 * Writes where the kernel's modules are in the guest that has the device, as "code 0x..., code
 * 0x...": the instruction, then the calls that have not returned, the newest first, and behind
 * "; returned: " the last ones that have. It is as it was at the guest's last question, which does
 * not depend on the wall clock; while an access is heard, as it is at that access. The text is empty
 * without watch=on.
 */
void guest_clock_calls(const struct guest_clock *clock, const struct vfu_device *device,
		       char text[static GUEST_CALLS_TEXT]);

/* Answers every question that can be answered now. True if there was one. */
bool guest_clock_serve(struct guest_clock *clock);
/* Before the thread sleeps in epoll: asks the guests to wake it. False if it must not sleep,
 * because a question has come meanwhile. */
bool guest_clock_doze(struct guest_clock *clock);
void guest_clock_wake(struct guest_clock *clock);

/*
 * Holds guests and devices together: the guest that is answered next stands still from then on, and
 * so does the core. Another guest may still run, but not beyond its window, and no access of it is
 * carried out.
 */
void guest_clock_hold(struct guest_clock *clock);
bool guest_clock_is_held(const struct guest_clock *clock);
/* Lets the held guest go on. False if none is held. */
bool guest_clock_go(struct guest_clock *clock);

/* Writes how long the guests ran, in simulated and in wall time, and how often they asked. */
void guest_clock_report(const struct guest_clock *clock, FILE *out);

/* Every guest has ended in order, or one has gone without a word. */
bool guest_clock_is_over(const struct guest_clock *clock);
/* Which guest that was and why, or NULL. */
const char *guest_clock_trouble(const struct guest_clock *clock);

#endif
