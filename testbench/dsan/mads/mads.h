/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Management datagrams on QP0 and QP1: what was to be sent, against what the device is given; what
 * came, against what the callers get; and the duties of an agent towards its queue pair.
 */
#ifndef TESTBENCH_DSAN_MADS_MADS_H
#define TESTBENCH_DSAN_MADS_MADS_H

#include "host_driver/mlx4/mad.h"
#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct checker;
struct compared;
struct hca_command_answer;
struct hcr;
struct special;

/* QP0 or QP1 of a port was made; is destroyed; those of a host, whose driver was removed. */
void mads_queue_made(struct checker *c, const struct drv_qp *qp,
		     const struct drv_special_init *init);
void mads_queue_gone(const struct drv_qp *qp);
void mads_forget(const struct checker *c);
/* These attributes are asked for; NULL or another queue pair: nothing is judged. */
void mads_modify(const struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask,
		 const void *pc);
/* A receive was posted; completions were polled; the owner of the CQ goes to sleep. */
void mads_receive_posted(const struct drv_qp *qp, const struct drv_recv_wr *wr, const void *pc);
void mads_polled(const struct checker *c, const struct drv_cq *cq, int n, const struct drv_wc *wc);
void mads_sleeps(const struct drv_cq *cq, const void *pc);

/* A MAD is given to the device; its work request (asked/special.c). */
void mads_sent(const struct drv_qp *qp, const struct drv_special_send *send, const void *pc);
/* It was not sent after all: its buffer is free again. */
void mads_send_refused(const struct drv_qp *qp, const struct drv_special_send *send);
void mads_request_says(struct compared *c, const uint8_t *wqe, const struct drv_special_send *send);

/* The driver is asked to send a MAD; the result of that. */
void mads_asked(struct checker *c, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		const struct smp *mad, const void *pc);
void mads_asked_end(struct checker *c, unsigned port, unsigned qpn, const struct smp *mad, int rc);

/* A caller waits for an answer. */
struct mad_call {
	struct mad_call *next;
	struct special *s; /* NULL: it is not followed */
	const struct smp *request;
	const struct smp *response;
	bool may_leave; /* it is one that the SMI sends */
	bool came;
	uint64_t came_ps;
	struct smp answer;
};
void mads_call(struct mad_call *call, struct checker *c, unsigned port, unsigned qpn,
	       const struct drv_mad_addr *to, const struct smp *request, const void *response);
void mads_call_end(struct mad_call *call, struct ask *a, int rc);
/* Also when the thread is unwound. */
void mads_call_drop(struct mad_call *call);

/* A directed MAD came, or is to leave, and the SMI has looked at it: its hop pointer, its return path, and
 * whether it goes on. */
void mads_hop_check(const struct smp *before, const struct smp *after, unsigned port, bool goes_on,
		    bool leaves, const void *pc);

/* A part of the driver, at `pc`, asks this of a port, and has this answer: no two ports may get the same LID.
 * When it has managed the port and its peer, both have the default P_Key at its place. */
void mads_managed(struct checker *c, unsigned port, const struct smp *request, const void *pc);
void mads_managed_end(struct checker *c, unsigned port, const struct smp *answer, const void *pc);
void mads_swept(struct checker *c, unsigned port, const void *pc);

/* A MAD for the device's own agents. */
struct mad_ifc_asked {
	unsigned port;
	const struct drv_mad_source *source;
	uint8_t in[MAD_BYTES];
	bool given, answered;
	uint32_t token;
	uint8_t answer[MAD_BYTES];
};
void mads_ifc_begin(const struct checker *c, const struct mad_ifc_asked *m, const void *pc);
void mads_ifc_given(struct checker *c, const struct hcr *command);
void mads_ifc_done(struct checker *c, const struct hcr *command,
		   const struct hca_command_answer *answer);
void mads_ifc_end(const struct ask *a, int rc, const void *out);

#endif
