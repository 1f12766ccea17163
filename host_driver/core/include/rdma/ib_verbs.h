/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: the objects of a host's RDMA core, their lifetime, and which object uses which.
 * Names, arguments and errors are those of Linux (include/rdma/ib_verbs.h,
 * drivers/infiniband/core/verbs.c). States and their attributes are those of IBA vol. 1, 11.2.5.2
 * and table 91.
 *
 * An object that others use counts its users in `usecnt`. While this is not 0, its destroy function
 * returns -EBUSY and changes nothing. A QP uses its PD, CQs and SRQ; an SRQ its PD, and an XRC SRQ
 * also its domain and CQ; an MR, MW and AH their PD; a multicast membership its QP; an XRC target
 * QP its domain; an opened handle (ib_open_qp) the QP.
 *
 * Functions that create return the object or ERR_PTR(-errno); others return 0 or -errno. A function
 * that fails leaves all counts and the hardware as they were. Any function that executes a command
 * can return -ENOMEM (host memory, ICM, numbers), -EIO, -ETIMEDOUT (device) and -EBUSY. If
 * the device refuses the command of a destroy function, the function frees the object nevertheless
 * and returns 0. The device might go on using the object, so it is reset, as in Linux (mlx4_core's
 * closing commands), and IB_EVENT_DEVICE_FATAL follows.
 *
 * Threads of a host are not preempted: only functions that sleep (commands) let others run. All
 * functions are called from a host thread, unless they say "any context". Handlers (completions,
 * events) run in interrupt context and must not sleep. Integers are in host order unless __be.
 *
 * Work requests and completions (ib_post_send, ib_poll_cq, ...) are in rdma/ib_wr.h, DMA mapping in
 * rdma/ib_dma.h, registration in rdma/ib_mr.h, completion contexts and draining in rdma/ib_cq.h.
 * This header includes these at its end. MR pools are in rdma/mr_pool.h, READ and WRITE contexts in
 * rdma/rw.h.
 */
#ifndef RDMA_IB_VERBS_H
#define RDMA_IB_VERBS_H

#include "host_driver/core/err.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/mlx4.h"
#include "model/interface/contexts.h" /* enum ib_mtu: IB_MTU_256 .. IB_MTU_4096 */

#include <linux/types.h>

struct cm_device;
struct ib_device;
struct ib_pd;
struct ib_xrcd;
struct ib_mr;
struct ib_mw;
struct ib_cq;
struct ib_qp;
struct ib_srq;
struct ib_ah;

/* --- constants with the numbers of libibverbs --- */

union ib_gid {
	uint8_t raw[16];
	struct {
		__be64 subnet_prefix;
		__be64 interface_id;
	} global;
};

enum ib_port_state {
	IB_PORT_NOP = IBV_PORT_NOP,
	IB_PORT_DOWN = IBV_PORT_DOWN,
	IB_PORT_INIT = IBV_PORT_INIT,
	IB_PORT_ARMED = IBV_PORT_ARMED,
	IB_PORT_ACTIVE = IBV_PORT_ACTIVE,
	IB_PORT_ACTIVE_DEFER = IBV_PORT_ACTIVE_DEFER,
};

enum ib_qp_type {
	IB_QPT_SMI,
	IB_QPT_GSI,
	IB_QPT_RC = IBV_QPT_RC,
	IB_QPT_UC = IBV_QPT_UC,
	IB_QPT_UD = IBV_QPT_UD,
	IB_QPT_XRC_INI = IBV_QPT_XRC_SEND,
	IB_QPT_XRC_TGT = IBV_QPT_XRC_RECV,
};

enum ib_qp_state {
	IB_QPS_RESET = IBV_QPS_RESET,
	IB_QPS_INIT = IBV_QPS_INIT,
	IB_QPS_RTR = IBV_QPS_RTR,
	IB_QPS_RTS = IBV_QPS_RTS,
	IB_QPS_SQD = IBV_QPS_SQD,
	IB_QPS_SQE = IBV_QPS_SQE,
	IB_QPS_ERR = IBV_QPS_ERR,
};

