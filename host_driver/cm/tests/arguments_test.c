/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments and wrong states, at least one for each function of <rdma/ib_cm.h>,
 * <rdma/ib_sa.h> and <rdma/rdma_cma.h>. Each call returns the error that its header documents, and
 * leaves everything that is held unchanged.
 */
#include "host_driver/cm/tests/cm_rig.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <netdb.h>

enum { TOO_LONG = 225, SERVICE = 77, CODE = 14 };

#define GIVES(call, want)   check(#call, (call), want)
#define FAILS(call, error)  (errno = 0, check(#call, (call) == -1 ? errno : 0, error))
#define NULLS(call, error)  (errno = 0, check(#call, (call) ? 0 : errno, error))
#define KERNEL(call, error) check(#call, PTR_ERR(call), error)

static const uint8_t bytes[TOO_LONG];
static struct sa_path_rec path;

static int nothing(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return 0;
}

/* --- ib_cm --- */

static struct ib_cm_req_param req_param(void)
{
	return (struct ib_cm_req_param){.primary_path = &path,
					.service_id = htobe64(SERVICE),
					.qp_num = 5,
					.qp_type = IB_QPT_RC,
					.remote_cm_response_timeout = CODE,
					.local_cm_response_timeout = CODE};
}

/* `p` is right except for one field. */
static void bad_req(struct ib_cm_id *id, const char *what, const struct ib_cm_req_param *p)
{
	check(what, ib_send_cm_req(id, p), -EINVAL);
	check("it is idle", id->state, IB_CM_IDLE);
}

