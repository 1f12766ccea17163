/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User verbs for simulated processes: names, structures, arguments and error codes of libibverbs
 * (rdma-core 44; man 3 ibv_*), so that programs written for it compile against this header.
 *
 * Functions are called from the threads of a simulated process (testbench/process.h). Outside of a
 * process there are no devices. There are three differences from a real machine. Memory that an HCA
 * is to access comes from process_memory(), not from malloc, because a simulated host has its own
 * memory; for other memory ibv_reg_mr returns EFAULT. File descriptors (of a channel, of a context,
 * of ibv_open_xrcd) are those of the process: process_open, process_close, process_nonblock,
 * process_poll. Structures have further, private members; their sizes and layouts are not an ABI.
 *
 * Functions that return a pointer return NULL and set errno. Those that return int return 0 or an
 * errno value, unless they say -1. ENODEV: the device is gone. ENOMEM, ENOSPC: memory or numbers of
 * host or device. EIO, ETIMEDOUT: the device. EBUSY: a destroy function has changed nothing,
 * because something still uses the object. If a function fails, outputs are untouched and counts
 * are as before. The kernel's side of a call is finished even if the process is killed during the
 * call.
 *
 * A device may stop: by a catastrophic error, by a command without an answer, or because it did not
 * give an object back and was reset. Each context then gets IBV_EVENT_DEVICE_FATAL. After that,
 * functions that need the device return EIO, and ibv_open_device ENODEV. Existing objects can be
 * destroyed, detached and closed. No more completions come.
 *
 * verbs_ex.h has the extended verbs. verbs_absent.h has functions that the device or its driver
 * does not support, which return EOPNOTSUPP: device memory, null and dma-buf regions, on-demand
 * paging, thread and parent domains. WQs and RSS, tag matching and counters have no names here.
 */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H

#include "host_driver/mlx4/ibv.h" /* states, attribute masks, opcodes, statuses, events */

#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_context;
struct ibv_cq;
struct ibv_qp;
struct ibv_srq;

union ibv_gid {
	uint8_t raw[16];
	struct {
		__be64 subnet_prefix;
		__be64 interface_id;
	} global;
};

/* --- devices and contexts --- */

enum ibv_node_type {
	IBV_NODE_UNKNOWN = -1,
	IBV_NODE_CA = 1,
	IBV_NODE_SWITCH,
	IBV_NODE_ROUTER,
	IBV_NODE_RNIC,
	IBV_NODE_USNIC,
	IBV_NODE_USNIC_UDP,
	IBV_NODE_UNSPECIFIED,
};
enum ibv_transport_type {
	IBV_TRANSPORT_UNKNOWN = -1,
	IBV_TRANSPORT_IB = 0,
	IBV_TRANSPORT_IWARP,
	IBV_TRANSPORT_USNIC,
	IBV_TRANSPORT_USNIC_UDP,
	IBV_TRANSPORT_UNSPECIFIED,
};
enum ibv_atomic_cap { IBV_ATOMIC_NONE, IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };
enum { IBV_LINK_LAYER_UNSPECIFIED, IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_ETHERNET };

enum ibv_device_cap_flags {
	IBV_DEVICE_RESIZE_MAX_WR = 1 << 0,
	IBV_DEVICE_BAD_PKEY_CNTR = 1 << 1,
	IBV_DEVICE_BAD_QKEY_CNTR = 1 << 2,
	IBV_DEVICE_RAW_MULTI = 1 << 3,
	IBV_DEVICE_AUTO_PATH_MIG = 1 << 4,
	IBV_DEVICE_CHANGE_PHY_PORT = 1 << 5,
	IBV_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6,
	IBV_DEVICE_CURR_QP_STATE_MOD = 1 << 7,
	IBV_DEVICE_SHUTDOWN_PORT = 1 << 8,
	IBV_DEVICE_INIT_TYPE = 1 << 9,
	IBV_DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
	IBV_DEVICE_SYS_IMAGE_GUID = 1 << 11,
	IBV_DEVICE_RC_RNR_NAK_GEN = 1 << 12,
	IBV_DEVICE_SRQ_RESIZE = 1 << 13,
	IBV_DEVICE_N_NOTIFY_CQ = 1 << 14,
	IBV_DEVICE_MEM_WINDOW = 1 << 17,
	IBV_DEVICE_UD_IP_CSUM = 1 << 18,
	IBV_DEVICE_XRC = 1 << 20,
	IBV_DEVICE_MEM_MGT_EXTENSIONS = 1 << 21,
	IBV_DEVICE_MEM_WINDOW_TYPE_2A = 1 << 23,
	IBV_DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
	IBV_DEVICE_RC_IP_CSUM = 1 << 25,
	IBV_DEVICE_RAW_IP_CSUM = 1 << 26,
	IBV_DEVICE_MANAGED_FLOW_STEERING = 1 << 29,
};