enum ib_mig_state {
	IB_MIG_MIGRATED = IBV_MIG_MIGRATED,
	IB_MIG_REARM = IBV_MIG_REARM,
	IB_MIG_ARMED = IBV_MIG_ARMED,
};

enum ib_qp_attr_mask {
	IB_QP_STATE = IBV_QP_STATE,
	IB_QP_CUR_STATE = IBV_QP_CUR_STATE,
	IB_QP_EN_SQD_ASYNC_NOTIFY = IBV_QP_EN_SQD_ASYNC_NOTIFY,
	IB_QP_ACCESS_FLAGS = IBV_QP_ACCESS_FLAGS,
	IB_QP_PKEY_INDEX = IBV_QP_PKEY_INDEX,
	IB_QP_PORT = IBV_QP_PORT,
	IB_QP_QKEY = IBV_QP_QKEY,
	IB_QP_AV = IBV_QP_AV,
	IB_QP_PATH_MTU = IBV_QP_PATH_MTU,
	IB_QP_TIMEOUT = IBV_QP_TIMEOUT,
	IB_QP_RETRY_CNT = IBV_QP_RETRY_CNT,
	IB_QP_RNR_RETRY = IBV_QP_RNR_RETRY,
	IB_QP_RQ_PSN = IBV_QP_RQ_PSN,
	IB_QP_MAX_QP_RD_ATOMIC = IBV_QP_MAX_QP_RD_ATOMIC,
	IB_QP_ALT_PATH = IBV_QP_ALT_PATH,
	IB_QP_MIN_RNR_TIMER = IBV_QP_MIN_RNR_TIMER,
	IB_QP_SQ_PSN = IBV_QP_SQ_PSN,
	IB_QP_MAX_DEST_RD_ATOMIC = IBV_QP_MAX_DEST_RD_ATOMIC,
	IB_QP_PATH_MIG_STATE = IBV_QP_PATH_MIG_STATE,
	IB_QP_CAP = IBV_QP_CAP,
	IB_QP_DEST_QPN = IBV_QP_DEST_QPN,
};

enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE = IBV_ACCESS_LOCAL_WRITE,
	IB_ACCESS_REMOTE_WRITE = IBV_ACCESS_REMOTE_WRITE,
	IB_ACCESS_REMOTE_READ = IBV_ACCESS_REMOTE_READ,
	IB_ACCESS_REMOTE_ATOMIC = IBV_ACCESS_REMOTE_ATOMIC,
	IB_ACCESS_MW_BIND = IBV_ACCESS_MW_BIND,
	IB_ZERO_BASED = IBV_ACCESS_ZERO_BASED,
};

enum ib_event_type {
	IB_EVENT_CQ_ERR = IBV_EVENT_CQ_ERR,
	IB_EVENT_QP_FATAL = IBV_EVENT_QP_FATAL,
	IB_EVENT_QP_REQ_ERR = IBV_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR = IBV_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST = IBV_EVENT_COMM_EST,
	IB_EVENT_SQ_DRAINED = IBV_EVENT_SQ_DRAINED,
	IB_EVENT_PATH_MIG = IBV_EVENT_PATH_MIG,
	IB_EVENT_PATH_MIG_ERR = IBV_EVENT_PATH_MIG_ERR,
	IB_EVENT_DEVICE_FATAL = IBV_EVENT_DEVICE_FATAL,
	IB_EVENT_PORT_ACTIVE = IBV_EVENT_PORT_ACTIVE,
	IB_EVENT_PORT_ERR = IBV_EVENT_PORT_ERR,
	IB_EVENT_LID_CHANGE = IBV_EVENT_LID_CHANGE,
	IB_EVENT_PKEY_CHANGE = IBV_EVENT_PKEY_CHANGE,
	IB_EVENT_SM_CHANGE = IBV_EVENT_SM_CHANGE,
	IB_EVENT_SRQ_ERR = IBV_EVENT_SRQ_ERR,
	IB_EVENT_SRQ_LIMIT_REACHED = IBV_EVENT_SRQ_LIMIT_REACHED,
	IB_EVENT_QP_LAST_WQE_REACHED = IBV_EVENT_QP_LAST_WQE_REACHED,
	IB_EVENT_CLIENT_REREGISTER = IBV_EVENT_CLIENT_REREGISTER,
	IB_EVENT_GID_CHANGE = IBV_EVENT_GID_CHANGE,
};

