/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs of scenarios do again and again with <infiniband/verbs.h>, a step a function. Each
 * runs in a process (run_in of process.h), takes the program as its argument, and returns 0, an
 * errno value, or -1 where the verb returned NULL.
 */
#ifndef TESTBENCH_PROGRAMS_H
#define TESTBENCH_PROGRAMS_H

#include "testbench/process.h"

#include <infiniband/verbs.h>

enum { PROGRAM_BYTES = 4096, PROGRAM_QUEUE = 16, PROGRAM_PSN = 0xfffffe };

struct program {
	/* said by the scenario */
	const char *file;            /* of the XRC domain */
	uint32_t peer_lid, peer_qpn; /* of the other side */
	uint32_t qpn;                /* of the receive QP that is created, opened, registered */
	uint32_t remote_srqn;
	uint64_t remote_addr; /* program_write */
	uint32_t rkey;
	unsigned access; /* of receive QPs: what the peer may do; 0: nothing but sends */
	unsigned timeout, retry_cnt; /* of the sender; 0: 14, 7 */
	uint64_t wr_id;
	/* made by the steps */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf; /* PROGRAM_BYTES */
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t srq_num;
	struct ibv_qp *qp; /* the sender's, or a target QP or handle */
	struct ibv_wc wc;
	struct ibv_async_event event;
};

int program_open(void *p);      /* context, PD, CQ, memory with all access */
int program_open_xrcd(void *p); /* of p->file, made if need be */
int program_close_xrcd(void *p);
int program_xrc_srq(void *p);   /* p->srq, p->srq_num */
int program_recv(void *p);      /* one receive of all memory */
int program_sender(void *p);    /* XRC_SEND QP in INIT: p->qp */
int program_connect(void *p);   /* it to RTS, to p->peer_lid, p->peer_qpn */
int program_send(void *p);      /* all memory to p->remote_srqn */
int program_write(void *p);     /* 64 bytes to p->remote_addr */
int program_wait(void *p);      /* one completion into p->wc; its status, ETIMEDOUT after 10 s */
int program_get_event(void *p); /* the next asynchronous event into p->event, acknowledged */

/* Receive sides, for the sender p->peer_lid, p->peer_qpn; each sets p->qpn. */
int program_alloc_rcv(void *p);  /* ibv_alloc_xrc_rcv_qp */
int program_create_rcv(void *p); /* ibv_create_xrc_rcv_qp and on to RTR */
int program_target(void *p);     /* ibv_create_qp_ex and on to RTR: p->qp */
/* Of p->qpn. */
int program_reg_rcv(void *p);
int program_unreg_rcv(void *p);
int program_open_target(void *p); /* ibv_open_qp: p->qp */
int program_rcv_to_error(void *p);

/* What a driver holds of all kinds: numbers, ICM pages, MTT entries, doorbell records, mailboxes. */
unsigned driver_holds(const struct drv_device *dev);

/* The attributes of a receive side, INIT and RTR in one. */
int program_rcv_attr(const struct program *p, struct ibv_qp_attr *attr);

#endif
