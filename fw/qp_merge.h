/* SPDX-License-Identifier: Apache-2.0 */
/* QP contexts of transitions, without the chip. */
#ifndef FW_QP_MERGE_H
#define FW_QP_MERGE_H

#include "model/interface/qp_transitions.h"

/*
 * Takes from @in the fields that @opts names (enum qp_opt_mask) and those of the group @take. The
 * state and what the device keeps are not touched, but that QP_TAKE_ALL makes the latter new.
 */
void qp_merge(struct qpc *q, const struct qpc *in, uint32_t opts, enum qp_take take);

#endif