enum ib_mw_type { IB_MW_TYPE_1 = IBV_MW_TYPE_1, IB_MW_TYPE_2 = IBV_MW_TYPE_2 };
enum ib_srq_type { IB_SRQT_BASIC, IB_SRQT_XRC };
enum ib_srq_attr_mask { IB_SRQ_MAX_WR = 1 << 0, IB_SRQ_LIMIT = 1 << 1 };
enum ib_sig_type { IB_SIGNAL_ALL_WR, IB_SIGNAL_REQ_WR };

/* --- device --- */

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
		unsigned port_num;
	} element;
	enum ib_event_type event;
};

/* Receives events of ports and of the device. Events of an object go to the object's own
 * handler. */
struct ib_event_handler {
	struct ib_device *device;
	void (*handler)(struct ib_event_handler *handler, struct ib_event *event);
	struct drv_list list;
};

#define INIT_IB_EVENT_HANDLER(ptr, device_, handler_)                                              \
	do {                                                                                       \
		(ptr)->device = (device_);                                                         \
		(ptr)->handler = (handler_);                                                       \
		drv_list_init(&(ptr)->list);                                                       \
	} while (0)

/* One for each driver instance; there is no global state. Objects are in its lists until they are
 * destroyed. */
struct ib_device {
	char name[16]; /* "mlx4_0" */
	struct drv_device *drv;
	struct platform *platform;
	struct drv_device_attr attrs;
	unsigned phys_port_cnt, num_comp_vectors;
	struct drv_list event_handlers;
	struct drv_list qps, xrcds;
	unsigned pds, mrs, mws, cqs, srqs, ahs; /* numbers of existing objects */
	struct platform_waitq *waitq;           /* for threads that wait for a done() */
	struct core_softirq *softirq;           /* NULL: no CQ has that context */
	unsigned next_vector;                   /* for ib_alloc_cq_any */
	/* For rdma/rw.h. force_mr: always register, as Linux' rdma_rw.force_mr does. max_sgl_rd:
	 * READs with more scatter entries are registered; 0: no limit. */
	bool rdma_rw_force_mr;
	unsigned max_sgl_rd;
	unsigned xrc_rcv_events;          /* events of receive QPs that belong to no process */
	enum ib_event_type xrc_rcv_event; /* the last of them */
	uint32_t xrc_rcv_event_qpn;
	struct cm_device *cm; /* connection management; NULL: not attached */
	/* the network interfaces of Ethernet ports, by port number; NULL: none */
	struct net_port *netdev[DRV_PORTS_MAX + 1];
};

/* `drv` must be up. Uses drv_event_register(): events of ports, and of objects that do not belong
 * to this layer, are passed on to `event_fn` (may be NULL) in interrupt context. 0 or -ENOMEM. */
int ib_device_create(struct drv_device *drv, const char *name,
		     void (*event_fn)(void *arg, const struct drv_event *event), void *event_arg,
		     struct ib_device **device);
/* -EBUSY: objects are left. The driver stays up. */
int ib_device_destroy(struct ib_device *device);
/* Whether the port is an Ethernet port. */
bool rdma_protocol_roce(const struct ib_device *device, unsigned port);
/* The entry of an Ethernet port's table with this GID, of any VLAN, in this version of RoCE; or
 * -ENOENT. */
