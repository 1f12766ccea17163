/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that has died, against what the driver makes of it (mlx4.h, drv_declare_dead() and
 * drv_catas_watch()): it tells its users once, wakes those that wait, and sends the device nothing
 * more. Only a reset may reach it.
 */
#ifndef TESTBENCH_DSAN_DEVICE_DEAD_H
#define TESTBENCH_DSAN_DEVICE_DEAD_H

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct checker;
struct drv_cq;
struct drv_device;
struct drv_event;

/* The driver has this device from now on, or none: NULL. */
void dead_begin(struct checker *c, struct drv_device *dev);
/* Its users want to hear of events; a thread reads the error buffer from now on, or no longer. */
void dead_listener(struct checker *c, void (*fn)(void *arg, const struct drv_event *event),
		   void *arg);
void dead_watched(struct checker *c, bool is);
/* What the driver calls instead of fn; `arg` is the checker. */
void dead_event(void *arg, const struct drv_event *event);
/* The handler of this CQ is called. While the device's death is told, it is each CQ's that has requests to flush. */
void dead_completed(struct checker *c, const struct drv_cq *cq);
/* The driver writes configuration space or a register of BAR 0, or has read one. */
void dead_config(struct checker *c);
void dead_register(struct checker *c, uint64_t offset);
void dead_register_read(struct checker *c, uint64_t offset, uint32_t value);
/* A call gives back `what`, and has returned rc: on a dead device it must not fail. `pc`: in it, or NULL. */
void dead_gives_back(struct checker *c, int rc, const char *what, const void *pc);
/* A command has timed out. */
void dead_timeout_check(const struct ask *command);
/* At the end of a wait in vain. */
void dead_tell_waits(struct checker *c);
/* At a failure, of a thread that waits for a command; whether it should have been woken. */
bool dead_tell_waiter(const struct ask *waits);

#endif