struct ibv_device {
	enum ibv_node_type node_type;
	enum ibv_transport_type transport_type;
	char name[64];                     /* "mlx4_0" */
	char dev_name[64];                 /* "uverbs0" */
	char dev_path[64], ibdev_path[64]; /* in sysfs, which does not exist here */
};

struct ibv_context {
	struct ibv_device *device;
	int cmd_fd, async_fd; /* async_fd: readable when there is an event */
	int num_comp_vectors;
};

struct ibv_device_attr {
	char fw_ver[64];
	__be64 node_guid, sys_image_guid;
	uint64_t max_mr_size, page_size_cap;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	int max_qp, max_qp_wr;
	unsigned int device_cap_flags;
	int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
	int max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom;
	int max_qp_init_rd_atom, max_ee_init_rd_atom;
	enum ibv_atomic_cap atomic_cap;
	int max_ee, max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp;
	int max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
	int max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay; /* 4.096 us * 2^n */
	uint8_t phys_port_cnt;
};

struct ibv_port_attr {
	enum ibv_port_state state;
	enum ibv_mtu max_mtu, active_mtu;
	int gid_tbl_len;
	uint32_t port_cap_flags;
	uint32_t max_msg_sz; /* bytes */
	uint32_t bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len;
	uint16_t lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply;
	uint8_t active_width, active_speed; /* as PortInfo codes them */
	uint8_t phys_state, link_layer, flags;
	uint16_t port_cap_flags2;
};

/* A NULL-terminated array of the host's devices, to be freed by ibv_free_device_list. ENOSYS:
 * outside of a process. `num` may be NULL. A device is valid while a context or a list uses it. */
struct ibv_device **ibv_get_device_list(int *num);
void ibv_free_device_list(struct ibv_device **list);
const char *ibv_get_device_name(struct ibv_device *device);
__be64 ibv_get_device_guid(struct ibv_device *device);

struct ibv_context *ibv_open_device(struct ibv_device *device);
/* Also destroys the objects that are left in it. Returns 0. */
int ibv_close_device(struct ibv_context *context);

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
/* EINVAL: there is no such port or no such index. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);
/* These return -1 and set errno, EINVAL as above. */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
/* The index of the P_Key; -1: not in the table. */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);

/* --- asynchronous events --- */

/* With event_type & IBV_XRC_QP_EVENT_FLAG the event belongs to an XRC receive QP that the process
 * has registered for. The element is then the QP's number. */
#define IBV_XRC_QP_EVENT_FLAG 0x80000000u

struct ibv_async_event {
	union {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_srq *srq;
		int port_num;
		uint32_t xrc_qp_num;
	} element;
	enum ibv_event_type event_type;
};

/* Takes the next event, and sleeps until there is one. -1 with errno EAGAIN: there is none, and the
 * descriptor does not block. Each event must be acknowledged: destroying its object waits for
 * that. */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void ibv_ack_async_event(struct ibv_async_event *event);

/* --- protection domains, memory --- */

struct ibv_pd {
	struct ibv_context *context;
	uint32_t handle;
};

