/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the kernel's side of user verbs share: one file per context, objects with
 * handles, channels of events. The library's side (verbs_*.c) calls these functions between
 * uv_kernel_enter and uv_kernel_leave.
 *
 * Functions return 0 or -errno. Each call looks its handles up. While a call uses an object, nobody
 * else can destroy it (-EBUSY); while a call destroys an object, nobody else can use it (-EBUSY).
 * -EINVAL: there is no such handle, or it is of another kind.
 */
#ifndef HOST_DRIVER_UVERBS_UVERBS_H
#define HOST_DRIVER_UVERBS_UVERBS_H

#include "host_driver/uverbs/process.h"

#include <infiniband/verbs.h>

enum uv_kind {
	UV_ANY,
	UV_PD,
	UV_MR,
	UV_MW,
	UV_CQ,
	UV_SRQ,
	UV_QP,
	UV_XRCD,
	UV_XRC_RCV, /* a registration for an XRC receive QP */
};

/* An event that a process has not taken yet. */
struct uv_event {
	struct drv_list link; /* in its channel's list */
	struct drv_list
		object;    /* in its object's list: it is dropped when the object is destroyed */
	void *element;     /* the library's structure; NULL: `number` is used */
	uint32_t number;   /* of a port, or of an XRC receive QP */
	uint32_t type;     /* enum ibv_event_type, or'ed with IBV_XRC_QP_EVENT_FLAG */
	unsigned *counter; /* the object's count of reported events */
};

/* A queue of events with a descriptor. */
struct uv_channel {
	struct uv_process *process;
	struct drv_list link; /* in the file's list */
	struct drv_list events;
	int fd;
	unsigned refs; /* its owner, and CQs that use it */
};

/* An XRC domain that processes have open. */
struct uv_domain {
	struct drv_list link; /* in the host's list */
	struct ib_device *device;
	struct ib_xrcd *xrcd;
	struct uv_inode *inode; /* NULL: private */
	unsigned opens;
};

struct uv_object {
	struct drv_list link; /* in the file's list, in order of creation */
	struct uv_file *file;
	enum uv_kind kind;
	uint32_t handle;
	unsigned users; /* calls that use it */
	bool busy;      /* being made or destroyed */
	union {
		struct ib_pd *pd;
		struct ib_mr *mr;
		struct ib_mw *mw;
		struct ib_cq *cq;
		struct ib_srq *srq;
		struct ib_qp *qp;
		struct uv_domain *domain;
	};
	void *user; /* the library's structure, for events */
	struct uv_channel *channel;
	struct uv_object *xrcd; /* the domain that it belongs to */
	unsigned xrcd_users;    /* a domain: number of this process' objects in it */
	struct drv_list comp_events, async_events;
	unsigned comp_reported, async_reported;
	struct drv_list groups; /* a QP: the multicast groups that it is attached to */
};

struct uv_file {
	struct drv_list link; /* in the process' list */
	struct uv_process *process;
	struct ib_device *device;
	struct drv_uar *uar;
	struct drv_list objects;
	struct drv_list channels; /* completion channels */
	uint32_t next_handle;
	unsigned calls; /* under way */
	struct uv_channel *async;
	struct ib_event_handler port_events;
};

/* --- process.c --- */

/* Creating and destroying an XRC domain sleeps. Other callers must find it complete or not at all, so
 * only one call at a time does this. */
void uv_domains_lock(struct uv_host *host);
void uv_domains_unlock(struct uv_host *host);

/* --- file.c --- */

int uvk_open(struct uv_process *process, struct ib_device *device, struct uv_file **file);
/* Destroys the objects that are left in the file. */
void uvk_close(struct uv_file *file);

/* Creates an object that is busy: no call can use it until uv_object_done. NULL: no memory. */
struct uv_object *uv_object_new(struct uv_file *file, enum uv_kind kind, void *user);
/* If rc is 0, makes the object usable and sets *handle; else frees it. Returns rc. */
int uv_object_done(struct uv_object *object, int rc, uint32_t *handle);
/* Pins an object; NULL with *rc set if that is not possible. If *rc is already set by an earlier call,
 * returns NULL without looking anything up. */
struct uv_object *uv_object_get(struct uv_file *file, enum uv_kind kind, uint32_t handle, int *rc);
/* Unpins an object; does nothing for NULL. */
void uv_object_put(struct uv_object *object);

/* What the library needs to know after an object has gone. */
struct uv_reported {
	unsigned comp, async;
};
/* `reported` may be NULL. */
int uvk_destroy(struct uv_file *file, enum uv_kind kind, uint32_t handle,
		struct uv_reported *reported);

