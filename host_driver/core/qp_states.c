// SPDX-License-Identifier: Apache-2.0
/* Which attributes each state transition of a queue pair must and may have, by its type (IBA
 * vol. 1, table 91). For XRC the rows are those of Linux. */
#include "host_driver/core/include/rdma/ib_verbs.h"
#include "model/interface/macros.h"

/* The QP types of a row. */
enum {
	UD = 1 << 0,
	UC = 1 << 1,
	RC = 1 << 2,
	XI = 1 << 3,
	XT = 1 << 4,
	MAD = 1 << 5, /* QP0 and QP1 */
	CONN = UC | RC | XI | XT,
	ALL = CONN | UD | MAD,
};

enum {
	INIT_COMMON = IB_QP_PKEY_INDEX | IB_QP_PORT,
	RTR_COMMON = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
	RTR_RESPONDER = RTR_COMMON | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	RTS_REQUESTER = IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC,
	/* may change in RTR and RTS */
	RUN = IB_QP_CUR_STATE | IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PATH_MIG_STATE,
	RUN_RESPONDER = RUN | IB_QP_MIN_RNR_TIMER,
	RUN_DATAGRAM = IB_QP_CUR_STATE | IB_QP_QKEY,
	/* may also change in SQD */
	SQD_UC = IB_QP_AV | IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX |
		 IB_QP_PATH_MIG_STATE,
	SQD_CONN = SQD_UC | IB_QP_PORT | IB_QP_TIMEOUT,
	SQD_REQUESTER = IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
	SQD_RESPONDER = IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
};

struct row {
	enum ib_qp_state from, to;
	unsigned types, required, optional;
};

static const struct row rows[] = {
	{IB_QPS_RESET, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_RESET, IB_QPS_INIT, UD, INIT_COMMON | IB_QP_QKEY, 0},
	{IB_QPS_RESET, IB_QPS_INIT, CONN, INIT_COMMON | IB_QP_ACCESS_FLAGS, 0},
	{IB_QPS_RESET, IB_QPS_INIT, MAD, IB_QP_PKEY_INDEX | IB_QP_QKEY, 0},

	{IB_QPS_INIT, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_INIT, IB_QPS_ERR, ALL, 0, 0},
	{IB_QPS_INIT, IB_QPS_INIT, UD, 0, INIT_COMMON | IB_QP_QKEY},
	{IB_QPS_INIT, IB_QPS_INIT, CONN, 0, INIT_COMMON | IB_QP_ACCESS_FLAGS},
	{IB_QPS_INIT, IB_QPS_INIT, MAD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{IB_QPS_INIT, IB_QPS_RTR, UD | MAD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{IB_QPS_INIT, IB_QPS_RTR, UC | XI, RTR_COMMON,
	 IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX},
	{IB_QPS_INIT, IB_QPS_RTR, RC | XT, RTR_RESPONDER,
	 IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX},

	{IB_QPS_RTR, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_RTR, IB_QPS_ERR, ALL, 0, 0},
	{IB_QPS_RTR, IB_QPS_RTS, UD | MAD, IB_QP_SQ_PSN, RUN_DATAGRAM},
	{IB_QPS_RTR, IB_QPS_RTS, UC, IB_QP_SQ_PSN, RUN},
	{IB_QPS_RTR, IB_QPS_RTS, RC, RTS_REQUESTER, RUN_RESPONDER},
	{IB_QPS_RTR, IB_QPS_RTS, XI, RTS_REQUESTER, RUN},
	{IB_QPS_RTR, IB_QPS_RTS, XT, IB_QP_SQ_PSN | IB_QP_TIMEOUT, RUN_RESPONDER},

	{IB_QPS_RTS, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_RTS, IB_QPS_ERR, ALL, 0, 0},
	{IB_QPS_RTS, IB_QPS_RTS, UD | MAD, 0, RUN_DATAGRAM},
	{IB_QPS_RTS, IB_QPS_RTS, UC | XI, 0, RUN},
	{IB_QPS_RTS, IB_QPS_RTS, RC | XT, 0, RUN_RESPONDER},
	{IB_QPS_RTS, IB_QPS_SQD, ALL, 0, IB_QP_EN_SQD_ASYNC_NOTIFY},

	{IB_QPS_SQD, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_SQD, IB_QPS_ERR, ALL, 0, 0},
	{IB_QPS_SQD, IB_QPS_RTS, UD | MAD, 0, RUN_DATAGRAM},
	{IB_QPS_SQD, IB_QPS_RTS, UC | XI, 0, RUN},
	{IB_QPS_SQD, IB_QPS_RTS, RC | XT, 0, RUN_RESPONDER},
	{IB_QPS_SQD, IB_QPS_SQD, UD | MAD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{IB_QPS_SQD, IB_QPS_SQD, UC, 0, SQD_UC},
	{IB_QPS_SQD, IB_QPS_SQD, RC, 0, SQD_CONN | SQD_REQUESTER | SQD_RESPONDER},
	{IB_QPS_SQD, IB_QPS_SQD, XI, 0, SQD_CONN | SQD_REQUESTER},
	{IB_QPS_SQD, IB_QPS_SQD, XT, 0, SQD_CONN | SQD_RESPONDER},

	{IB_QPS_SQE, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_SQE, IB_QPS_ERR, ALL, 0, 0},
	{IB_QPS_SQE, IB_QPS_RTS, UD | MAD, 0, RUN_DATAGRAM},
	{IB_QPS_SQE, IB_QPS_RTS, UC, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS},
	/* these services have no state SQE, so no attribute may change */
	{IB_QPS_SQE, IB_QPS_RTS, RC | XI | XT, 0, 0},

	{IB_QPS_ERR, IB_QPS_RESET, ALL, 0, 0},
	{IB_QPS_ERR, IB_QPS_ERR, ALL, 0, 0},
};

static unsigned type_bit(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_UD:
		return UD;
	case IB_QPT_UC:
		return UC;
	case IB_QPT_RC:
		return RC;
	case IB_QPT_XRC_INI:
		return XI;
	case IB_QPT_XRC_TGT:
		return XT;
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		return MAD;
	}
	return 0;
}

bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to, enum ib_qp_type type,
			unsigned mask)
{
	const unsigned bit = type_bit(type);

	/* The caller may state the present state only where the device may have left it by
	 * itself. */
	if (mask & IB_QP_CUR_STATE && from != IB_QPS_RTR && from != IB_QPS_RTS &&
	    from != IB_QPS_SQD && from != IB_QPS_SQE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if (r->from == from && r->to == to && r->types & bit)
			return (mask & r->required) == r->required &&
			       !(mask & ~(r->required | r->optional | (unsigned)IB_QP_STATE));
	}
	return false;
}
