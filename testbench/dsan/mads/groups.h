/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast groups: which queue pairs were attached to which group, against what the device finds when
 * it looks a group up, and against the entries that the driver keeps.
 */
#ifndef TESTBENCH_DSAN_MADS_GROUPS_H
#define TESTBENCH_DSAN_MADS_GROUPS_H

#include "host_driver/mlx4/mlx4.h"

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct checker;
struct hca_command_answer;
struct hcr;

/* A call begins that attaches or detaches; the driver reads or writes an entry in it. */
void groups_begin(const struct ask *a);
void groups_command(const struct checker *c, const void *pc);
/* A command writes an entry; the device has answered one. */
void groups_written(struct checker *c, const struct hcr *command);
void groups_answered(const struct checker *c, const struct hcr *command,
		     const struct hca_command_answer *answer);
/* The call has succeeded; `numbers`: entries outside of the buckets that the driver holds for used. */
void groups_end(const struct ask *a, const uint8_t gid[DRV_GID_BYTES], uint32_t qpn, bool block,
		bool attach, unsigned numbers);
/* Also when it has failed, or the thread is unwound. */
void groups_leave(const struct checker *c);
/* A queue pair is destroyed. */
void groups_qp_gone(const struct ask *a, uint32_t qpn);

#endif
