/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the looker-on of a device (struct hca_monitor, hca.h), if it has one. */
#ifndef MODEL_ENGINE_MONITOR_H
#define MODEL_ENGINE_MONITOR_H

#include "model/engine/base/engine.h"

static inline bool hca_is_monitored(const struct hca *hca)
{
	return __builtin_expect(hca->monitor != NULL, 0);
}

/* The object types of firmware, FW_TABLE_QPC to FW_TABLE_MPT, are those of enum hca_object. */
static inline void monitor_object(struct hca *hca, unsigned table, uint32_t number, bool valid,
				  const struct mpt_entry *mpt)
{
	_Static_assert((int)HCA_QP == FW_TABLE_QPC && (int)HCA_CQ == FW_TABLE_CQC &&
			       (int)HCA_EQ == FW_TABLE_EQC && (int)HCA_SRQ == FW_TABLE_SRQC &&
			       (int)HCA_MPT == FW_TABLE_MPT,
		       "tables and objects have one order");
	if (hca_is_monitored(hca) && table <= FW_TABLE_MPT)
		hca->monitor->object(hca->monitor->ctx, (enum hca_object)table, number, valid, mpt);
}

static inline void monitor_command(struct hca *hca, const struct hcr *command,
				   const struct hca_command_answer *answer)
{
	if (hca_is_monitored(hca))
		hca->monitor->command(hca->monitor->ctx, command, answer);
}

#endif
