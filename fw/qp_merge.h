/* SPDX-License-Identifier: Apache-2.0 */
/* Changes QP contexts in transitions; does not need the chip. */
#ifndef FW_QP_MERGE_H
#define FW_QP_MERGE_H

#include "model/interface/qp_transitions.h"

/*
 * Takes from @in the fields that @opts names (enum qp_opt_mask) and those of the group @take. It
 * keeps the state and the device's own fields; QP_TAKE_ALL initialises the latter.
 */
void qp_merge(struct qpc *q, const struct qpc *in, uint32_t opts, enum qp_take take);

#endif