struct ibv_mr {
	struct ibv_context *context;
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

struct ibv_mw_bind_info {
	struct ibv_mr *mr;
	uint64_t addr, length;
	unsigned int mw_access_flags; /* enum ibv_access_flags */
};

struct ibv_mw_bind {
	uint64_t wr_id;
	unsigned int send_flags;
	struct ibv_mw_bind_info bind_info;
};

struct ibv_mw {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t rkey, handle;
	enum ibv_mw_type type;
};

enum ibv_rereg_mr_flags {
	IBV_REREG_MR_CHANGE_TRANSLATION = 1 << 0,
	IBV_REREG_MR_CHANGE_PD = 1 << 1,
	IBV_REREG_MR_CHANGE_ACCESS = 1 << 2,
};

enum ibv_rereg_mr_err_code {
	IBV_REREG_MR_ERR_INPUT = -1,
	IBV_REREG_MR_ERR_DONT_FORK_NEW = -2,
	IBV_REREG_MR_ERR_DO_FORK_OLD = -3,
	IBV_REREG_MR_ERR_CMD = -4,
	IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW = -5,
};

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
int ibv_dealloc_pd(struct ibv_pd *pd);

/* EINVAL: length 0, remote write or atomic without local write, or an access flag that the device
 * does not have. EFAULT: not memory of the simulated host. IBV_ACCESS_RELAXED_ORDERING is accepted
 * and has no effect. */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
/* EINVAL also if hca_va has another offset in its page than addr. */
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			       int access);
/* 0 or enum ibv_rereg_mr_err_code. After IBV_REREG_MR_ERR_CMD with EIO only ibv_dereg_mr is
 * possible. Only IBV_REREG_MR_CHANGE_ACCESS is supported. Other changes return IBV_REREG_MR_ERR_CMD
 * with errno EOPNOTSUPP, unknown flags IBV_REREG_MR_ERR_INPUT. */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access);
/* EBUSY: windows are bound to it. */
int ibv_dereg_mr(struct ibv_mr *mr);

/* EINVAL: no such type. */
struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ibv_dealloc_mw(struct ibv_mw *mw);
/* For windows of type 1. EINVAL: type 2, zero-based access, an area without a region, or a state
 * that does not send; EPERM: window, region and QP are not in the same PD. mw->rkey is the new key
 * after success. A bind that the region does not allow completes with IBV_WC_MW_BIND_ERR. */
int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
static inline uint32_t ibv_inc_rkey(uint32_t rkey)
{
	return (rkey & ~UINT32_C(0xff)) | ((rkey + 1) & 0xff);
}

/* --- completion queues --- */

struct ibv_comp_channel {
	struct ibv_context *context;
	int fd; /* readable when there is an event */
	int refcnt;
};

struct ibv_cq {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	void *cq_context;
	uint32_t handle;
	int cqe;
	uint32_t comp_events_completed, async_events_completed;
};

struct ibv_wc {
	uint64_t wr_id;
	/* unless success, only wr_id, status, qp_num and vendor_err are valid */
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t vendor_err;
	uint32_t byte_len;
	union {
		__be32 imm_data;
		uint32_t invalidated_rkey;
	};
	uint32_t qp_num, src_qp;
	unsigned int wc_flags;
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits;
};

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);
/* EBUSY: a CQ uses it. */
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);
/* EINVAL: cqe is below 1 or above the device's limit, or there is no such vector. */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector);
/* EINVAL: less than it contains, or above the limit. */
int ibv_resize_cq(struct ibv_cq *cq, int cqe);
/* EBUSY: a queue completes into it. Waits until all events that were taken have been
 * acknowledged. */
int ibv_destroy_cq(struct ibv_cq *cq);
/* Number of completions, 0 .. num_entries. Negative: an invalid entry. */
int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Requests one event at the next completion (or at the next solicited or failed one). */
int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* Sleeps until there is an event of a CQ of that channel. -1 with errno EAGAIN as for asynchronous
 * events. */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);

/* --- XRC domains --- */

