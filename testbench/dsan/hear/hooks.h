/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that only hcasim-checked has: see hooks.c. */
#ifndef TESTBENCH_DSAN_HEAR_HOOKS_H
#define TESTBENCH_DSAN_HEAR_HOOKS_H

#include "testbench/dsan/asked/asked.h"

#include <rdma/ib_cm.h>

enum { DEVICES = 2 };

/* W(result, name, parameters): the function that callers of the driver's function get. */
#define W(result, name, ...)                                                                       \
	result __real_##name(__VA_ARGS__);                                                         \
	result __wrap_##name(__VA_ARGS__);                                                         \
	result __wrap_##name(__VA_ARGS__)

/* Who has called a wrapped function. */
#define HERE __builtin_return_address(0)
/* A place in a wrapped function, for a report. */
#define INSIDE(function) ((const char *)__real_##function + 1)

/* The result of such a part. `shared`: what it takes belongs to all. */
#define INNER(dev, shared, call)                                                                   \
	({                                                                                         \
		ASK inner;                                                                         \
                                                                                                   \
		ask_begin(&inner, ASK_INNER, __func__, (dev)->p, 0);                               \
		taken_inner_end(&inner, call, shared);                                             \
	})

/* hooks.c. A call that makes an object has ended: what it took belongs to the object, or must be back. Returns
 * rc. */
int hooks_made(struct ask *a, int rc, const void *object);
/* The object is gone, unless rc says that something uses it. Returns rc. */
int hooks_gone(struct ask *a, int rc, const void *object, const char *what);

/* hooks_taken.c: of its host; NULL: nobody is checked. */
struct claims *claims_of(const struct drv_device *dev);

/* hooks_taken.c: looks into a CQ that was resized. */
void cq_was_resized(struct ask *a, const struct drv_cq *cq);

/* posted.c: the core passes these requests on. */
void posted_check(struct checker *c, const struct drv_qp *qp, const struct drv_send_wr *wr);

/* user_posted.c: the library of user verbs passes these requests on. */
void user_posted_check(struct checker *c, const struct drv_qp *qp, const struct drv_send_wr *wr);

/* attributes.c: the driver modifies a queue pair, against what the layer above it was asked for. */
void attributes_modify(struct checker *c, const struct drv_qp *qp, const struct drv_qp_attr *attr,
		       unsigned mask);

/* hooks_core.c: an object has this address, and holds that GID. */
struct ib_device;
struct ib_gid_hold;
struct rdma_ah_attr;
void gid_held_check(const struct ib_device *device, const struct ib_gid_hold *hold,
		    const struct rdma_ah_attr *attr, const void *pc);

/* converted.c: the driver returns these completions. */
void polled_note(const struct drv_wc *wc, int n);

/* page_lists.c: a region's page list was filled for this memory. */
void page_list_check(const struct ask *a, const struct drv_mr *mr, const void *addr, uint64_t len);

/* hooks_managed.c: hears what has to do with management. */
extern const struct watcher hooks_watcher;
/* A call of the driver ends. */
void hooks_call_ends(const struct checker *c);

/* hooks_process.c: a call gets that object of a process; the process is gone. */
struct uv_object;
struct uv_process;
void process_object_given(const struct uv_object *object, const void *pc);
void process_events_forget(const struct uv_process *process);

/* hooks_rdma.c: each listener of the process counts the requests that wait for its program; `pc` is the call
 * behind which they are counted. */
void rdma_backlogs_check(const struct uv_process *process, const void *pc);
/* The program is told of a REQ or REP. In that state of the id nothing answers the message when it comes again.
 * Source: Linux cma_ib_req_handler, cma_ib_handler: ib_send_cm_mra(CMA_CM_MRA_SETTING) */
void rdma_held_up_check(const struct ib_cm_id *cm_id, enum ib_cm_state alone, const void *pc);
/* The message is about to leave: if its user is an id of rdma_cm, that expects the answer. */
void rdma_asks_check(const struct ib_cm_id *cm_id, const char *message);

#define ASK __attribute__((cleanup(ask_drop))) struct ask

#endif
