/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver was asked for, against what it did. An ask is one call of the driver's interface
 * (host_driver/mlx4/mlx4.h) that is under way in a thread. While it lasts, each work request, context
 * and register that the driver gives to the device must say what the caller said; at its end, all
 * that was asked must have been done. So a field that is forgotten is found when it is forgotten,
 * with the function that should have set it.
 *
 * hooks.c makes the asks: in hcasim-checked the linker puts its functions in the place of the
 * driver's. The rest is part of every program, and never called elsewhere.
 */
#ifndef TESTBENCH_DSAN_ASKED_ASKED_H
#define TESTBENCH_DSAN_ASKED_ASKED_H

#include "host_driver/mlx4/mlx4.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rules.h"
#include "testbench/dsan/checker.h"
#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compared;
struct drv_special_send;

enum ask_kind {
	ASK_SENDS,
	ASK_RECEIVES,
	ASK_SRQ_RECEIVES,
	ASK_POLL,
	ASK_ARM,
	ASK_QP_MODIFY,
	ASK_CQ, /* it is made or changed */
	ASK_SRQ_CREATE,
	ASK_REGION,
	ASK_REGION_RIGHTS, /* `number` is the index of its MPT */
	ASK_WINDOW,
	ASK_MAD_IFC,
	ASK_OTHER,
	/* A part of a call, which the driver makes inside: only taken.h knows of it. */
	ASK_INNER,
};

enum { ASK_RELEASED = 16 };

/* An object as its creator asked for it. Numbers that only the driver knows are learned from the
 * first context that has them. */
struct made {
	const void *object;
	const struct checker *c; /* of its host */
	struct made *next;
	uint32_t pdn; /* of a domain or a doorbell page, when pdn_known */
	bool pdn_known;
	struct drv_qp_init init;     /* of a queue pair */
	const struct drv_pd *pd;     /* of a queue pair, SRQ, region, window */
	const struct drv_uar *uar;   /* of a CQ */
	bool stamped;                /* of a CQ: its completions have timestamps */
	const struct drv_cq *cq;     /* of an SRQ */
	const struct drv_xrcd *xrcd; /* of an SRQ */
	bool special; /* a queue pair that is QP0 or QP1 of its port, `special_qpn` */
	unsigned special_qpn;
	uint32_t psn; /* of its next packet, when psn_known */
	bool psn_known;
	unsigned port, access, dest_depth;
	enum ibv_mw_type window_type;
	uint32_t key;                   /* of a region or window: the newest */
	const void *numbers_by;         /* who made the allocator of its number */
	const char *left_call;          /* that destroyed its last user */
	struct calls left_by, reset_by; /* what came by then; when a queue pair was reset */
	struct calls made_by;
};

/* A command as a function of the driver was asked to give it. */
struct wanted {
	bool known;
	uint32_t op, op_mod, in_mod;
	uint64_t in_param, out_param; /* where no mailbox is asked for */
	const void *in;               /* NULL: no input mailbox */
	size_t in_len;
	void *out; /* NULL: no output mailbox */
	size_t out_len;
	uint64_t out_sum; /* of what the caller has there before the call */
	uint64_t begun_ps, timeout_ps;
};

struct ask {
	struct ask *next; /* of any thread, newest first */
	struct checker *c;
	const struct drv_device *dev; /* NULL: not known */
	enum ask_kind kind;
	const char *call; /* the function's name, for reports */
	unsigned thread;
	uint32_t number;                    /* of the QP, CQ or SRQ that it is about */
	uint32_t since, since_recent;       /* the checker's seq and n_recent at its beginning */
	unsigned long since_wrote;          /* wrote_count() then */
	bool followed;                      /* own.c knows the queue */
	bool marks;                         /* wrote.c is on for it */
	bool took;                          /* something that nobody has claimed yet (taken.h) */
	const void *released[ASK_RELEASED]; /* where it gave things back: the first of them */
	unsigned n_released;
	unsigned locks;         /* that its thread held when it began */
	const void *object;     /* that it destroys or changes; NULL: none */
	const void *numbers_by; /* who made the allocator that it took a number from last */
	struct made *made;
	struct {
		const struct drv_send_wr *wr;           /* the next to be given to the device */
		const struct drv_special_send *special; /* a packet of QP0 or QP1, or NULL */
		/* compares its request with it */
		void (*says)(struct compared *c, const uint8_t *wqe,
			     const struct drv_special_send *send);
		unsigned given, rung; /* rung: given when the doorbell was rung last */
	} sends;
	struct {
		const struct drv_recv_wr *wr;
		unsigned given;
	} receives;
	struct {
		uint32_t from, to;     /* indexes that were given back */
		bool index;            /* an index was written */
		unsigned slots;        /* of SRQs that were given back */
		unsigned waiting;      /* completions, when the call began */
		const struct made *cq; /* NULL: not known */
	} poll;
	struct {
		bool solicited, rung;
	} arm;
	struct { /* a command of it was refused, and has not succeeded since; 0: none */
		uint32_t opcode;
		int rc;
		struct calls by;
	} refused;
	struct {                     /* of ASK_INNER: the last one that it gave */
		struct wanted wants; /* what the function was called with that gives it */
		bool given, done;
		bool inside; /* it gave one, or a function that it called did */
		struct hcr hcr;
		uint64_t given_ps, done_ps;
		struct hca_command_answer answer;
		struct calls by; /* where it was given */
	} command;
	struct {
		const struct drv_qp_attr *attr;
		unsigned mask;
		enum ibv_qp_state before;
	} modify;
	struct {
		unsigned entries;
		int vector;
		bool stamped, moderates;
		const struct drv_uar *uar; /* NULL: the kernel's page */
		unsigned max_count, period_us;
	} cq;
	const struct drv_srq_init *srq;
	struct mad_ifc_asked *mad; /* of ASK_MAD_IFC */
	struct {
		const struct drv_pd *pd; /* of an SRQ, too */
		const void *addr;
		const uint64_t *pages;
		uint64_t iova, len;
		unsigned access, max_pages;
		bool physical, fast;
		enum ibv_mw_type type;
	} region;
};