int ib_find_roce_gid(const struct ib_device *device, unsigned port, const union ib_gid *gid,
		     unsigned version);
/* Gives an Ethernet port its network interface, which finds the MACs of address handles and queue
 * pairs. NULL: it has none. */
void ib_device_set_netdev(struct ib_device *device, struct net_port *netdev, unsigned port);
/* The number of existing objects of all kinds. */
unsigned ib_device_objects(const struct ib_device *device);

/* Returns 0. The caller owns the handler's memory, and must keep it until the handler is
 * unregistered. */
int ib_register_event_handler(struct ib_event_handler *handler);
void ib_unregister_event_handler(struct ib_event_handler *handler);
const char *ib_event_msg(enum ib_event_type event);

struct ib_port_attr {
	enum ib_port_state state;
	enum ib_mtu max_mtu, active_mtu;
	int gid_tbl_len, pkey_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint32_t lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width;
	uint16_t active_speed;
	uint8_t phys_state;
};

/* -EINVAL: no such port, no such index. */
int ib_query_port(struct ib_device *device, unsigned port, struct ib_port_attr *attr);
int ib_query_gid(struct ib_device *device, unsigned port, int index, union ib_gid *gid);
int ib_query_pkey(struct ib_device *device, unsigned port, unsigned index, uint16_t *pkey);

/* --- protection domains --- */

struct ib_pd {
	struct ib_device *device;
	struct drv_pd *drv;
	unsigned usecnt;
	uint32_t local_dma_lkey; /* key for all mapped memory by bus address */
	/* the region of these keys, if they are not the device's reserved key */
	struct ib_mr *__internal_mr;
	/* IB_PD_UNSAFE_GLOBAL_RKEY: key for the same memory, for peers */
	uint32_t unsafe_global_rkey;
};

enum ib_pd_flags { IB_PD_UNSAFE_GLOBAL_RKEY = 1 };

/* -EINVAL: an unknown flag. */
struct ib_pd *ib_alloc_pd(struct ib_device *device, unsigned flags);
/* For a process: a PD without those keys (in Linux the uverbs call has this effect). */
struct ib_pd *ib_alloc_user_pd(struct ib_device *device);
/* -EBUSY: something uses it. */
int ib_dealloc_pd(struct ib_pd *pd);

/* --- memory --- */

enum ib_mr_type { IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS, IB_MR_TYPE_USER = 3, IB_MR_TYPE_DMA };

struct ib_mr {
	struct ib_device *device;
	struct ib_pd *pd;
	struct drv_mr *drv;
	uint32_t lkey, rkey;
	uint64_t iova, length;
	unsigned page_size;
	enum ib_mr_type type;
	unsigned usecnt;
	/* for ib_alloc_mr */
	unsigned max_pages, npages;
	struct drv_list pool_entry; /* link in an MR pool */
	bool need_inval;            /* a READ or WRITE context has left the region valid */
};

/* A region over user memory [start, start + length) with virtual address virt_addr, which must have
 * the same offset in its page. -EINVAL: length 0, remote write or atomic without local write
 * (C10-56), or an unknown access flag; -EFAULT: not memory of the host. */
struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, void *start, uint64_t length, uint64_t virt_addr,
			     unsigned access);
/* A region over all of the host's mapped memory by bus address. -EINVAL: access, as above. */
struct ib_mr *ib_get_dma_mr(struct ib_pd *pd, unsigned access);
/* -EBUSY: windows are bound to it. */
int ib_dereg_mr(struct ib_mr *mr);

struct ib_mw {
	struct ib_device *device;
	struct ib_pd *pd;
	struct drv_mw *drv;
	uint32_t rkey; /* the key from the allocation; after binds: drv_mw_rkey() */
	enum ib_mw_type type;
};