static void requests(struct ib_cm_id *id)
{
	struct sa_path_rec elsewhere = path, no_pkey = path;
	struct ib_cm_req_param p;

	elsewhere.sgid.raw[15] ^= 0x40;
	no_pkey.pkey = htobe16(0x1234);
#define BAD(field, value)                                                                          \
	p = req_param();                                                                           \
	p.field = value;                                                                           \
	bad_req(id, #field, &p)
	BAD(primary_path, NULL);
	BAD(primary_path, &elsewhere);
	BAD(primary_path, &no_pkey);
	BAD(alternate_path, &no_pkey);
	BAD(alternate_path, &elsewhere);
	BAD(qp_type, IB_QPT_UD);
	BAD(qp_num, 0x1000000);
	BAD(starting_psn, 0x1000000);
	BAD(private_data_len, 5);
	BAD(retry_count, 8);
	BAD(rnr_retry_count, 8);
	BAD(max_cm_retries, 16);
	BAD(remote_cm_response_timeout, 32);
	BAD(local_cm_response_timeout, 32);
#undef BAD
	p = req_param();
	p.private_data = bytes;
	p.private_data_len = IB_CM_REQ_PRIVATE_DATA_SIZE + 1;
	bad_req(id, "private data", &p);
}

static void idle_id(struct ib_cm_id *id)
{
	const struct ib_cm_rep_param rep = {.qp_num = 5};
	const struct ib_cm_sidr_rep_param sidr_rep = {.qp_num = 5};
	struct ib_cm_sidr_req_param sidr = {.service_id = htobe64(SERVICE), .timeout_ms = 1};
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT};
	int mask;

	GIVES(ib_send_cm_rep(id, &rep), -EINVAL);
	GIVES(ib_send_cm_rtu(id, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_dreq(id, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_drep(id, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_mra(id, CODE, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_lap(id, &path, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_lap(id, NULL, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_apr(id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_sidr_rep(id, &sidr_rep), -EINVAL);
	GIVES(ib_send_cm_sidr_req(id, &sidr), -EINVAL); /* no path */
	sidr.path = &path;
	sidr.max_cm_retries = 16;
	GIVES(ib_send_cm_sidr_req(id, &sidr), -EINVAL);
	sidr.max_cm_retries = 0;
	sidr.private_data_len = 1;
	GIVES(ib_send_cm_sidr_req(id, &sidr), -EINVAL);
	GIVES(ib_cm_notify(id, IB_EVENT_COMM_EST), -EINVAL);
	GIVES(ib_cm_notify(id, IB_EVENT_PATH_MIG), -EINVAL);
	GIVES(ib_cm_notify(id, IB_EVENT_QP_FATAL), -EINVAL);
	GIVES(ib_cm_init_qp_attr(id, &attr, &mask), -EINVAL);
	GIVES(ib_cm_listen(id, htobe64(IB_CM_ASSIGN_SERVICE_ID | 1)), -EINVAL);
}

/* An id with a REQ under way. */
static void asking_id(struct ib_cm_id *id)
{
	const struct ib_cm_req_param p = req_param();
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT};
	int mask;

	GIVES(ib_send_cm_req(id, &p), 0);
	GIVES(ib_send_cm_req(id, &p), -EINVAL);
	GIVES(ib_cm_listen(id, htobe64(SERVICE)), -EINVAL);
	GIVES(ib_cm_init_qp_attr(id, &attr, &mask), 0);
	GIVES(mask, IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT);
	attr.qp_state = IB_QPS_RTR;
	GIVES(ib_cm_init_qp_attr(id, &attr, &mask), -EINVAL);
	attr.qp_state = IB_QPS_RTS;
	GIVES(ib_cm_init_qp_attr(id, &attr, &mask), -EINVAL);
	attr.qp_state = IB_QPS_SQD;
	GIVES(ib_cm_init_qp_attr(id, &attr, &mask), -EINVAL);
	GIVES(ib_send_cm_rtu(id, bytes, TOO_LONG), -EINVAL);
	GIVES(ib_send_cm_mra(id, 32, NULL, 0), -EINVAL);
	GIVES(ib_send_cm_mra(id, CODE, bytes, IB_CM_MRA_PRIVATE_DATA_SIZE + 1), -EINVAL);
	GIVES(ib_send_cm_rej(id, IB_CM_REJ_NO_QP, bytes, IB_CM_REJ_ARI_LENGTH + 1, NULL, 0),
	      -EINVAL);
	GIVES(ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, bytes, IB_CM_REJ_PRIVATE_DATA_SIZE + 1),
	      -EINVAL);
	GIVES(ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 1, NULL, 0), -EINVAL);
	GIVES(ib_cm_detach(rig.ib[0]), -EBUSY);
	GIVES(ib_send_cm_rej(id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0), 0);
	GIVES(id->state, IB_CM_IDLE);
}

static void path_came(int status, struct sa_path_rec *resp, unsigned n, void *context)
{
	*(int *)context = status;
}

static int ask(const struct sa_path_rec *rec, ib_sa_comp_mask mask, bool cancel)
{
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	int status = 1, number;

	ib_sa_register_client(&client);
	number = ib_sa_path_rec_get(&client, rig.ib[0], RIG_PORT, rec, mask, 10, GFP_KERNEL,
				    path_came, &status, &query);
	if (cancel)
		ib_sa_cancel_query(number, query);
	while (status > 0)
		rig_sleep(RIG_MS);
	check("queries of the client", client.queries, 0);
	ib_sa_unregister_client(&client);
	return number > 0 ? status : number;
}

static void paths(void)
{
	const ib_sa_comp_mask both = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID;
	struct sa_path_rec rec = path, other = path;
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;

	other.dgid.raw[15] ^= 0x40;
	GIVES(ask(&rec, both, false), 0);
	GIVES(ask(&rec, both, true), -ECANCELED);
	GIVES(ask(&other, both, false), -EINVAL);
	GIVES(ask(&rec, IB_SA_PATH_REC_DGID, false), -EINVAL); /* the source is not given */
	rec.mtu_selector = IB_SA_GT;
	rec.mtu = IB_MTU_4096;
	GIVES(ask(&rec, both | IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU, false), -EINVAL);
	GIVES(ib_sa_path_rec_get(&client, rig.ib[0], 9, &rec, both, 10, GFP_KERNEL, path_came, NULL,
				 &query),
	      -EINVAL);
	sm_sa_stop(rig.sa);
	GIVES(ask(&rec, both, false), -ETIMEDOUT);
	GIVES(sm_sa_start(rig.drv[0], RIG_PORT, 0, &rig.sa), 0);
	GIVES(sm_sa_start(rig.drv[0], RIG_PORT, 0, &rig.sa), -EBUSY);
	GIVES(sm_sa_start(rig.drv[0], 9, 0, &rig.sa), -EINVAL);
}

static void managers(void)
{
	struct ib_cm_counters counters;
	struct ib_cm_id *id = ib_create_cm_id(rig.ib[0], nothing, NULL),
			*other = ib_create_cm_id(rig.ib[0], nothing, NULL);

	GIVES(ib_cm_attach(rig.ib[0]), -EBUSY);
	requests(id);
	idle_id(id);
	asking_id(id);
	GIVES(ib_cm_listen(id, htobe64(SERVICE)), 0);
	GIVES(ib_cm_listen(other, htobe64(SERVICE)), -EBUSY);
	GIVES(ib_cm_listen(other, htobe64(IB_CM_ASSIGN_SERVICE_ID)), 0);
	GIVES(be64toh(other->service_id) != IB_CM_ASSIGN_SERVICE_ID, 1);
	ib_destroy_cm_id(other);
	ib_destroy_cm_id(id);
	GIVES(strcmp(ib_cm_state_name(99), "unknown"), 0);
	GIVES(strcmp(ib_cm_event_name(99), "unknown"), 0);
	GIVES(strcmp(ib_cm_reject_msg(99), "unrecognized reason"), 0);
	GIVES(strcmp(ib_cm_reject_msg(IB_CM_REJ_STALE_CONN), "stale connection"), 0);
	{
		struct cm_device *cm = rig.ib[0]->cm;

		rig.ib[0]->cm = NULL;
		KERNEL(ib_create_cm_id(rig.ib[0], nothing, NULL), -ENODEV);
		GIVES(ib_cm_query_counters(rig.ib[0], &counters), -ENODEV);
		NULLS(rdma_create_event_channel(), ENODEV);
		rig.ib[0]->cm = cm;
	}
}

/* --- rdma_cm --- */

static void ids(struct rdma_event_channel *channel)
{
	struct sockaddr_in own = rig_addr(0, 0), there = rig_addr(1, SERVICE),
			   foreign = {.sin_family = AF_INET}, odd = {.sin_family = AF_UNIX};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_cm_id *id, *other;
	struct rdma_cm_event *event;
	int mask;

	inet_pton(AF_INET, "11.0.9.9", &foreign.sin_addr);
	FAILS(rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB), EPROTONOSUPPORT);
	FAILS(rdma_get_cm_event(channel, &event), EAGAIN);
	FAILS(rdma_ack_cm_event(NULL), EINVAL);
	GIVES(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	GIVES(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&odd), EAFNOSUPPORT);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&foreign), EADDRNOTAVAIL);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&there), EADDRNOTAVAIL);
	FAILS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&odd, 1), EAFNOSUPPORT);
	FAILS(rdma_resolve_route(id, 1), EINVAL);
	FAILS(rdma_create_qp(id, NULL, &qp), EINVAL);
	FAILS(rdma_init_qp_attr(id, &attr, &mask), EINVAL);
	FAILS(rdma_connect(id, NULL), EINVAL);
	FAILS(rdma_accept(id, NULL), EINVAL);
	FAILS(rdma_establish(id), EINVAL);
	FAILS(rdma_reject(id, NULL, 0), EINVAL);
	FAILS(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
	FAILS(rdma_disconnect(id), EINVAL);
	FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, (void *)(uintptr_t)bytes, 4),
	      EINVAL);
	FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, (void *)(uintptr_t)bytes,
			      1),
	      EINVAL);
	FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, "\40", 1), EINVAL);
	FAILS(rdma_set_option(id, RDMA_OPTION_ID, 9, (void *)(uintptr_t)bytes, sizeof(int)),
	      ENOSYS);
	FAILS(rdma_set_option(id, RDMA_OPTION_IB, 1, (void *)(uintptr_t)bytes, 1), ENOSYS);
	FAILS(rdma_get_request(id, &other), EINVAL);
	GIVES(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, "\1\0\0", 4), EINVAL);
	GIVES(rdma_get_src_port(id) != 0, 1);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&own), EINVAL);
	own.sin_port = rdma_get_src_port(id);
	FAILS(rdma_bind_addr(other, (struct sockaddr *)&own), EADDRINUSE);
	FAILS(rdma_listen(other, -1) || rdma_listen(other, 1) ? -1 : 0, EINVAL);
	GIVES(rdma_listen(id, 1), 0);
	FAILS(rdma_listen(id, 1), EINVAL);
	FAILS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 1), EINVAL);
	FAILS(rdma_connect(id, NULL), EINVAL);
	GIVES(rdma_destroy_id(other), 0);
	GIVES(rdma_destroy_id(id), 0);
	GIVES(strcmp(rdma_event_str(99), "UNKNOWN EVENT"), 0);
}

