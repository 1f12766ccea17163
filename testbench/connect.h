/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs for scenarios of connection management, built on <rdma/ib_cm.h>. A struct conn is an
 * ib_cm_id with a queue pair of kernel verbs. Its handler records the events that arrive, and the
 * body takes them one by one.
 *
 *	start_cm();
 *	server = conn_listen(b, SERVICE);
 *	client = conn_new(a);
 *	conn_request(client, .service = SERVICE);
 *	child = conn_accept(server);		waits for the REQ
 *	conn_reply(child);
 *	expect_cm(client, IB_CM_REP_RECEIVED);
 *
 * Every conn must be ended with conn_end(), which fails the scenario if an event has not been taken.
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
	struct ib_xrcd *xrcd; /* only with an XRC target queue pair */
	struct ib_qp *qp;
	struct conn_event events[CONN_EVENTS_MAX];
	unsigned first, count;
	struct conn_event last; /* the event that expect_cm took */
	uint32_t psn;           /* first PSN that the peer sends */
	unsigned comm_est;      /* number of COMM_EST events of the QP; each is passed to the id */
};

/* clang-format off */

/* Starts kernel verbs and connection management on both hosts and subnet administration (SA) on a, and
 * gives the ports IP addresses: port N has 11.0.N.1 on host a and 11.0.N.2 on host b. Tear-down ends all this. */
#define start_cm() tb_start_cm(tb, TB_HERE)
void tb_start_cm(struct tb *tb, const char *here);

/* Queries the SA for the path from the end to the other end. */
#define ask_path(end, path) tb_ask_path(tb, TB_HERE, end, path)
void tb_ask_path(struct tb *tb, const char *here, struct tb_end *end, struct sa_path_rec *path);

#define conn_new(end) tb_conn_new(tb, TB_HERE, end)
struct conn *tb_conn_new(struct tb *tb, const char *here, struct tb_end *end);
#define conn_listen(end, service) tb_conn_listen(tb, TB_HERE, end, service)
struct conn *tb_conn_listen(struct tb *tb, const char *here, struct tb_end *end, uint64_t service);
/* Destroys the id, the queue pair, and the queue pair's other objects. Does nothing for NULL. */
#define conn_end(conn) tb_conn_end(tb, TB_HERE, conn)
void tb_conn_end(struct tb *tb, const char *here, struct conn *conn);

/* The contents of a REQ. The queue pair is created first, of the given type [RC]. */
struct conn_req {
	uint64_t service;
	const struct sa_path_rec *path, *alternate;	/* [the answer of the SA; none] */
	const char *data;
	uint8_t response_timeout, retries;		/* of both sides; response_timeout is a code [16: 268 ms; 3] */
	bool peer_to_peer, no_retries;
	enum ib_qp_type type;
	int result;
};
#define CONN_REQ_DEFAULTS .response_timeout = CONN_RESPONSE_TIMEOUT, .retries = CONN_RETRIES
#define conn_req_param(conn, param, ...) tb_conn_req_param(tb, TB_HERE, conn, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__}, param)
void tb_conn_req_param(struct tb *tb, const char *here, struct conn *conn, const struct conn_req *req, struct ib_cm_req_param *param);
#define conn_request(conn, ...) tb_conn_request(tb, TB_HERE, conn, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__})
void tb_conn_request(struct tb *tb, const char *here, struct conn *conn, const struct conn_req *req);
/* Waits for a REQ. Returns a conn with the id of the new connection and a queue pair in RTR. */
#define conn_accept(listener) tb_conn_accept(tb, TB_HERE, listener)
struct conn *tb_conn_accept(struct tb *tb, const char *here, struct conn *listener);
#define conn_reply(conn) tb_conn_reply(tb, TB_HERE, conn)
void tb_conn_reply(struct tb *tb, const char *here, struct conn *conn);
/* Exchanges REQ, REP and RTU between a new client and a listener. Returns the server's side. Both queue pairs are in RTS, and the events are taken. */
#define conn_establish(client, listener, ...) tb_conn_establish(tb, TB_HERE, client, listener, &(const struct conn_req){CONN_REQ_DEFAULTS, __VA_ARGS__})
struct conn *tb_conn_establish(struct tb *tb, const char *here, struct conn *client, struct conn *listener, const struct conn_req *req);
/* x sends a DREQ, y answers with a DREP, and TIMEWAIT passes on both sides. The events are taken. */
#define conn_disconnect(x, y) tb_conn_disconnect(tb, TB_HERE, x, y)
void tb_conn_disconnect(struct tb *tb, const char *here, struct conn *x, struct conn *y);

/* Moves the queue pair to that state, with the attributes from ib_cm_init_qp_attr(). */
#define conn_move(conn, state) tb_conn_move(tb, TB_HERE, conn, state)
void tb_conn_move(struct tb *tb, const char *here, struct conn *conn, enum ib_qp_state state);
/* conn_recv() posts a receive for an empty message; conn_send() sends one and waits for the completion of the send. */
#define conn_recv(conn) tb_conn_recv(tb, TB_HERE, conn)
#define conn_send(conn) tb_conn_send(tb, TB_HERE, conn)
void tb_conn_recv(struct tb *tb, const char *here, struct conn *conn);
void tb_conn_send(struct tb *tb, const char *here, struct conn *conn);

/* Takes the next event of the id, which must have that type, into conn->last. */
#define expect_cm(conn, type) tb_expect_cm(tb, TB_HERE, conn, type)
void tb_expect_cm(struct tb *tb, const char *here, struct conn *conn, enum ib_cm_event_type type);
#define expect_state(conn, state_) expect_equal(conn ? conn->id->state : state_, state_)

/* Drops the next MAD to QP1 in that direction. Further arguments are those of drop_next(), such as .nth and .times. */
#define lose_mad(direction, ...) drop_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, __VA_ARGS__)

/* ---- for processes, built on <rdma/rdma_cma.h>; the functions return 0 for success ---- */

#define IP_A "11.0.1.1"
#define IP_B "11.0.1.2"
enum { IP_TIMEOUT_MS = 1000, IP_OTHER_EVENT = -1000 };

/* Creates a listener at all IPv4 addresses. */
int ip_listen(struct rdma_event_channel *channel, uint16_t port, int backlog, struct rdma_cm_id **listener);
/* Creates an id and starts to resolve its address. */
int ip_resolve(struct rdma_event_channel *channel, const char *to, uint16_t port, void *context, struct rdma_cm_id **id);
/* Creates an RC queue pair with room for one send and one receive, and a CQ if *cq is NULL. */
int ip_make_qp(struct rdma_cm_id *id, struct ibv_cq **cq, int entries);
/* Waits for the next event. Returns its status, or IP_OTHER_EVENT if it is not the wanted one. For a CONNECT_REQUEST *id becomes the new id. */
int ip_next(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_cm_id **id);
/* Waits for a completion. Returns 0 if it was successful. */
int ip_completion(struct ibv_cq *cq);

#endif
