/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files of the plugin share: guest_clock.c has the link to serve, guest_watch.c hears of
 * the guest's loads and stores. QEMU's header for plugins is not packaged by Debian. */
#ifndef TESTBENCH_VM_CLOCK_GUEST_PLUGIN_H
#define TESTBENCH_VM_CLOCK_GUEST_PLUGIN_H

#include "model/vfio_user/guest_page.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t plugin_id;

/* --- guest_clock.c --- */

/* Says why this QEMU does not do. Returns -1. */
__attribute__((format(printf, 1, 2))) int refuse(const char *format, ...);
/* The guest has loaded or stored there. If serve watches the page, returns when serve has heard. */
void access_tell(uint64_t address, uint32_t bytes, bool store, const struct guest_code *code);

/* --- guest_watch.c --- */

/* Begins to watch the guest's code: sets machine and calls of the page. 0, or refuse(). */
int watch_install(plugin_id id, const char *target, struct guest_page *page);
/* The processor begins. */
void watch_begin(void);
/* Where the watched code is now; all 0 when nothing is watched. */
void watch_code(struct guest_code *code);

#endif
