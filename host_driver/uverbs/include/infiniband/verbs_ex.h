/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extended part of <infiniband/verbs.h>, which includes it: complete device and GID tables,
 * extended CQs that are read field by field, posting by calls instead of structures, rates.
 *
 * Errors are those described there. An unknown bit in a comp_mask or in flags is EINVAL, unless
 * stated otherwise.
 */
#ifndef INFINIBAND_VERBS_EX_H
#define INFINIBAND_VERBS_EX_H

#include <infiniband/verbs.h>

#include <sys/types.h>
#include <time.h>

/* --- devices --- */

enum ibv_odp_general_caps { IBV_ODP_SUPPORT = 1 << 0, IBV_ODP_SUPPORT_IMPLICIT = 1 << 1 };
enum ibv_odp_transport_cap_bits {
	IBV_ODP_SUPPORT_SEND = 1 << 0,
	IBV_ODP_SUPPORT_RECV = 1 << 1,
	IBV_ODP_SUPPORT_WRITE = 1 << 2,
	IBV_ODP_SUPPORT_READ = 1 << 3,
	IBV_ODP_SUPPORT_ATOMIC = 1 << 4,
	IBV_ODP_SUPPORT_SRQ_RECV = 1 << 5,
};
enum ibv_raw_packet_caps {
	IBV_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0,
	IBV_RAW_PACKET_CAP_SCATTER_FCS = 1 << 1,
	IBV_RAW_PACKET_CAP_IP_CSUM = 1 << 2,
	IBV_RAW_PACKET_CAP_DELAY_DROP = 1 << 3,
};
enum ibv_tm_cap_flags { IBV_TM_CAP_RC = 1 << 0 };

#define IBV_DEVICE_RAW_SCATTER_FCS       (1ULL << 34)
#define IBV_DEVICE_PCI_WRITE_END_PADDING (1ULL << 36)

struct ibv_odp_caps {
	uint64_t general_caps;
	struct {
		uint32_t rc_odp_caps, uc_odp_caps, ud_odp_caps;
	} per_transport_caps;
};

struct ibv_tso_caps {
	uint32_t max_tso, supported_qpts;
};

struct ibv_rss_caps {
	uint32_t supported_qpts, max_rwq_indirection_tables, max_rwq_indirection_table_size;
	uint64_t rx_hash_fields_mask;
	uint8_t rx_hash_function;
};

struct ibv_packet_pacing_caps {
	uint32_t qp_rate_limit_min, qp_rate_limit_max, supported_qpts;
};

struct ibv_tm_caps {
	uint32_t max_rndv_hdr_size, max_num_tags, flags, max_ops, max_sge;
};

struct ibv_cq_moderation_caps {
	uint16_t max_cq_count, max_cq_period; /* us */
};

struct ibv_pci_atomic_caps {
	uint16_t fetch_add, swap, compare_swap;
};

/* What the device does not have is 0: all of odp, tso, rss, packet pacing, raw packets, tag
 * matching, device memory, PCI atomics. */
struct ibv_device_attr_ex {
	struct ibv_device_attr orig_attr;
	uint32_t comp_mask;
	struct ibv_odp_caps odp_caps;
	uint64_t completion_timestamp_mask; /* valid bits of ibv_wc_read_completion_ts */
	uint64_t hca_core_clock;            /* kHz: the clock that these timestamps count */
	uint64_t device_cap_flags_ex;
	struct ibv_tso_caps tso_caps;
	struct ibv_rss_caps rss_caps;
	uint32_t max_wq_type_rq;
	struct ibv_packet_pacing_caps packet_pacing_caps;
	uint32_t raw_packet_caps;
	struct ibv_tm_caps tm_caps;
	struct ibv_cq_moderation_caps cq_mod_caps;
	uint64_t max_dm_size;
	struct ibv_pci_atomic_caps pci_atomic_caps;
	uint32_t xrc_odp_caps;
	uint32_t phys_port_cnt_ex;
};

struct ibv_query_device_ex_input {
	uint32_t comp_mask;
};

/* `input` may be NULL. */
int ibv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr);
/* -1: unknown, because the kernel here gives devices no index. */
int ibv_get_device_index(struct ibv_device *device);
/* Whether a mask of capabilities includes that type. */
static inline int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
	return !!(caps & 1u << qpt);
}

enum ibv_gid_type { IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2 };

struct ibv_gid_entry {
	union ibv_gid gid;
	uint32_t gid_index, port_num;
	uint32_t gid_type; /* enum ibv_gid_type */
	uint32_t ndev_ifindex;
};

/* ENODATA: that entry of the table is empty. `flags` must be 0. */
int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		     struct ibv_gid_entry *entry, uint32_t flags);
/* The GIDs of all ports, without empty entries. Returns their number, or -errno (EINVAL: `entries`
 * has no room for all). */