static void addresses(void)
{
	const struct rdma_addrinfo passive = {.ai_flags = RAI_PASSIVE},
				   v6 = {.ai_flags = RAI_FAMILY, .ai_family = AF_INET6};
	struct rdma_addrinfo *res;

	GIVES(rdma_getaddrinfo("nobody", "5", NULL, &res), EAI_NONAME);
	GIVES(rdma_getaddrinfo("11.0.1.1", "port", NULL, &res), EAI_NONAME);
	GIVES(rdma_getaddrinfo("11.0.1.1", "5", &v6, &res), EAI_NONAME);
	FAILS(rdma_getaddrinfo(NULL, NULL, NULL, &res), EINVAL);
	GIVES(rdma_getaddrinfo("11.0.1.1", "5", NULL, &res), 0);
	GIVES(((struct sockaddr_in *)res->ai_dst_addr)->sin_port, htons(5));
	GIVES(((struct sockaddr_in *)res->ai_dst_addr)->sin_addr.s_addr, inet_addr("11.0.1.1"));
	GIVES(res->ai_port_space, RDMA_PS_TCP);
	rdma_freeaddrinfo(res);
	GIVES(rdma_getaddrinfo(NULL, "7", &passive, &res), 0);
	GIVES(((struct sockaddr_in *)res->ai_src_addr)->sin_addr.s_addr, INADDR_ANY);
	rdma_freeaddrinfo(res);
	GIVES(rdma_getaddrinfo("::1", "5", &v6, &res), 0);
	GIVES(res->ai_dst_len, sizeof(struct sockaddr_in6));
	rdma_freeaddrinfo(res);
}