enum ibv_xrcd_init_attr_mask {
	IBV_XRCD_INIT_ATTR_FD = 1 << 0,
	IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1,
	IBV_XRCD_INIT_ATTR_RESERVED = 1 << 2,
};

struct ibv_xrcd_init_attr {
	uint32_t comp_mask;
	int fd;     /* the file that names the domain for other processes; -1: private */
	int oflags; /* O_CREAT, O_EXCL */
};

struct ibv_xrcd {
	struct ibv_context *context;
	uint32_t handle;
};

/* Opens the domain of that file. EINVAL: fd or oflags is not given, or O_EXCL and the domain
 * exists; EOPNOTSUPP: unknown bits; EBADF: fd; EAGAIN: it does not exist, and O_CREAT is not
 * set. */
struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
/* EBUSY: SRQs, QPs or registrations of the process are in it. When the last process closes the
 * domain, it is destroyed together with its receive QPs. */
int ibv_close_xrcd(struct ibv_xrcd *xrcd);

/* --- shared receive queues --- */

enum ibv_srq_attr_mask { IBV_SRQ_MAX_WR = 1 << 0, IBV_SRQ_LIMIT = 1 << 1 };
enum ibv_srq_type { IBV_SRQT_BASIC, IBV_SRQT_XRC };

enum ibv_srq_init_attr_mask {
	IBV_SRQ_INIT_ATTR_TYPE = 1 << 0,
	IBV_SRQ_INIT_ATTR_PD = 1 << 1,
	IBV_SRQ_INIT_ATTR_XRCD = 1 << 2,
	IBV_SRQ_INIT_ATTR_CQ = 1 << 3,
	IBV_SRQ_INIT_ATTR_TM = 1 << 4,
	IBV_SRQ_INIT_ATTR_RESERVED = 1 << 5,
};

struct ibv_srq_attr {
	uint32_t max_wr, max_sge, srq_limit;
};

struct ibv_srq_init_attr {
	void *srq_context;
	struct ibv_srq_attr attr;
};

struct ibv_srq_init_attr_ex {
	void *srq_context;
	struct ibv_srq_attr attr;
	uint32_t comp_mask;
	enum ibv_srq_type srq_type;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	struct ibv_cq *cq;
};

struct ibv_srq {
	struct ibv_context *context;
	void *srq_context;
	struct ibv_pd *pd;
	uint32_t handle, events_completed;
};

/* On return attr->attr has the actual values. EINVAL: max_wr is 0, or sizes are above the device's;
 * _ex: no PD, a type that the device does not have, or XRC without domain and CQ; EOPNOTSUPP:
 * unknown bits. */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
/* EINVAL: IBV_SRQ_MAX_WR (the device cannot resize), a limit not below the size, or unknown
 * bits. */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
/* For an XRC SRQ. EOPNOTSUPP: another SRQ. */
int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int ibv_destroy_srq(struct ibv_srq *srq);

/* --- address handles --- */

struct ibv_global_route {
	union ibv_gid dgid;
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
};

struct ibv_grh {
	__be32 version_tclass_flow;
	__be16 paylen;
	uint8_t next_hdr, hop_limit;
	union ibv_gid sgid, dgid;
};

struct ibv_ah_attr {
	struct ibv_global_route grh;
	uint16_t dlid;
	uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct ibv_ah {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t handle;
};

/* EINVAL: there is no such port, the SL is above 15, or the port has no such GID index. The library
 * makes the address handle alone, as libmlx4 does: the kernel does not know it, and its PD does not
 * count it. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
/* -1 with errno: the port cannot be queried. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *attr);
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num);
int ibv_destroy_ah(struct ibv_ah *ah);

/* --- queue pairs --- */

struct ibv_xrc_domain;

struct ibv_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct ibv_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
	struct ibv_xrc_domain *xrc_domain; /* of OFED, only for ibv_create_xrc_rcv_qp */
};

