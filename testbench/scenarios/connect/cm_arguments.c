/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of connection management that are wrong: numbers beyond their fields, paths that are
 * no path of this device or do not fit together, data that is longer than its room or not there.
 * Each call gives -EINVAL and changes nothing: the same connection is established afterwards. A
 * service has one listener, and a service id that is asked for is a free one. A device without
 * connection management has no ids, and one with ids keeps it.
 */
/* behaviours: IBA-12.9-active IBA-12.9-passive */
#include "host_driver/cm/cma.h"
#include "testbench/connect.h"

enum { SERVICE = 7, CODE = 14, NO_CODE = 32, NO_QPN = 1 << 24, NO_PKEY = 0x8123, NO_VERSION = 3 };

/* The REQ with one member that is wrong. */
#define WRONG(member, value)                                                                       \
	do {                                                                                       \
		struct ib_cm_req_param req_ = *right;                                              \
                                                                                                   \
		req_.member = value;                                                               \
		name_row("%s", #member);                                                           \
		must_fail(-EINVAL, ib_send_cm_req(c->id, &req_));                                  \
		expect_state(c, IB_CM_IDLE);                                                       \
	} while (0)

static void arguments(struct tb *tb, struct conn *c, const struct ib_cm_req_param *right)
{
	const struct sa_path_rec *path = right->primary_path;
	struct sa_path_rec partition = *path, limited = *path, smaller = *path, elsewhere = *path;

	partition.pkey = htobe16(NO_PKEY);
	limited.pkey = htobe16(PKEY_DEFAULT & ~PKEY_FULL_MEMBER);
	smaller.mtu = IBV_MTU_256;
	elsewhere.sgid = path->dgid;
	WRONG(primary_path, NULL);
	WRONG(primary_path, &partition);
	WRONG(primary_path, &elsewhere);
	WRONG(alternate_path, &partition);
	WRONG(alternate_path, &limited);
	WRONG(alternate_path, &smaller);
	WRONG(alternate_path, &elsewhere);
	WRONG(qp_num, NO_QPN);
	WRONG(qp_type, IB_QPT_UD);
	WRONG(starting_psn, NO_QPN);
	WRONG(remote_cm_response_timeout, NO_CODE);
	WRONG(local_cm_response_timeout, NO_CODE);
	WRONG(retry_count, 8);
	WRONG(rnr_retry_count, 8);
	WRONG(max_cm_retries, 16);
	WRONG(private_data_len, 1); /* and no data */
}

static void answers(struct tb *tb, struct conn *server)
{
	uint8_t data[IB_CM_REP_PRIVATE_DATA_SIZE + 1] = {0};
	struct ib_cm_rep_param qpn = {.qp_num = NO_QPN}, psn = {.starting_psn = NO_QPN},
			       rnr = {.rnr_retry_count = 8}, failover = {.failover_accepted = 3},
			       longer = {.private_data = data, .private_data_len = sizeof(data)};

	must_fail(-EINVAL, ib_send_cm_rep(server->id, &qpn));
	must_fail(-EINVAL, ib_send_cm_rep(server->id, &psn));
	must_fail(-EINVAL, ib_send_cm_rep(server->id, &rnr));
	must_fail(-EINVAL, ib_send_cm_rep(server->id, &failover));
	must_fail(-EINVAL, ib_send_cm_rep(server->id, &longer));
	must_fail(-EINVAL, ib_send_cm_mra(server->id, NO_CODE, NULL, 0));
	must_fail(-EINVAL, ib_send_cm_mra(server->id, CODE, NULL, 1));
	must_fail(-EINVAL, ib_send_cm_rej(server->id, IB_CM_REJ_CONSUMER_DEFINED, data,
					  IB_CM_REJ_ARI_LENGTH + 1, NULL, 0));
	must_fail(-EINVAL, ib_send_cm_rej(server->id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, data,
					  IB_CM_REJ_PRIVATE_DATA_SIZE + 1));
	expect_state(server, IB_CM_REQ_RCVD);
}

static void listeners(struct tb *tb, struct tb_end *b)
{
	const uint64_t assigned = IB_CM_ASSIGN_SERVICE_ID;
	struct conn *x = conn_new(b), *y = conn_new(b);

	phase("listeners");
	if (!still_right())
		return;
	must_fail(-EBUSY, ib_cm_listen(x->id, htobe64(SERVICE)));
	must_fail(-EINVAL, ib_cm_listen(x->id, htobe64(assigned | 1)));
	expect_state(x, IB_CM_IDLE);
	must(ib_cm_listen(x->id, htobe64(assigned)));
	must(ib_cm_listen(y->id, htobe64(assigned)));
	expect_equal(be64toh(x->id->service_id) & IB_SERVICE_ID_AGN_MASK, assigned);
	expect_that(be64toh(x->id->service_id), !=, assigned);
	expect_that(x->id->service_id, !=, y->id->service_id);
	conn_end(y);
	conn_end(x);
}

/* What the table of addresses and the version of RoCE take. */
static void addresses(struct tb *tb, struct ib_device *device, bool attached)
{
	const struct sockaddr local = {.sa_family = AF_UNIX};
	const struct sockaddr_in right = {.sin_family = AF_INET};
	const union ib_gid gid = {{0}};

	if (!attached) {
		must_fail(-ENODEV,
			  cma_addr_add(device, (const struct sockaddr *)&right, &gid, 1, true));
		return;
	}
	must_fail(-EAFNOSUPPORT, cma_addr_add(device, &local, &gid, 1, true));
	must_fail(-EINVAL, cma_set_roce_version(device, NO_VERSION));
	must_fail(-EINVAL, cma_set_roce_version(device, 0));
}

static void nobody(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		   const struct drv_mad_addr *from, const struct smp *mad)
{
}

/* Somebody else has the class at the last port: the device has no connection management, and nothing of it. */
static void class_is_taken(struct tb *tb, struct tb_end *a)
{
	struct ib_device *device = ib_device_of(a);
	const unsigned port = device->phys_port_cnt;
	struct ib_cm_counters counters;

	must(drv_mad_serve(a->dev, port, MAD_CLASS_CM, nobody, NULL));
	must_fail(-EBUSY, ib_cm_attach(device));
	must_fail(-ENODEV, ib_cm_query_counters(device, &counters));
	drv_mad_unserve(a->dev, port, MAD_CLASS_CM);
}

SCENARIO(cm_arguments, "wrong arguments of connection management", .no_qps = true,
	 .any_packets = true)
{
	struct conn *listener, *client, *server;
	struct ib_cm_counters counters;
	struct ib_cm_req_param req;
	struct sa_path_rec path;

	must_fail(-ENODEV, ib_cm_query_counters(ib_device_of(a), &counters));
	must_fail(-ENODEV, (int)PTR_ERR(ib_create_cm_id(ib_device_of(a), NULL, NULL)));
	addresses(tb, ib_device_of(a), false);
	class_is_taken(tb, a);
	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	conn_req_param(client, &req, .service = SERVICE, .path = &path);
	if (!still_right())
		return;
	addresses(tb, ib_device_of(a), true);
	must_fail(-EBUSY, ib_cm_attach(ib_device_of(a)));
	must_fail(-EBUSY, ib_cm_detach(ib_device_of(a)));
	arguments(tb, client, &req);
	listeners(tb, b);
	must(ib_send_cm_req(client->id, &req));
	server = conn_accept(listener);
	if (!still_right())
		return;
	answers(tb, server);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
