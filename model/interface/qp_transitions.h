/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that change the state of a QP: the states each may start from, the state it leads
 * to, and the fields it takes from the mailbox. */
#ifndef MODEL_INTERFACE_QP_TRANSITIONS_H
#define MODEL_INTERFACE_QP_TRANSITIONS_H

#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/mailboxes.h"

/* clang-format off */
/*
 * T(command, states it may start from, state it leads to, taken regardless of the mask, taken when the mask names it,
 * fields without a bit)
 */
#define QP_TRANSITIONS(T) \
	T(RST2INIT_QP,  QP_IN(RST), INIT, QP_OPT_ALL, 0, ALL) \
	T(INIT2INIT_QP, QP_IN(INIT), INIT, 0, \
	  QP_OPT_ACCESS | QP_OPT_BIT_PKEY_INDEX | QP_OPT_BIT_QKEY | QP_OPT_BIT_PRIMARY_PATH | QP_OPT_BIT_SCHED_QUEUE, NOTHING) \
	T(INIT2RTR_QP,  QP_IN(INIT), RTR, \
	  QP_OPT_BIT_PRIMARY_PATH | QP_OPT_BIT_SCHED_QUEUE | QP_OPT_BIT_RRA_MAX | QP_OPT_BIT_MIN_RNR, \
	  QP_OPT_ACCESS | QP_OPT_BIT_PKEY_INDEX | QP_OPT_BIT_QKEY | QP_OPT_BIT_PM_STATE | QP_OPT_BIT_ALT_PATH | \
	  QP_OPT_BIT_COUNTER_INDEX, RECV) \
	T(RTR2RTS_QP,   QP_IN(RTR), RTS, \
	  QP_OPT_BIT_SRA_MAX | QP_OPT_BIT_RETRY_COUNT | QP_OPT_BIT_RNR_RETRY | QP_OPT_BIT_ACK_TIMEOUT, QP_OPT_RTS, SEND_PSN) \
	T(RTS2RTS_QP,   QP_IN(RTS), RTS, 0, QP_OPT_ALL, NOTHING) \
	T(SQERR2RTS_QP, QP_IN(SQER), RTS, 0, QP_OPT_ACCESS | QP_OPT_BIT_QKEY | QP_OPT_BIT_MIN_RNR, NOTHING) \
	T(RTS2SQD_QP,   QP_IN(RTS), SQD_BUSY, 0, 0, NOTHING) \
	T(SQD2SQD_QP,   QP_IN(SQD), SQD, 0, QP_OPT_ALL, NOTHING) \
	T(SQD2RTS_QP,   QP_IN(SQD) | QP_IN(SQD_BUSY), RTS, 0, QP_OPT_RTS, NOTHING) \
	T(2ERR_QP,      QP_IN_ANY, ERR, 0, 0, NOTHING) \
	T(2RST_QP,      QP_IN_ANY, RST, 0, 0, NOTHING)

/* clang-format on */

struct qp_transition {
	enum hcr_op op;
	uint8_t from;      /* bit n: may start from QP state n */
	enum qp_state to;  /* for RTS2SQD: draining; the QP is drained when its send queue is */
	uint32_t always;   /* opt bits taken regardless of opt_mask */
	uint32_t optional; /* opt bits taken when opt_mask has them */
	enum qp_take take;
};

#define QP_IN(state) (1 << QP_STATE_##state)
#define QP_IN_ANY    0xff

#define QP_TRANSITION_ROW(cmd, states, next, forced, by_mask, group)                               \
	{HCR_##cmd,           (states),       QP_STATE_##next, (uint32_t)(forced),                 \
	 (uint32_t)(by_mask), QP_TAKE_##group},

/* Row of a QP transition command, or NULL when the opcode is none. */
static inline const struct qp_transition *qp_transition_find(uint32_t op)
{
	static const struct qp_transition rows[] = {QP_TRANSITIONS(QP_TRANSITION_ROW)};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		if ((uint32_t)rows[i].op == op)
			return &rows[i];
	return NULL;
}

/* Opt bits to take from a transition's mailbox. */
static inline uint32_t qp_transition_opts(const struct qp_transition *t, uint32_t service,
					  uint32_t opt_mask)
{
	return (t->always | (t->optional & opt_mask)) & qp_service_opts(service);
}

#endif