/* -EINVAL: no such type. */
struct ib_mw *ib_alloc_mw(struct ib_pd *pd, enum ib_mw_type type);
int ib_dealloc_mw(struct ib_mw *mw);

/* --- completion queues --- */

typedef void (*ib_comp_handler)(struct ib_cq *cq, void *cq_context);

enum { IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION = 1 << 0 };

/* The context in which done() functions of requests are called: see rdma/ib_cq.h. */
enum ib_poll_context {
	IB_POLL_SOFTIRQ,
	IB_POLL_WORKQUEUE,
	IB_POLL_UNBOUND_WORKQUEUE, /* same as WORKQUEUE, because a host has one processor */
	IB_POLL_DIRECT,
};

struct ib_cq_init_attr {
	unsigned cqe; /* wanted number of entries */
	unsigned comp_vector;
	uint32_t flags;      /* IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION */
	struct drv_uar *uar; /* doorbell page of a process; NULL: the driver's */
};

struct ib_cq {
	struct ib_device *device;
	struct drv_cq *drv;
	ib_comp_handler comp_handler;
	void (*event_handler)(struct ib_event *event, void *cq_context);
	void *cq_context;
	int cqe; /* actual number of entries */
	unsigned usecnt;
	enum ib_poll_context poll_ctx;
	struct core_poll *poll; /* for ib_alloc_cq, otherwise NULL */
	bool dying;             /* being destroyed: its events are dropped */
};

/* comp_handler (may be NULL) is called for each completion event after ib_req_notify_cq.
 * -EINVAL: cqe 0 or above the device's limit, no such vector, flags. */
struct ib_cq *ib_create_cq(struct ib_device *device, ib_comp_handler comp_handler,
			   void (*event_handler)(struct ib_event *event, void *cq_context),
			   void *cq_context, const struct ib_cq_init_attr *attr);
/* -EINVAL: less than it contains, or above the limit; -EBUSY: a resize is under way. */
int ib_resize_cq(struct ib_cq *cq, int cqe);
/* Moderation: an event after `count` completions or `period` us. */
int ib_modify_cq(struct ib_cq *cq, uint16_t count, uint16_t period);
/* -EBUSY: a queue completes into it. */
int ib_destroy_cq(struct ib_cq *cq);

/* --- XRC domains --- */

struct ib_xrcd {
	struct ib_device *device;
	struct drv_xrcd *drv;
	struct drv_pd *pd; /* for its target QPs, which have no PD of a process */
	struct drv_list link;
	/* SRQs, and handles of target QPs; QPs without a handle are destroyed with the domain */
	unsigned usecnt;
	struct drv_list tgt_qps;
	void *inode; /* the file that names the domain; NULL: none */
};

/* -EOPNOTSUPP: the device has no XRC. */
struct ib_xrcd *ib_alloc_xrcd(struct ib_device *device);
/* -EBUSY: SRQs are in it, or handles of its QPs are open. Target QPs without a handle are
 * destroyed. */
int ib_dealloc_xrcd(struct ib_xrcd *xrcd);

/* --- shared receive queues --- */

struct ib_srq_attr {
	uint32_t max_wr, max_sge, srq_limit;
};

struct ib_srq_init_attr {
	void (*event_handler)(struct ib_event *event, void *srq_context);
	void *srq_context;
	struct ib_srq_attr attr; /* on return: the actual values */
	enum ib_srq_type srq_type;
	struct {
		struct ib_cq *cq;
		struct {
			struct ib_xrcd *xrcd;
		} xrc;
	} ext;
};

struct ib_srq {
	struct ib_device *device;
	struct ib_pd *pd;
	struct drv_srq *drv;
	void (*event_handler)(struct ib_event *event, void *srq_context);
	void *srq_context;
	enum ib_srq_type srq_type;
	unsigned usecnt;
	struct {
		struct ib_cq *cq;
		struct {
			struct ib_xrcd *xrcd;
			uint32_t srq_num;
		} xrc;
	} ext;
	bool dying; /* being destroyed: its events are dropped */
};