/* Begins an ask of the running thread; what it asks for is filled in behind. p's host has a checker,
 * or nothing is checked. */
void ask_begin(struct ask *a, enum ask_kind kind, const char *call, struct platform *p,
	       uint32_t number);
/* While it lasts, it is noted who stores what on the driver's stack (wrote.h). */
void ask_mark(struct ask *a);
/* Ends it: also when the thread is unwound. */
void ask_drop(struct ask *a);
/* Whether the requests of this queue are followed, so that those not given to the device are missed. */
bool ask_follows(const struct ask *a, enum hca_object type, bool sends);
/* An Ethernet port has other addresses, which are not compared. */
bool ask_on_ethernet(const struct ask *a, unsigned port);
/* The newest ask of the running thread; NULL: there is none. */
struct ask *ask_now(const struct checker *c);
/* Whether the call is about the queue pair with that index: the number of one can have further bits. */
bool ask_is_of_qp(const struct ask *a, uint32_t index);

/* The same, whatever host it is about. */
struct ask *ask_running(void);
/* The number of the running thread of the driver; 0: none runs. */
unsigned ask_thread(void);
/* To whom belongs what the running thread takes now: the newest part of a call (ASK_INNER), else the
 * outermost call; and the one around a part. NULL: there is none. */
struct ask *ask_taker(void);
struct ask *ask_around(const struct ask *inner);
/* Whether the running thread gives a command for a scenario, and not for the driver. */
bool ask_is_raw(void);
/* All of them, the newest first; NULL: the first, or no further one. */
struct ask *ask_each(struct ask *last);
/* The function of the driver that does the call. */
const char *ask_provider(const struct ask *a);
/* A command of the running call has ended so. */
void ask_refusal(const struct ask *command, int rc);
/* The call ends with this result, which it returns: it may not hide that a command was refused. */
int ask_result(struct ask *a, int rc);
/* "in FUNCTION by FUNCTIONS": for reports. */
void ask_names(const struct ask *a, char *text, size_t size);
/* Reports what a call that has ended did not do, with the driver's functions that came by in it. */
void ask_report(const struct ask *a, enum guest_rule rule, struct guest_object object,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* At the end of a call that has not failed before `stopped` (NULL: it posted all). */
void asked_sends_end(struct ask *a, const struct drv_send_wr *first,
		     const struct drv_send_wr *stopped);
/* A request was refused for lack of room in a queue of so many; `tail` is the driver's counter of those that have ended. */
void asked_refused(struct ask *a, bool sends, unsigned room, const uint32_t *tail);
void asked_receives_end(struct ask *a, const struct drv_recv_wr *first,
			const struct drv_recv_wr *stopped);
void asked_poll_begin(struct ask *a, int n);
void asked_poll_end(struct ask *a, int result, const struct drv_wc *wc);
/* The CQ was resized: what is in its new buffer, from its consumer index on. */
void asked_resize_end(struct ask *a,
		      const struct cqe *(*entry)(const struct drv_cq *cq, uint32_t nth),
		      const struct drv_cq *cq);
/* The completions of a queue pair were removed from a CQ: the ask is ASK_POLL. */
void asked_clean_end(struct ask *a, uint32_t qpn);
/* The queue pair of the ask was reset or destroyed: a CQ of it, or NULL. */
void asked_reset_end(struct ask *a, const struct drv_cq *cq);
void asked_arm_end(struct ask *a);

/* QP0 of a port was brought up, or goes. Source: Linux __mlx4_ib_modify_qp opens and closes the port
 * with it. */
void asked_port_check(const struct ask *a, unsigned port, bool up);
/* The rights of a region were changed. */
void asked_rights_end(const struct ask *a);
/* The attributes are those of the queue pair now. */
void asked_modified(struct ask *a);
/* The call that modifies has ended with this result. */
void asked_modify_end(struct ask *a, int rc);
/* So has the one that gave a command (ASK_INNER); returns rc. `out` is what it returns of the
 * answer, or NULL. */
int asked_command_end(struct ask *inner, int rc, const uint64_t *out);
/* The device lives, and the function has returned 0: it must have given the command. */
void asked_command_skipped(const struct ask *inner);

/* --- objects --- */

struct made *made_find(const void *object);
/* A new object in that place: what was known of an older one is forgotten. */
struct made *made_add(const struct ask *a, const void *object);
/* All of a host, whose driver was removed. */
void made_forget(const struct checker *c);
void made_remove(const void *object);
/* A call says that the object is in use. */
void made_users_check(struct ask *a, const void *object);
/* A layer above mlx4 ends, at pc, and its doorbell page stays, for a queue uses it. */
void made_page_stays(struct ask *a, const struct drv_uar *uar, const void *pc);
/* An object is destroyed, which used others. */
void made_leaves(struct ask *a, const struct made *m);
/* Whether other objects may use it: regions, windows and queue pairs are used by none. */
bool made_can_be_used(const struct made *m);
/* The object is destroyed: none that is left may use it. `what` it is. */
void made_unused_check(struct ask *a, const void *object, const char *what);

#endif