enum ibv_qp_init_attr_mask {
	IBV_QP_INIT_ATTR_PD = 1 << 0,
	IBV_QP_INIT_ATTR_XRCD = 1 << 1,
	IBV_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2,
	IBV_QP_INIT_ATTR_MAX_TSO_HEADER = 1 << 3,
	IBV_QP_INIT_ATTR_IND_TABLE = 1 << 4,
	IBV_QP_INIT_ATTR_RX_HASH = 1 << 5,
	IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6,
};

struct ibv_qp_init_attr_ex {
	void *qp_context;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
	uint32_t comp_mask;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	uint32_t create_flags;
	uint16_t max_tso_header;
	uint32_t source_qpn;
	/* enum ibv_qp_create_send_ops_flags, for a QP that uses ibv_wr_* */
	uint64_t send_ops_flags;
};

enum ibv_qp_open_attr_mask {
	IBV_QP_OPEN_ATTR_NUM = 1 << 0,
	IBV_QP_OPEN_ATTR_XRCD = 1 << 1,
	IBV_QP_OPEN_ATTR_CONTEXT = 1 << 2,
	IBV_QP_OPEN_ATTR_TYPE = 1 << 3,
	IBV_QP_OPEN_ATTR_RESERVED = 1 << 4,
};

struct ibv_qp_open_attr {
	uint32_t comp_mask, qp_num;
	struct ibv_xrcd *xrcd;
	void *qp_context;
	enum ibv_qp_type qp_type;
};

struct ibv_qp_attr {
	enum ibv_qp_state qp_state, cur_qp_state;
	enum ibv_mtu path_mtu;
	enum ibv_mig_state path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
	unsigned int qp_access_flags;
	struct ibv_qp_cap cap;
	struct ibv_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t en_sqd_async_notify, sq_draining;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer; /* a code */
	uint8_t port_num;
	uint8_t timeout; /* 4.096 us * 2^n; 0: never */
	uint8_t retry_cnt;
	uint8_t rnr_retry; /* 7: without limit */
	uint8_t alt_port_num, alt_timeout;
	uint32_t rate_limit;
};

struct ibv_qp {
	struct ibv_context *context;
	void *qp_context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	uint32_t handle, qp_num;
	enum ibv_qp_state state; /* the state after this process' last modify or query */
	enum ibv_qp_type qp_type;
	uint32_t events_completed;
};

/* On return cap has the actual values; with an SRQ the receive values are 0. EINVAL: the type,
 * sizes above the device's, missing CQs, an XRC SRQ; _ex: no PD (no XRC domain for
 * IBV_QPT_XRC_RECV), create_flags; EOPNOTSUPP: unknown bits. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Opens a handle of the XRC receive QP with that number. EINVAL: it is not in the domain, or
 * number, domain or type is not given. */
struct ibv_qp *ibv_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);
/*
 * EINVAL: it is not a transition between the seven states, an attribute is missing that the
 * transition requires, there is one that it does not allow (IBA vol. 1, table 91; Linux'
 * ib_modify_qp_is_ok), or a value is out of the device's range. max_dest_rd_atomic and
 * min_rnr_timer of an XRC initiator, and max_rd_atomic and retry counts of an XRC target, are
 * accepted and not used.
 */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
/* All attributes are set, regardless of the mask. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init);
/* EBUSY: it is in a multicast group. Waits until all events that were taken have been acknowledged.
 * For a handle of an XRC receive QP: the QP is destroyed with its last handle. */
int ibv_destroy_qp(struct ibv_qp *qp);
/* EINVAL: not UD, not a multicast GID, or not attached. */
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

#include <infiniband/verbs_wr.h>

const char *ibv_wc_status_str(enum ibv_wc_status status);
const char *ibv_event_type_str(enum ibv_event_type event);
const char *ibv_node_type_str(enum ibv_node_type type);
const char *ibv_port_state_str(enum ibv_port_state state);

#include <infiniband/ofa_verbs.h>
#include <infiniband/verbs_absent.h>
#include <infiniband/verbs_ex.h>

#ifdef __cplusplus
}
#endif

#endif