/* -EINVAL: max_wr is 0, a size is above the device's limit, or XRC without domain or CQ. */
struct ib_srq *ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *attr);
/* Only IB_SRQ_LIMIT: one event when fewer receives are left; 0 disarms it. -EINVAL: IB_SRQ_MAX_WR
 * (the device cannot resize), a limit not below the size, or an unknown bit. */
int ib_modify_srq(struct ib_srq *srq, const struct ib_srq_attr *attr, unsigned mask);
int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
/* -EBUSY: a QP receives from it. */
int ib_destroy_srq(struct ib_srq *srq);

/* --- address handles --- */

enum ib_ah_flags { IB_AH_GRH = 1 };

struct ib_global_route {
	union ib_gid dgid;
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
};

struct rdma_ah_attr {
	struct ib_global_route grh; /* with IB_AH_GRH */
	unsigned dlid;
	uint8_t sl, src_path_bits, static_rate, port_num, ah_flags;
	struct {
		uint8_t dmac[MAC_BYTES];
	} roce; /* on an Ethernet port */
};

/* The entry of an Ethernet port's GID table that an object uses. Meanwhile the entry's place is given
 * to no other address. */
struct ib_gid_hold {
	struct net_port *netdev; /* NULL: none */
	unsigned index;
};

struct ib_ah {
	struct ib_device *device;
	struct ib_pd *pd;
	struct drv_ah_attr drv;
	struct ib_gid_hold gid;
};

/* Converts an address to the driver's form. -EINVAL: there is no such port, the SL is above 15, or
 * the port has no such GID index. */
int ib_ah_to_drv(const struct ib_device *device, const struct rdma_ah_attr *attr,
		 struct drv_ah_attr *drv);
/* Sets the MAC and the hop limit of an address on an Ethernet port, as Linux's ib_resolve_eth_dmac()
 * does; nothing on an InfiniBand port. -ENODEV: the port has no network interface; otherwise the
 * errors of net_resolve(). */
int ib_resolve_eth_dmac(const struct ib_device *device, struct drv_ah_attr *ah);
/* The same, but the neighbour has that long for an answer, and not a second. */
int ib_resolve_eth_dmac_within(const struct ib_device *device, struct drv_ah_attr *ah,
			       uint64_t within_ps);
/* -EINVAL as above. On an Ethernet port the errors of ib_resolve_eth_dmac(), too. */
struct ib_ah *rdma_create_ah(struct ib_pd *pd, const struct rdma_ah_attr *attr, uint32_t flags);
int rdma_destroy_ah(struct ib_ah *ah, uint32_t flags);

/* --- queue pairs --- */

struct ib_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
	/* number of contexts of rdma/rw.h; the room for their requests is added to max_send_wr */
	uint32_t max_rdma_ctxs;
};

struct ib_qp_init_attr {
	void (*event_handler)(struct ib_event *event, void *qp_context);
	void *qp_context;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd; /* for IB_QPT_XRC_TGT */
	struct ib_qp_cap cap; /* on return: the actual values */
	enum ib_sig_type sq_sig_type;
	enum ib_qp_type qp_type;
	uint32_t port_num; /* with max_rdma_ctxs */
	bool user;         /* a queue pair of a process: no reserved L_Key, no fast registration */
	struct drv_uar *uar; /* as in ib_cq_init_attr */
};

struct ib_qp_attr {
	enum ib_qp_state qp_state, cur_qp_state;
	enum ib_mtu path_mtu;
	enum ib_mig_state path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
	unsigned qp_access_flags;
	struct ib_qp_cap cap;
	struct rdma_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer; /* a code */
	uint8_t port_num, timeout /* 4.096 us * 2^n; 0 never */, retry_cnt, rnr_retry;
	uint8_t alt_port_num, alt_timeout;
};