/* --- events.c --- */

/* Makes a channel with a descriptor of that kind. 0, -ENOMEM or -EMFILE. */
int uv_channel_create(struct uv_process *process, enum uv_fd_kind kind,
		      struct uv_channel **channel);
void uv_channel_put(struct uv_channel *channel);
/* Takes the first event, and counts it as reported. False: there is none. */
bool uv_channel_take(struct uv_channel *channel, struct uv_event *event);
/* Drops those of an object. */
void uv_events_drop(struct uv_object *object);
/* The handlers of all objects. `context` is the struct uv_object. Interrupt context. */
void uv_comp_handler(struct ib_cq *cq, void *context);
void uv_object_event(struct ib_event *event, void *context);
void uv_port_event(struct ib_event_handler *handler, struct ib_event *event);

/* --- kernel.c: the commands --- */

int uvk_alloc_pd(struct uv_file *file, uint32_t *handle);
int uvk_reg_mr(struct uv_file *file, uint32_t pd, void *addr, uint64_t length, uint64_t iova,
	       unsigned access, struct ibv_mr *mr, struct drv_mr **hw);
int uvk_rereg_mr(struct uv_file *file, uint32_t mr, unsigned access);
int uvk_alloc_mw(struct uv_file *file, uint32_t pd, struct ibv_mw *mw, struct drv_mw **hw);
/* `stamped`: its completions have timestamps. */
int uvk_create_cq(struct uv_file *file, int cqe, struct uv_channel *channel, int vector,
		  bool stamped, struct ibv_cq *cq, struct drv_cq **hw);
/* 0, -ENOMEM or -EMFILE. */
int uvk_create_channel(struct uv_file *file, struct uv_channel **channel);
/* -EBUSY: a CQ uses it. */
int uvk_destroy_channel(struct uv_file *file, struct uv_channel *channel);
int uvk_modify_cq(struct uv_file *file, uint32_t cq, uint16_t count, uint16_t period_us);
int uvk_resize_cq(struct uv_file *file, uint32_t cq, int cqe, int *got);
int uvk_create_srq(struct uv_file *file, struct ibv_srq_init_attr_ex *attr, struct ibv_srq *srq,
		   struct drv_srq **hw);
int uvk_modify_srq(struct uv_file *file, uint32_t srq, const struct ibv_srq_attr *attr, int mask);
int uvk_query_srq(struct uv_file *file, uint32_t srq, struct ibv_srq_attr *attr);
int uvk_create_qp(struct uv_file *file, struct ibv_qp_init_attr_ex *attr, struct ibv_qp *qp,
		  struct drv_qp **hw);
int uvk_open_qp(struct uv_file *file, const struct ibv_qp_open_attr *attr, struct ibv_qp *qp);
int uvk_modify_qp(struct uv_file *file, uint32_t qp, const struct ibv_qp_attr *attr, int mask);
int uvk_query_qp(struct uv_file *file, uint32_t qp, struct ibv_qp_attr *attr,
		 struct ibv_qp_cap *cap);
/* Finds the MAC of an address on an Ethernet port. */
int uvk_resolve_ah(struct uv_file *file, struct drv_ah_attr *ah);
int uvk_mcast(struct uv_file *file, uint32_t qp, const union ib_gid *gid, uint16_t lid,
	      bool attach);
/* Destroys the object. First releases those parts that the RDMA core does not count as users. */
int uvk_object_destroy(struct uv_object *object, bool process_ends);

/* --- xrc.c --- */

int uvk_open_xrcd(struct uv_file *file, int fd, int oflags, uint32_t *handle);
/* -EBUSY: the process has objects in it. */
int uvk_xrcd_destroy(struct uv_object *object);
int uvk_alloc_rcv_qp(struct uv_file *file, uint32_t pd, uint32_t xrcd,
		     const struct ibv_qp_attr *attr, int mask, uint32_t *qpn);
int uvk_create_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t *qpn);
int uvk_modify_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn,
		      const struct ibv_qp_attr *attr, int mask);
int uvk_query_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn, struct ibv_qp_attr *attr,
		     struct ibv_qp_cap *cap);
int uvk_reg_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn);
int uvk_unreg_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn);

/* --- convert.c --- */

void uv_attr_to_ib(const struct ibv_qp_attr *attr, struct ib_qp_attr *ib);
void uv_attr_from_ib(const struct ib_qp_attr *ib, struct ibv_qp_attr *attr);
void uv_ah_to_ib(const struct ibv_ah_attr *attr, struct rdma_ah_attr *ib);
void uv_ah_from_ib(const struct rdma_ah_attr *ib, struct ibv_ah_attr *attr);

#endif
