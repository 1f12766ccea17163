/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of unreliable queue pairs and of XRC: the REQ names the transport service, and the
 * queue pair of each side gets exactly the attributes that this service has.
 */
/* behaviours: IBA-12.9-qp-attributes IBA-12.7-transport-service-type */
#include "testbench/connect.h"

enum { SERVICE = 7 };

static void mask_is(struct tb *tb, struct conn *c, enum ib_qp_state state, int want)
{
	struct ib_qp_attr attr = {.qp_state = state};
	int mask = 0;

	if (!still_right())
		return;
	must(ib_cm_init_qp_attr(c->id, &attr, &mask));
	expect_equal((unsigned)mask, (unsigned)want);
}

SCENARIO(cm_services, "connections of UC and XRC queue pairs", .no_qps = true, .any_packets = true)
{
	const int rtr = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
		  rts = IB_QP_STATE | IB_QP_SQ_PSN,
		  responds = IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
		  requests = IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	struct conn *listener, *client, *server;

	start_cm();
	listener = conn_listen(b, SERVICE);
	phase("UC");
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .type = IB_QPT_UC);
	if (!still_right())
		return;
	expect_equal(server->qp->qp_type, IB_QPT_UC);
	mask_is(tb, client, IB_QPS_RTR, rtr);
	mask_is(tb, client, IB_QPS_RTS, rts);
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	phase("XRC");
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .type = IB_QPT_XRC_INI);
	if (!still_right())
		return;
	expect_equal(server->qp->qp_type, IB_QPT_XRC_TGT);
	mask_is(tb, client, IB_QPS_RTR, rtr);
	mask_is(tb, client, IB_QPS_RTS, rts | requests | IB_QP_TIMEOUT);
	mask_is(tb, server, IB_QPS_RTR, rtr | responds);
	mask_is(tb, server, IB_QPS_RTS, rts | IB_QP_TIMEOUT);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
