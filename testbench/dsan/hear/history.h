/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of the driver have made an object of the device, and which have changed it last. What is
 * wrong with an object is often found long after the call that made it so.
 */
#ifndef TESTBENCH_DSAN_HEAR_HISTORY_H
#define TESTBENCH_DSAN_HEAR_HISTORY_H

#include "model/interface/rules.h"

#include <stdint.h>

struct checker;
struct ran;

/* The running call has made that object, or has changed it (a queue pair's attributes, a CQ's size). */
void history_made(const struct checker *c, enum guest_object_kind kind, uint32_t number);
void history_changed(const struct checker *c, enum guest_object_kind kind, uint32_t number);
/* Where the driver came by then; nothing if that is not known. */
void history_find(const struct checker *c, struct guest_object object, struct ran *made,
		  struct ran *changed);
/* The running call has made a table of contexts in ICM; where the driver came by when it made the newest one. */
void history_table_made(const struct checker *c);
void history_table_find(const struct checker *c, struct ran *made);
/* The running call is about that object. */
void history_about(enum guest_object_kind kind, uint32_t number);
/* Whom it is about; of kind GUEST_NONE if that is not known. */
struct guest_object history_subject(void);

#endif