/* A queue pair, or a further handle of an XRC target QP (then real_qp is another one). */
struct ib_qp {
	struct ib_device *device;
	struct ib_pd *pd; /* NULL: an XRC target */
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct drv_qp *drv;
	struct ib_qp *real_qp;
	struct drv_list open_list; /* of the real QP: its handles; of a handle: its link */
	struct drv_list link;      /* in the device's list */
	struct drv_list xrcd_list; /* in its domain's list of target QPs */
	unsigned usecnt;           /* handles, multicast groups */
	struct drv_list rdma_mrs;  /* pool for rdma/rw.h */
	unsigned mrs_used;         /* number of regions that are taken from its pools */
	unsigned max_write_sge, max_read_sge;
	bool last_wqe; /* the event "last WQE reached" has come since RESET */
	/* an XRC receive QP known only by number, which exists until its domain is closed */
	bool domain_owned;
	void (*event_handler)(struct ib_event *event, void *qp_context);
	void *qp_context;
	uint32_t qp_num;
	unsigned port; /* of the real QP: the port that it was given last; 0: none yet */
	enum ib_qp_type qp_type;
	enum ib_sig_type sq_sig_type;
	bool dying;             /* being destroyed: its events are dropped */
	struct ib_gid_hold gid; /* of the real QP: of its path */
};

/* For an XRC target it returns a handle; the QP itself is destroyed with its last handle. -EINVAL:
 * the type, sizes, a target without domain or another type without CQs, an XRC SRQ, or
 * max_rdma_ctxs for another type than RC. */
struct ib_qp *ib_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr);
/* Opens a further handle of a target QP. -EINVAL: not in that domain, or a QP without handles. */
struct ib_qp *ib_open_qp(struct ib_xrcd *xrcd, uint32_t qp_num,
			 void (*event_handler)(struct ib_event *event, void *qp_context),
			 void *qp_context);
/* Closes a handle; the QP itself stays. -EINVAL: not a handle. */
int ib_close_qp(struct ib_qp *qp);
/* -EBUSY: it is in a multicast group, or regions of its pools are taken. */
int ib_destroy_qp(struct ib_qp *qp);

/*
 * Whether a QP of that type may go from one state to the other with these attributes: all that the
 * transition requires, and none that it does not allow.
 */
bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to, enum ib_qp_type type,
			unsigned mask);
/* -EINVAL: as above, or a port, P_Key index, MTU, depth or timer that the device does not have. */
int ib_modify_qp(struct ib_qp *qp, const struct ib_qp_attr *attr, unsigned mask);
/* Queries the device. `mask` is only a hint: all attributes are set. `init` may be NULL. */
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, unsigned mask,
		struct ib_qp_init_attr *init);

/* -EINVAL: not UD, or not a multicast GID. The device does not use `lid`. */
int ib_attach_mcast(struct ib_qp *qp, const union ib_gid *gid, uint16_t lid);
int ib_detach_mcast(struct ib_qp *qp, const union ib_gid *gid, uint16_t lid);

/* --- XRC receive QPs that belong to no process --- */

/*
 * Makes a receive QP of the domain that is known only by its number. It is in RTR after this call.
 * `attr` has the attributes for INIT and RTR of a target QP together; see ibv_alloc_xrc_rcv_qp. The
 * QP has no handle. It exists until the domain is destroyed (`domain_owned`), and the core logs its
 * events.
 */
int ib_alloc_xrc_rcv_qp(struct ib_xrcd *xrcd, const struct ib_qp_attr *attr, unsigned mask,
			uint32_t *qp_num);

#include "host_driver/core/include/rdma/ib_dma.h"
#include "host_driver/core/include/rdma/ib_wr.h"
#include "host_driver/core/include/rdma/ib_mr.h"
#include "host_driver/core/include/rdma/ib_cq.h"

#endif