ssize_t ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			    size_t max_entries, uint32_t flags);

/* --- fork(), which a simulated process does not use --- */

enum ibv_fork_status { IBV_FORK_DISABLED, IBV_FORK_ENABLED, IBV_FORK_UNNEEDED };

int ibv_fork_init(void);
enum ibv_fork_status ibv_is_fork_initialized(void); /* IBV_FORK_UNNEEDED */

/* --- rates: static_rate of an address --- */

enum ibv_rate {
	IBV_RATE_MAX = 0,
	IBV_RATE_2_5_GBPS = 2,
	IBV_RATE_5_GBPS = 5,
	IBV_RATE_10_GBPS = 3,
	IBV_RATE_20_GBPS = 6,
	IBV_RATE_30_GBPS = 4,
	IBV_RATE_40_GBPS = 7,
	IBV_RATE_60_GBPS = 8,
	IBV_RATE_80_GBPS = 9,
	IBV_RATE_120_GBPS = 10,
	IBV_RATE_14_GBPS = 11,
	IBV_RATE_56_GBPS = 12,
	IBV_RATE_112_GBPS = 13,
	IBV_RATE_168_GBPS = 14,
	IBV_RATE_25_GBPS = 15,
	IBV_RATE_100_GBPS = 16,
	IBV_RATE_200_GBPS = 17,
	IBV_RATE_300_GBPS = 18,
	IBV_RATE_28_GBPS = 19,
	IBV_RATE_50_GBPS = 20,
	IBV_RATE_400_GBPS = 21,
	IBV_RATE_600_GBPS = 22,
	IBV_RATE_800_GBPS = 23,
	IBV_RATE_1200_GBPS = 24,
};

/* The rate as a multiple of 2.5 Gb/s. -1: there is no such rate, IBV_RATE_MAX, or a rate for which
 * libibverbs has no multiple (14, 56, 112, 168, 25, 100, 200, 300). The conversion back returns
 * IBV_RATE_MAX for any other number. */
int ibv_rate_to_mult(enum ibv_rate rate);
enum ibv_rate mult_to_ibv_rate(int mult);
/* The rate in Mb/s of the lanes, so 14062 for the rate 14. -1 and IBV_RATE_MAX as above. */
int ibv_rate_to_mbps(enum ibv_rate rate);
enum ibv_rate mbps_to_ibv_rate(int mbps);

/* --- time --- */

enum ibv_values_mask { IBV_VALUES_MASK_RAW_CLOCK = 1 << 0, IBV_VALUES_MASK_RESERVED = 1 << 1 };

struct ibv_values_ex {
	uint32_t comp_mask;        /* on input: what is wanted; on return: what was read */
	struct timespec raw_clock; /* tv_nsec: cycles of the device */
};

/* Reads the device's clock directly, without the kernel. Returns 0. A completion's timestamp is the
 * low 48 bits of the same clock. */
int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values);

/* --- extended completion queues --- */

enum ibv_create_cq_wc_flags {
	IBV_WC_EX_WITH_BYTE_LEN = 1 << 0,
	IBV_WC_EX_WITH_IMM = 1 << 1,
	IBV_WC_EX_WITH_QP_NUM = 1 << 2,
	IBV_WC_EX_WITH_SRC_QP = 1 << 3,
	IBV_WC_EX_WITH_SLID = 1 << 4,
	IBV_WC_EX_WITH_SL = 1 << 5,
	IBV_WC_EX_WITH_DLID_PATH_BITS = 1 << 6,
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 1 << 7,
	IBV_WC_EX_WITH_CVLAN = 1 << 8,
	IBV_WC_EX_WITH_FLOW_TAG = 1 << 9,
	IBV_WC_EX_WITH_TM_INFO = 1 << 10,
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11,
};

enum {
	IBV_WC_STANDARD_FLAGS = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
				IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
				IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |
				IBV_WC_EX_WITH_DLID_PATH_BITS,
	IBV_CREATE_CQ_SUP_WC_FLAGS = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
};

enum ibv_cq_init_attr_mask {
	IBV_CQ_INIT_ATTR_MASK_FLAGS = 1 << 0,
	IBV_CQ_INIT_ATTR_MASK_PD = 1 << 1,
};

enum ibv_create_cq_attr_flags {
	IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1 << 0,
	IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN = 1 << 1,
};

struct ibv_cq_init_attr_ex {
	uint32_t cqe;
	void *cq_context;
	struct ibv_comp_channel *channel;
	uint32_t comp_vector;
	uint64_t wc_flags;  /* enum ibv_create_cq_wc_flags: the fields that will be read */
	uint32_t comp_mask; /* enum ibv_cq_init_attr_mask */
	uint32_t flags;     /* enum ibv_create_cq_attr_flags */
	struct ibv_pd *parent_domain;
};