static void await(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(channel, &event))
		rig_sleep(RIG_MS);
	rdma_ack_cm_event(event);
}

static void resolved_ids(struct rdma_event_channel *channel)
{
	struct sockaddr_in there = rig_addr(1, SERVICE);
	struct rdma_conn_param p = {.private_data = bytes, .private_data_len = 57};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_UD};
	struct rdma_cm_id *id;

	GIVES(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	GIVES(rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 100), 0);
	await(channel);
	FAILS(rdma_resolve_route(id, 0), EINVAL);
	FAILS(rdma_connect(id, &p), EINVAL);
	GIVES(rdma_resolve_route(id, 100), 0);
	FAILS(rdma_resolve_route(id, 100), EINVAL);
	await(channel);
	FAILS(rdma_create_qp(id, NULL, &qp), EINVAL);
	qp.qp_type = IBV_QPT_RC;
	FAILS(rdma_connect(id, &p), EINVAL);
	p.private_data_len = 0;
	p.responder_resources = 200; /* more than the device supports */
	FAILS(rdma_connect(id, &p), EINVAL);
	qp.send_cq = qp.recv_cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
	qp.cap = (struct ibv_qp_cap){1, 1, 1, 1, 0};
	GIVES(rdma_create_qp(id, NULL, &qp), 0);
	FAILS(rdma_create_qp(id, NULL, &qp), EINVAL);
	rdma_destroy_qp(id);
	GIVES(ibv_destroy_cq(qp.send_cq), 0);
	/* destroying the id cancels the query under way */
	GIVES(rdma_destroy_id(id), 0);
}

static void run(void)
{
	struct rdma_event_channel *channel;
	struct held before;

	path = (struct sa_path_rec){.sgid = rig.gid[0],
				    .dgid = rig.gid[1],
				    .pkey = htobe16(0xffff),
				    .mtu = IBV_MTU_1024,
				    .packet_life_time = 10,
				    .ib = {.dlid = htobe16(2), .slid = htobe16(1)}};
	look(&before);
	managers();
	paths();
	unchanged(&before, "after all of ib_cm", 0);
	channel = rdma_create_event_channel();
	uv_set_nonblock(&rig.process[0], channel->fd, true);
	ids(channel);
	addresses();
	resolved_ids(channel);
	rdma_destroy_event_channel(channel);
}

static void all_were_tried(void **state)
{
	assert_true(rig.checks > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_wrong),
		cmocka_unit_test(all_were_tried),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
