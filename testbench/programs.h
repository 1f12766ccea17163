/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that many programs of scenarios need, written with <infiniband/verbs.h>. Each function is
 * one step: it runs in a process (run_in of process.h), takes the struct program as its argument,
 * and returns 0, an errno value, or -1 if a verb returned NULL.
 */
#ifndef TESTBENCH_PROGRAMS_H
#define TESTBENCH_PROGRAMS_H

#include "testbench/process.h"

#include <infiniband/verbs.h>

enum { PROGRAM_BYTES = 4096, PROGRAM_QUEUE = 16, PROGRAM_PSN = 0xfffffe };

struct program {
	/* set by the scenario */
	const char *file;            /* the file that names the XRC domain */
	uint32_t peer_lid, peer_qpn; /* of the other side */
	uint32_t qpn; /* number of the receive QP to open or register; also set by steps */
	uint32_t remote_srqn;
	uint64_t remote_addr; /* for program_write */
	uint32_t rkey;
	unsigned access;             /* access flags of receive QPs; 0: the peer may only send */
	unsigned timeout, retry_cnt; /* of the sender; 0 stands for 14 and 7 */
	uint64_t wr_id;
	/* set by the steps */
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
int program_open_xrcd(void *p); /* XRC domain of p->file, created if it does not exist */
int program_close_xrcd(void *p);
int program_xrc_srq(void *p);   /* p->srq, p->srq_num */
int program_recv(void *p);      /* posts one receive into all of the memory */
int program_sender(void *p);    /* creates p->qp: XRC_SEND, in INIT */
int program_connect(void *p);   /* moves p->qp to RTS, connected to p->peer_lid, p->peer_qpn */
int program_send(void *p);      /* sends all of the memory to p->remote_srqn */
int program_write(void *p);     /* 64 bytes to p->remote_addr */
int program_wait(void *p);      /* one completion into p->wc; its status, ETIMEDOUT after 10 s */
int program_get_event(void *p); /* the next asynchronous event into p->event, acknowledged */

/* Create a receive QP for the sender p->peer_lid, p->peer_qpn; each sets p->qpn. */
int program_alloc_rcv(void *p);  /* ibv_alloc_xrc_rcv_qp */
int program_create_rcv(void *p); /* ibv_create_xrc_rcv_qp and on to RTR */
int program_target(void *p);     /* ibv_create_qp_ex and on to RTR: p->qp */
/* For the receive QP p->qpn. */
int program_reg_rcv(void *p);
int program_unreg_rcv(void *p);
int program_open_target(void *p); /* ibv_open_qp: p->qp */
int program_rcv_to_error(void *p);

/* Counts all resources that a driver holds: object numbers, ICM pages, MTT entries, doorbell records,
 * mailboxes. */
unsigned driver_holds(const struct drv_device *dev);

/* Fills in all attributes that a receive QP needs for INIT and RTR. */
int program_rcv_attr(const struct program *p, struct ibv_qp_attr *attr);

#endif