/* Between ibv_start_poll and ibv_end_poll, `status` and `wr_id` belong to the present entry, and
 * ibv_wc_read_* read its other fields. */
struct ibv_cq_ex {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	void *cq_context;
	uint32_t handle;
	int cqe;
	uint32_t comp_events_completed, async_events_completed;
	uint32_t comp_mask;
	enum ibv_wc_status status;
	uint64_t wr_id;
};

struct ibv_poll_cq_attr {
	uint32_t comp_mask;
};

/*
 * EOPNOTSUPP: a wc_flag that is not in IBV_CREATE_CQ_SUP_WC_FLAGS, IGNORE_OVERRUN, or a parent
 * domain; otherwise as ibv_create_cq. The result is also an ibv_cq (ibv_cq_ex_to_cq) and can be
 * polled as one. With timestamps, SLID and SL of a completion are 0, because the timestamp is at
 * their place in the entry.
 */
struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq);
/* 0: there is an entry. ENOENT: there is none, and ibv_end_poll must not be called; EINVAL:
 * comp_mask, or an invalid entry. */
int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
/* Takes the next entry. ENOENT: there is none; ibv_end_poll must still be called. */
int ibv_next_poll(struct ibv_cq_ex *cq);
void ibv_end_poll(struct ibv_cq_ex *cq);

enum ibv_wc_opcode ibv_wc_read_opcode(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_vendor_err(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_byte_len(struct ibv_cq_ex *cq);
__be32 ibv_wc_read_imm_data(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_qp_num(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_src_qp(struct ibv_cq_ex *cq);
unsigned int ibv_wc_read_wc_flags(struct ibv_cq_ex *cq);
uint32_t ibv_wc_read_slid(struct ibv_cq_ex *cq);
uint8_t ibv_wc_read_sl(struct ibv_cq_ex *cq);
uint8_t ibv_wc_read_dlid_path_bits(struct ibv_cq_ex *cq);
/* The time at which the entry was written, in cycles of hca_core_clock. 0: a failed completion, or
 * a CQ without IBV_WC_EX_WITH_COMPLETION_TIMESTAMP. */
uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq);

enum ibv_cq_attr_mask { IBV_CQ_ATTR_MODERATE = 1 << 0, IBV_CQ_ATTR_RESERVED = 1 << 1 };

struct ibv_moderate_cq {
	uint16_t cq_count, cq_period; /* us */
};

struct ibv_modify_cq_attr {
	uint32_t attr_mask;
	struct ibv_moderate_cq moderate;
};

/* Moderation: an event after so many completions or after so long a time. 0 and 0: an event for
 * each completion. EINVAL: no bit, or unknown ones. */
int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/* --- posting by calls: man 3 ibv_wr_post --- */

enum ibv_qp_create_send_ops_flags {
	IBV_QP_EX_WITH_RDMA_WRITE = 1 << 0,
	IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM = 1 << 1,
	IBV_QP_EX_WITH_SEND = 1 << 2,
	IBV_QP_EX_WITH_SEND_WITH_IMM = 1 << 3,
	IBV_QP_EX_WITH_RDMA_READ = 1 << 4,
	IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP = 1 << 5,
	IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 1 << 6,
	IBV_QP_EX_WITH_LOCAL_INV = 1 << 7,
	IBV_QP_EX_WITH_BIND_MW = 1 << 8,
	IBV_QP_EX_WITH_SEND_WITH_INV = 1 << 9,
	IBV_QP_EX_WITH_TSO = 1 << 10,
};

/* The program sets wr_id and wr_flags before each request. */
struct ibv_qp_ex {
	struct ibv_qp qp_base;
	uint64_t comp_mask;
	uint64_t wr_id;
	unsigned int wr_flags; /* enum ibv_send_flags */
};

struct ibv_data_buf {
	void *addr;
	size_t length;
};

/* NULL: the QP was not made with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. (ibv_create_qp_ex returns
 * EOPNOTSUPP for an operation that the type of QP does not have.) */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp);

/* Begins a list of requests. Every ibv_wr_* below adds a request; ibv_wr_set_* applies to the last
 * one. */
void ibv_wr_start(struct ibv_qp_ex *qp);
/* Posts all requests with one doorbell, or none. EINVAL: an operation that was not requested at
 * creation, or an error of ibv_post_send; ENOMEM: no room for all of them. */
int ibv_wr_complete(struct ibv_qp_ex *qp);
void ibv_wr_abort(struct ibv_qp_ex *qp);

void ibv_wr_send(struct ibv_qp_ex *qp);
void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data);
void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);
void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			   __be32 imm_data);
void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			   uint64_t compare, uint64_t swap);
void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			     uint64_t add);
void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *bind_info);
void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);

void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length);
void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list);
/* The bytes are copied at once. */
void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length);
void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
				 const struct ibv_data_buf *buf_list);
void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
			uint32_t remote_qkey);
void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn);

#endif
