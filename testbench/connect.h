/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for scenarios of connection management, above <rdma/ib_cm.h>. A struct conn is an id with a
 * queue pair of kernel verbs; its handler notes what comes, and the body takes one after the other.
 *
 *	start_cm();
 *	server = conn_listen(b, SERVICE);
 *	client = conn_new(a);
 *	conn_request(client, .service = SERVICE);
 *	child = conn_accept(server);		the REQ has come
 *	conn_reply(child);
 *	expect_cm(client, IB_CM_REP_RECEIVED);
 *
 * What has come and nobody took fails the scenario in conn_end(), which every conn needs.
 */
#ifndef TESTBENCH_CONNECT_H
#define TESTBENCH_CONNECT_H

#include "testbench/process.h"

#include <endian.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cma.h>

enum {
	CONN_EVENTS_MAX = 16,
	CONN_PSN = 0xfffffe,
	CONN_DATA = 224,
	CONN_RESPONSE_TIMEOUT = 16 /* 268 ms */,
	CONN_RETRIES = 3
};

struct conn_event {
	struct ib_cm_event cm; /* its pointers point into this structure */
	struct ib_cm_id *id;
	struct sa_path_rec path, alternate;
	uint8_t data[CONN_DATA], info[IB_CM_REJ_ARI_LENGTH];
	uint64_t time_ps;
};

struct conn {
	struct tb *tb;
	struct tb_end *end;
	struct ib_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_xrcd *xrcd; /* of an XRC target */
	struct ib_qp *qp;
	struct conn_event events[CONN_EVENTS_MAX];
	unsigned first, count;
	struct conn_event last; /* that expect_cm took */
	uint32_t psn;           /* that the peer begins with */
	unsigned comm_est;      /* events of the QP, each told to the id */
};

/* clang-format off */

/* Kernel verbs and connection management at both hosts, subnet administration at a, and a table of the
 * fabric's addresses: port N of host a is 11.0.N.1, of host b 11.0.N.2. Gone at tear-down. */
#define start_cm() tb_start_cm(tb, TB_HERE)
void tb_start_cm(struct tb *tb, const char *here);

/* The path from an end to the other, asked of the administration. */
#define ask_path(end, path) tb_ask_path(tb, TB_HERE, end, path)
void tb_ask_path(struct tb *tb, const char *here, struct tb_end *end, struct sa_path_rec *path);

#define conn_new(end) tb_conn_new(tb, TB_HERE, end)
struct conn *tb_conn_new(struct tb *tb, const char *here, struct tb_end *end);
#define conn_listen(end, service) tb_conn_listen(tb, TB_HERE, end, service)
struct conn *tb_conn_listen(struct tb *tb, const char *here, struct tb_end *end, uint64_t service);
/* Destroys the id, the queue pair and what it stands on. NULL is no matter. */
#define conn_end(conn) tb_conn_end(tb, TB_HERE, conn)
void tb_conn_end(struct tb *tb, const char *here, struct conn *conn);

/* What a REQ says; the queue pair is made first, with that service [RC]. */
struct conn_req {
	uint64_t service;
	const struct sa_path_rec *path, *alternate;	/* [asked for; none] */
	const char *data;
	uint8_t response_timeout, retries;		/* codes of both sides [16: 268 ms; 3] */
	bool peer_to_peer, no_retries;
	enum ib_qp_type type;
	int result;
};
#define CONN_REQ_DEFAULTS .response_timeout = CONN_RESPONSE_TIMEOUT, .retries = CONN_RETRIES
#define conn_req_param(conn, param, ...) tb_conn_req_param(tb, TB_HERE, conn, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__}, param)
void tb_conn_req_param(struct tb *tb, const char *here, struct conn *conn, const struct conn_req *req, struct ib_cm_req_param *param);
#define conn_request(conn, ...) tb_conn_request(tb, TB_HERE, conn, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__})
void tb_conn_request(struct tb *tb, const char *here, struct conn *conn, const struct conn_req *req);
/* Waits for a REQ; the id that came with it, and a queue pair that is taken to RTR. */
#define conn_accept(listener) tb_conn_accept(tb, TB_HERE, listener)
struct conn *tb_conn_accept(struct tb *tb, const char *here, struct conn *listener);
#define conn_reply(conn) tb_conn_reply(tb, TB_HERE, conn)
void tb_conn_reply(struct tb *tb, const char *here, struct conn *conn);
/* REQ, REP, RTU: client is new, listener has the service; returns the server's side. Both in RTS, events taken. */
#define conn_establish(client, listener, ...) tb_conn_establish(tb, TB_HERE, client, listener, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__})
struct conn *tb_conn_establish(struct tb *tb, const char *here, struct conn *client, struct conn *listener, const struct conn_req *req);
/* DREQ by x, DREP by y, TIMEWAIT over at both; events taken. */
#define conn_disconnect(x, y) tb_conn_disconnect(tb, TB_HERE, x, y)
void tb_conn_disconnect(struct tb *tb, const char *here, struct conn *x, struct conn *y);

/* The queue pair to that state, with what ib_cm_init_qp_attr says. */
#define conn_move(conn, state) tb_conn_move(tb, TB_HERE, conn, state)
void tb_conn_move(struct tb *tb, const char *here, struct conn *conn, enum ib_qp_state state);
/* An empty message: the receiver has a receive, the sender sees its completion. */
#define conn_recv(conn) tb_conn_recv(tb, TB_HERE, conn)
#define conn_send(conn) tb_conn_send(tb, TB_HERE, conn)
void tb_conn_recv(struct tb *tb, const char *here, struct conn *conn);
void tb_conn_send(struct tb *tb, const char *here, struct conn *conn);

/* The next event of the id, in conn->last. */
#define expect_cm(conn, type) tb_expect_cm(tb, TB_HERE, conn, type)
void tb_expect_cm(struct tb *tb, const char *here, struct conn *conn, enum ib_cm_event_type type);
#define expect_state(conn, state_) expect_equal(conn ? conn->id->state : state_, state_)

/* A MAD on QP1 in that direction, the nth from now on, is lost (times [1]). */
#define lose_mad(direction, ...) drop_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, __VA_ARGS__)

/* ---- for processes, above <rdma/rdma_cma.h>: 0, or another number ---- */

#define IP_A "11.0.1.1"
#define IP_B "11.0.1.2"
enum { IP_TIMEOUT_MS = 1000, IP_OTHER_EVENT = -1000 };

/* A new listener, at all IPv4 addresses. */
int ip_listen(struct rdma_event_channel *channel, uint16_t port, int backlog, struct rdma_cm_id **listener);
/* A new id, whose address is being resolved. */
int ip_resolve(struct rdma_event_channel *channel, const char *to, uint16_t port, void *context, struct rdma_cm_id **id);
/* An RC queue pair with one request each way; *cq is made if there is none. */
int ip_make_qp(struct rdma_cm_id *id, struct ibv_cq **cq, int entries);
/* The status of the next event, or IP_OTHER_EVENT; *id becomes a CONNECT_REQUEST's. */
int ip_next(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **id);
/* Until something has completed; without success, another number. */
int ip_completion(struct ibv_cq *cq);

#endif
