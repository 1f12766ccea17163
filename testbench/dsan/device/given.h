/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands as a row: what must have been given before another one, and which numbers the firmware keeps
 * for itself (QUERY_DEV_CAP).
 */
#ifndef TESTBENCH_DSAN_DEVICE_GIVEN_H
#define TESTBENCH_DSAN_DEVICE_GIVEN_H

#include "model/interface/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;
struct ask;
struct dev_cap;
struct checker;
struct drv_device;
struct hca_command_answer;
struct hcr;

/* The driver gives a command; the device has answered it. */
void given_command(struct checker *c, const struct hcr *command);
void given_command_done(struct checker *c, const struct hcr *command,
			const struct hca_command_answer *answer);
/* Whether INIT_PORT was given, and CLOSE_PORT was not. */
bool given_port_is_open(const struct checker *c, unsigned port);
/* A context names a doorbell page. */
void given_page_check(struct checker *c, struct guest_object object, uint32_t page);
/* MTT entries were given to a buffer, which was made there. */
void given_mtts_check(struct checker *c, uint64_t first, const struct calls *by);
/* Why the driver may not hear of the end of a command in event mode; an empty text: it should. */
void given_event_lack(const struct checker *c, char *text, size_t size);
/* The driver has come up: each EQ must be armed, and each port open. `closed`: it was asked to leave them closed. */
void given_up_check(struct ask *a, const struct drv_device *dev, bool closed);

/* EQs that the firmware keeps for itself. */
uint32_t given_reserved_eqs(const struct dev_cap *cap);

#endif
