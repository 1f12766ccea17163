/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of an mlx4 (ConnectX-3) HCA: bring-up, memory, queues, work requests, completions,
 * events. One struct drv_device a host; no globals.
 *
 * Functions return 0 or -errno and set outputs only on success, unless they say otherwise. All are
 * called from host threads (not from callbacks in interrupt context, unless marked "any context")
 * and may let simulated time pass. Names of objects, states and attributes are those of libibverbs;
 * ibv.h has the constants. Integers are in host order.
 */
#ifndef HOST_DRIVER_MLX4_MLX4_H
#define HOST_DRIVER_MLX4_MLX4_H

#include "host_driver/mlx4/ibv.h"
#include "host_driver/platform.h"
#include "model/interface/ethernet.h"
#include "model/interface/mailboxes.h"

#include <string.h>

enum { DRV_GID_BYTES = 16, DRV_PORTS_MAX = 2 };

struct drv_device;
struct drv_pd;
struct drv_xrcd;
struct drv_mr;
struct drv_mw;
struct drv_cq;
struct drv_qp;
struct drv_srq;
struct drv_uar;

/* --- device --- */

/* Each member says what its zero means; a struct of zeros gives the ordinary driver. */
struct drv_options {
	/* event queues for completions; 0: 1. The driver takes as many MSI-X vectors, and one for
	 * asynchronous events */
	unsigned comp_vectors;
	bool poll_commands; /* stay in polling mode: no event mode, no NOP test */
	bool no_blueflame;  /* ring the doorbell even for small inline sends */
	/* single requests use BlueFlame even if they are not inline, as in some user libraries;
	 * otherwise only inline ones do */
	bool prefer_blueflame;
	bool no_ports;        /* no agents on QP0 and QP1: ports stay down until drv_port_up */
	unsigned log_eq_size; /* of event queues for completions; 0: 16, as in Linux */
	uint64_t command_timeout_ps; /* 0: 60 s */
	uint64_t post_cost_ps;       /* CPU time of one send posted, charged through the platform */
	uint64_t receive_cost_ps;    /* of one receive */
	uint64_t poll_cost_ps;       /* CPU time of one poll of a completion queue */
	uint64_t packet_cost_ps;     /* of one packet, where the transport is in software */
	/* log2 of table sizes; 0: the sizes of Linux (18, 16, 16, 19, 20) */
	unsigned log_qps, log_cqs, log_srqs, log_mpts, log_mtts;
};

/* Resources that users of the driver had not freed when it was removed; all 0 if they freed
 * everything. drv_remove frees the rest. */
struct drv_leftovers {
	unsigned pds, xrcds, mrs, mws, cqs, srqs, qps;
	unsigned mtts;       /* MTT entries still allocated */
	unsigned icm_pages;  /* pages of ICM held by objects, beyond those mapped at bring-up */
	unsigned db_records; /* doorbell records */
	unsigned mailboxes;  /* command mailboxes */
	unsigned failed_commands; /* commands of the tear-down that failed */
};

/*
 * Brings the device up in the order of the Linux driver. `options` may be NULL. On failure
 * everything is undone. Needs a host thread; takes more than a simulated second (the reset).
 */
int drv_probe(struct platform *p, const struct drv_options *options, struct drv_device **dev);
/* Takes the device down in the reverse order; dev is gone afterwards. Objects that are left are
 * destroyed first, and counted. */
struct drv_leftovers drv_remove(struct drv_device *dev);
/* The same for a dead device: sends it no commands, and only frees the host's memory. */
struct drv_leftovers drv_abandon(struct drv_device *dev);

struct platform *drv_platform(struct drv_device *dev);

struct drv_device_attr {
	char fw_version[32]; /* major.minor.subminor */
	uint64_t node_guid, sys_image_guid;
	unsigned vendor_id, device_id, revision, ports;
	unsigned max_qp, max_qp_wr, max_send_sge, max_recv_sge, max_cq, max_cqe, max_mr, max_pd,
		max_srq, max_srq_wr, max_xrcd;
	unsigned max_rd_atomic, max_dest_rd_atomic;
	unsigned max_sge_rd;                 /* scatter entries of an RDMA READ */
	unsigned max_fast_reg_page_list_len; /* pages that one fast register may name */
	unsigned comp_vectors;
	unsigned gids[DRV_PORTS_MAX + 1], pkeys[DRV_PORTS_MAX + 1]; /* table sizes by port number */
	unsigned local_ack_delay;                                   /* 4.096 us * 2^n */
	uint64_t max_message;
	uint64_t flags;         /* QUERY_DEV_CAP flags, cap_bit(DEV_CAP_x) */
	uint32_t bmme_flags;    /* cap_bit(BMME_x) */
	uint32_t reserved_lkey; /* with BMME_RESERVED_LKEY */
};
int drv_query_device(struct drv_device *dev, struct drv_device_attr *attr);
/* Rate of the core clock. */
int drv_query_clock(struct drv_device *dev, unsigned *mhz);

/* --- ports (numbered from 1) --- */

struct drv_port_attr {
	enum ibv_port_state state;
	unsigned phys_state; /* enum port_phys_state */
	enum ibv_mtu max_mtu, active_mtu;
	unsigned lid, lmc, sm_lid, sm_sl;
	unsigned active_width;                   /* enum link_width */
	unsigned active_speed, active_ext_speed; /* enum link_speed; enum link_ext_speed, 0: none */
	unsigned vl_cap, oper_vls;               /* as PortInfo codes them */
	unsigned gid_count, pkey_count;
	unsigned subnet_timeout;
	uint32_t cap_mask;
	unsigned bad_pkeys, bad_qkeys; /* violation counters */
	uint8_t gid0[DRV_GID_BYTES];
	bool ethernet; /* without LIDs, subnet manager and virtual lanes */
};
int drv_query_port(struct drv_device *dev, unsigned port, struct drv_port_attr *attr);
int drv_query_gid(struct drv_device *dev, unsigned port, unsigned index,
		  uint8_t gid[DRV_GID_BYTES]);
int drv_query_pkey(struct drv_device *dev, unsigned port, unsigned index, uint16_t *pkey);
/* drv_port_up starts the agents on QP0 and QP1 and executes INIT_PORT; drv_port_down executes
 * CLOSE_PORT and stops the agents. drv_probe and drv_remove call them unless options.no_ports. */
int drv_port_up(struct drv_device *dev, unsigned port);
int drv_port_down(struct drv_device *dev, unsigned port);
/* Sleeps until the port is in that state (PortInfo is read again after each port event). 0 or
 * -ETIMEDOUT. */
int drv_port_wait(struct drv_device *dev, unsigned port, enum ibv_port_state state,
		  uint64_t deadline_ps);

/* --- Ethernet ports --- */

enum { DRV_ETH_TABLE = 128 };

/* An entry of the GID table of an Ethernet port. */
struct drv_gid {
	uint8_t raw[DRV_GID_BYTES];
	unsigned version; /* of RoCE: 1 or 2; 0: the entry is empty */
	uint16_t vlan;    /* that packets with this source have, or VLAN_NONE */
};

struct drv_eth_config {
	unsigned mtu; /* of frames, without Ethernet header and FCS */
	bool pause_tx, pause_rx;
	unsigned pfc_tx, pfc_rx; /* bits of priorities */
};

/* What a transport in software counts, by the names of the device's counters (stats.h). -ENOENT: it
 * has no such counter. -EOPNOTSUPP: the transport is in the device, which counts itself. */
int drv_counter(const struct drv_device *dev, const char *stage, const char *counter,
		uint64_t *value);

bool drv_port_is_ethernet(const struct drv_device *dev, unsigned port);
bool drv_has_roce_v2(const struct drv_device *dev);
/* The device tells of what a subnet manager changes in PortInfo, GUIDs and P_Keys. */
bool drv_has_port_events(const struct drv_device *dev);
void drv_eth_mac(const struct drv_device *dev, unsigned port, uint8_t mac[MAC_BYTES]);
/* Gives the port another MAC. The GIDs that are made from the MAC change with it. */
int drv_eth_mac_set(struct drv_device *dev, unsigned port, const uint8_t mac[MAC_BYTES]);
/* Frames without RoCE to the port's MAC, to groups and to all are received by this queue pair, of type
 * IBV_QPT_RAW_PACKET; NULL: they are dropped. */
int drv_eth_receive(struct drv_device *dev, unsigned port, const struct drv_qp *qp);
/* Brings the link of an Ethernet port up or down; the agents of the port do it. */
int drv_eth_open(struct drv_device *dev, unsigned port, bool open);
/* Sets MTU and pause of the port. -EINVAL: the port cannot have them. */
int drv_eth_set(struct drv_device *dev, unsigned port, const struct drv_eth_config *config);
void drv_eth_get(const struct drv_device *dev, unsigned port, struct drv_eth_config *config);
/* Sets an entry of the GID table, NULL: empties it. Raises IBV_EVENT_GID_CHANGE. */
int drv_eth_gid_set(struct drv_device *dev, unsigned port, unsigned index,
		    const struct drv_gid *gid);
/* -ENOENT: the entry is empty. */
int drv_eth_gid_get(const struct drv_device *dev, unsigned port, unsigned index,
		    struct drv_gid *gid);
/* The entry with that GID, version and VLAN, or -ENOENT. */
int drv_eth_gid_find(const struct drv_device *dev, unsigned port, const uint8_t raw[DRV_GID_BYTES],
		     unsigned version, uint16_t vlan);
/* The GIDs in the 40 bytes before a datagram of an Ethernet port. Returns the version of RoCE. */
unsigned drv_eth_grh_parse(const uint8_t *area, uint8_t sgid[DRV_GID_BYTES],
			   uint8_t dgid[DRV_GID_BYTES]);
/* Adds a VLAN to the port's table and its filter, or counts one more user. */
int drv_eth_vlan_get(struct drv_device *dev, unsigned port, unsigned vid, unsigned *index);
void drv_eth_vlan_put(struct drv_device *dev, unsigned port, unsigned index);
/* Its place in the table, or -ENOENT. */
int drv_eth_vlan_index(const struct drv_device *dev, unsigned port, unsigned vid);

/* --- doorbell pages --- */

/* A doorbell page with its BlueFlame buffers. Each process has its own, so that a process that dies
 * during a BlueFlame write does not leave a buffer of another process busy.
 * -ENOMEM: no page is left, or no memory. */
int drv_uar_alloc(struct drv_device *dev, struct drv_uar **uar);
/* -EBUSY while a queue uses it. */
int drv_uar_free(struct drv_uar *uar);

/* --- protection domains, memory --- */

int drv_pd_alloc(struct drv_device *dev, struct drv_pd **pd);
/* -EBUSY: something uses it. */
int drv_pd_free(struct drv_pd *pd);

int drv_xrcd_alloc(struct drv_device *dev, struct drv_xrcd **xrcd);
int drv_xrcd_free(struct drv_xrcd *xrcd);

/*
 * `addr` is the platform's user memory (or pages) with any alignment. It is mapped for the device
 * until deregistration, and is also the virtual address of the region. With IBV_ACCESS_HUGETLB the
 * device uses pages of 2 MiB if the virtual and the bus address have the same offset in such a
 * page.
 */
int drv_mr_reg(struct drv_pd *pd, void *addr, uint64_t len, unsigned access, struct drv_mr **mr);
/* As above, with another virtual address of the first byte. It must have the same offset in its
 * page. */
int drv_mr_reg_iova(struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova, unsigned access,
		    struct drv_mr **mr);
/* A region over all bus addresses. */
int drv_mr_reg_dma(struct drv_pd *pd, unsigned access, struct drv_mr **mr);
/* A region for IBV_WR_REG_MR, of at most max_pages pages. */
int drv_mr_alloc_fast(struct drv_pd *pd, unsigned max_pages, struct drv_mr **mr);
/* Fills the page list of a fast region with the pages of [addr, addr + len), mapped for the device
 * until the next call or deregistration. */
int drv_mr_fast_set(struct drv_mr *mr, void *addr, uint64_t len);
/* Sets one entry of that list to a bus address. The caller must have mapped the page. -EINVAL: not a
 * fast region; -ENOMEM: it has no such entry. */
int drv_mr_fast_page(struct drv_mr *mr, unsigned index, uint64_t bus);
/* A region over n pages given by bus address, which the caller has mapped. The first byte's offset
 * in its page is that of iova. -EINVAL: n pages are not what [iova, iova + len) takes, or the
 * access (C10-56). */
int drv_mr_reg_pages(struct drv_pd *pd, const uint64_t *pages, unsigned n, uint64_t iova,
		     uint64_t len, unsigned access, struct drv_mr **mr);
/* Changes the access rights of a live region in place (HW2SW_MPT, edit of the dMPT, SYNC_TPT). */
int drv_mr_rereg_access(struct drv_mr *mr, unsigned access);
/* -EBUSY: windows are bound to it. */
int drv_mr_dereg(struct drv_mr *mr);
uint32_t drv_mr_lkey(const struct drv_mr *mr);
uint32_t drv_mr_rkey(const struct drv_mr *mr);

int drv_mw_alloc(struct drv_pd *pd, enum ibv_mw_type type, struct drv_mw **mw);
int drv_mw_free(struct drv_mw *mw);
/* The key from the allocation, or from the last bind that was posted for it. */
uint32_t drv_mw_rkey(const struct drv_mw *mw);

/* --- completion queues --- */

enum { DRV_CQ_POLLED = -1 }; /* in place of a vector: the CQ never makes completion events */

struct drv_wc {
	uint64_t wr_id;
	enum ibv_wc_status status; /* unless success, only wr_id, status, vendor_err, qp_num and
				      is_send are valid */
	enum ibv_wc_opcode opcode;
	bool is_send;
	unsigned vendor_err;
	uint32_t byte_len; /* receives (UD: the 40-byte GRH area included), reads, atomics */
	uint32_t imm_data; /* with IBV_WC_WITH_IMM */
	uint32_t invalidated_rkey;
	uint32_t qp_num, src_qp;
	unsigned wc_flags;
	unsigned pkey_index, slid, sl, dlid_path_bits;
	unsigned srq_num; /* XRC */
	/* of a datagram on an Ethernet port, in place of slid */
	uint8_t smac[MAC_BYTES];
	uint16_t vlan; /* or VLAN_NONE */
	/* of drv_cq_create_stamped: 48 bits of cycles; slid and sl are then 0 */
	uint64_t timestamp;
};

/* Makes a CQ for at least `entries`, rounded up to a power of two - 1. `vector` is 0 ..
 * comp_vectors - 1, or DRV_CQ_POLLED. */
int drv_cq_create(struct drv_device *dev, unsigned entries, int vector, struct drv_cq **cq);
/* The same, armed through a doorbell page of its own (NULL: the driver's page). */
int drv_cq_create_on(struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
		     struct drv_cq **cq);
/* The same with timestamps: each entry has the time at which it was written, in cycles of
 * drv_query_clock(). */
int drv_cq_create_stamped(struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
			  struct drv_cq **cq);
int drv_cq_resize(struct drv_cq *cq, unsigned entries);
/* Event moderation: an event after max_count completions or after period_us. 0 and 0: an event for
 * each completion. */
int drv_cq_moderate(struct drv_cq *cq, unsigned max_count, unsigned period_us);
/* -EBUSY: a queue uses it. */
int drv_cq_destroy(struct drv_cq *cq);
/* Number of completions that have not been polled. */
unsigned drv_cq_outstanding(const struct drv_cq *cq);
uint32_t drv_cq_num(const struct drv_cq *cq);
unsigned drv_cq_entries(const struct drv_cq *cq);
/* Polls up to n completions. Returns how many, or -errno for an invalid entry (unknown QP). */
int drv_cq_poll(struct drv_cq *cq, int n, struct drv_wc *wc);
/* Asks for one completion event. */
int drv_cq_arm(struct drv_cq *cq, bool solicited_only);
/* Sleeps until a completion can be polled: 0 or -ETIMEDOUT. It polls memory and needs no event. */
int drv_cq_wait(struct drv_cq *cq, uint64_t deadline_ps);
/* Sleeps until there is a completion event of this CQ for which no earlier call has returned: 0 or
 * -ETIMEDOUT. The CQ must have been armed. */
int drv_cq_wait_event(struct drv_cq *cq, uint64_t deadline_ps);
/* `fn` is called for each completion event, in interrupt context; NULL: none. */
void drv_cq_set_callback(struct drv_cq *cq, void (*fn)(void *arg, struct drv_cq *cq), void *arg);
/* Number of completion events so far. */
unsigned drv_cq_events(const struct drv_cq *cq);

/* --- queue pairs --- */

struct drv_qp_cap {
	unsigned max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct drv_qp_init {
	enum ibv_qp_type type;
	struct drv_cq *send_cq, *recv_cq;
	/* receives come from this SRQ; NULL: the QP has its own receive queue */
	struct drv_srq *srq;
	struct drv_xrcd *xrcd; /* for IBV_QPT_XRC_RECV */
	struct drv_qp_cap cap; /* the wanted capacities; drv_qp_query() returns the actual ones */
	bool sq_sig_all;       /* every send makes a completion */
	bool user;           /* a queue pair of a user process: no fast register, no reserved key */
	struct drv_uar *uar; /* NULL: the driver's doorbell page */
};

struct drv_ah_attr {
	unsigned dlid, sl, src_path_bits, static_rate, port_num;
	bool is_global;
	uint8_t dgid[DRV_GID_BYTES];
	unsigned sgid_index, hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t dmac[MAC_BYTES]; /* on an Ethernet port */
};

/* The address of a datagram's sender on an Ethernet port, by its completion and the 40 bytes before it.
 * -ENOENT: it came to a GID that the port does not have. */
int drv_eth_way_back(const struct drv_device *dev, unsigned port, const struct drv_wc *wc,
		     const uint8_t *area, struct drv_ah_attr *ah);

struct drv_qp_attr {
	enum ibv_qp_state qp_state, cur_qp_state;
	enum ibv_mtu path_mtu;
	enum ibv_mig_state path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
	unsigned qp_access_flags;
	struct drv_qp_cap cap;
	struct drv_ah_attr ah_attr, alt_ah_attr;
	unsigned pkey_index, alt_pkey_index;
	bool en_sqd_async_notify, sq_draining;
	/* numbers, which are rounded up to powers of two */
	unsigned max_rd_atomic, max_dest_rd_atomic;
	unsigned min_rnr_timer; /* a code */
	unsigned port_num, alt_port_num;
	unsigned timeout, alt_timeout; /* 4.096 us * 2^n; 0: never */
	unsigned retry_cnt, rnr_retry; /* rnr_retry 7: without limit */
};

/* Copies those members that have the same names in the attribute structure of a verbs layer, in
 * either direction. All other members of *to become 0: capabilities and addresses have another form
 * there. */
#define DRV_QP_ATTR_COPY(to, from)                                                                 \
	do {                                                                                       \
		memset(to, 0, sizeof(*(to)));                                                      \
		DRV_QP_ATTR_SET(to, from, qp_state);                                               \
		DRV_QP_ATTR_SET(to, from, cur_qp_state);                                           \
		DRV_QP_ATTR_SET(to, from, path_mtu);                                               \
		DRV_QP_ATTR_SET(to, from, path_mig_state);                                         \
		DRV_QP_ATTR_SET(to, from, qkey);                                                   \
		DRV_QP_ATTR_SET(to, from, rq_psn);                                                 \
		DRV_QP_ATTR_SET(to, from, sq_psn);                                                 \
		DRV_QP_ATTR_SET(to, from, dest_qp_num);                                            \
		DRV_QP_ATTR_SET(to, from, qp_access_flags);                                        \
		DRV_QP_ATTR_SET(to, from, pkey_index);                                             \
		DRV_QP_ATTR_SET(to, from, alt_pkey_index);                                         \
		DRV_QP_ATTR_SET(to, from, en_sqd_async_notify);                                    \
		DRV_QP_ATTR_SET(to, from, sq_draining);                                            \
		DRV_QP_ATTR_SET(to, from, max_rd_atomic);                                          \
		DRV_QP_ATTR_SET(to, from, max_dest_rd_atomic);                                     \
		DRV_QP_ATTR_SET(to, from, min_rnr_timer);                                          \
		DRV_QP_ATTR_SET(to, from, port_num);                                               \
		DRV_QP_ATTR_SET(to, from, timeout);                                                \
		DRV_QP_ATTR_SET(to, from, retry_cnt);                                              \
		DRV_QP_ATTR_SET(to, from, rnr_retry);                                              \
		DRV_QP_ATTR_SET(to, from, alt_port_num);                                           \
		DRV_QP_ATTR_SET(to, from, alt_timeout);                                            \
	} while (0)
#define DRV_QP_ATTR_SET(to, from, member) ((to)->member = (__typeof__((to)->member))(from)->member)

int drv_qp_create(struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp **qp);
/* The state machine of the specification (table 91); the transition follows from the current state
 * and attr->qp_state. `mask`: enum ibv_qp_attr_mask. */
int drv_qp_modify(struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask);
/* Asks the device (QUERY_QP). */
int drv_qp_query(struct drv_qp *qp, struct drv_qp_attr *attr);
/* The actual sizes, without a query to the device. */
void drv_qp_cap(const struct drv_qp *qp, struct drv_qp_cap *cap);
/* The state as the driver knows it, without a query to the device. */
enum ibv_qp_state drv_qp_state(const struct drv_qp *qp);
enum ibv_qp_type drv_qp_type(const struct drv_qp *qp);
int drv_qp_destroy(struct drv_qp *qp);
uint32_t drv_qp_num(const struct drv_qp *qp);

struct drv_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct drv_send_wr {
	struct drv_send_wr *next;
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned send_flags; /* enum ibv_send_flags */
	const struct drv_sge *sg_list;
	unsigned num_sge;
	uint32_t imm_data;
	uint32_t invalidate_rkey; /* SEND_WITH_INV, LOCAL_INV */
	/* RDMA and atomics */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;           /* fetch and add: compare_add is added */
	uint64_t compare_add_mask, swap_mask; /* masked atomics */
	uint32_t remote_srqn;                 /* XRC */
	/* UD */
	const struct drv_ah_attr *ah;
	uint32_t remote_qpn, remote_qkey; /* a qkey with bit 31 set stands for the QP's own */
	/* BIND_MW: bind_rkey gives access to [addr, addr + length) of bind_mr. Length 0 unbinds. */
	struct drv_mw *bind_mw;
	struct drv_mr *bind_mr;
	uint32_t bind_rkey; /* 0: the window's key with the next variant */
	uint64_t bind_addr, bind_length;
	unsigned bind_access;
	/* REG_MR */
	struct drv_mr *reg_mr; /* NULL: reg_key and reg_page_list state everything */
	/* 0: the region's key with the next variant, which drv_mr_lkey() then returns */
	uint32_t reg_key;
	uint64_t reg_iova, reg_length;
	unsigned reg_access;
	unsigned reg_log_page; /* log2 of the size of the pages in the list; 0: 12 */
	/* bus address of another list, layout mtt_entry; 0: the region's list */
	uint64_t reg_page_list;
};

struct drv_recv_wr {
	struct drv_recv_wr *next;
	uint64_t wr_id;
	const struct drv_sge *sg_list;
	unsigned num_sge;
};

/*
 * Posts a list of requests with one doorbell. The driver checks the state, room, number of SGEs,
 * inline length, and whether the service has the opcode. On failure *bad (may be NULL) is the first
 * request that was not posted; those before it have been posted. Any context.
 */
int drv_post_send(struct drv_qp *qp, const struct drv_send_wr *wr, const struct drv_send_wr **bad);
/* Whether drv_post_send() would post the whole list: 0, or its error. */
int drv_post_check(const struct drv_qp *qp, const struct drv_send_wr *wr);
int drv_post_recv(struct drv_qp *qp, const struct drv_recv_wr *wr, const struct drv_recv_wr **bad);

/* --- shared receive queues --- */

struct drv_srq_init {
	unsigned max_wr, max_sge;
	/* for an XRC SRQ, together with its completion queue; otherwise NULL */
	struct drv_xrcd *xrcd;
	struct drv_cq *cq;
};

int drv_srq_create(struct drv_pd *pd, const struct drv_srq_init *init, struct drv_srq **srq);
/* Raises the event SRQ_LIMIT_REACHED once when fewer than `limit` receives are left. 0 disarms
 * it. */
int drv_srq_arm(struct drv_srq *srq, unsigned limit);
int drv_srq_query(struct drv_srq *srq, unsigned *max_wr, unsigned *limit);
/* The actual sizes, which may be larger than those requested. */
void drv_srq_size(const struct drv_srq *srq, uint32_t *max_wr, uint32_t *max_sge);
/* -EBUSY: a QP uses it. */
int drv_srq_destroy(struct drv_srq *srq);
int drv_post_srq_recv(struct drv_srq *srq, const struct drv_recv_wr *wr,
		      const struct drv_recv_wr **bad);
uint32_t drv_srq_num(const struct drv_srq *srq);

/* --- pointers of the layer above to its own objects: NULL until they are set --- */

void drv_qp_set_owner(struct drv_qp *qp, void *owner);
void *drv_qp_owner(const struct drv_qp *qp);
void drv_cq_set_owner(struct drv_cq *cq, void *owner);
void *drv_cq_owner(const struct drv_cq *cq);
void drv_srq_set_owner(struct drv_srq *srq, void *owner);
void *drv_srq_owner(const struct drv_srq *srq);
/* The queue pair with that number, or NULL. */
struct drv_qp *drv_qp_find(struct drv_device *dev, uint32_t qpn);

/* --- multicast (UD) --- */

int drv_mcast_attach(struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES], bool block_loopback);
int drv_mcast_detach(struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES]);

/* --- asynchronous events --- */

struct drv_event {
	enum ibv_event_type type;
	struct drv_qp *qp; /* the object that the type concerns; all others are NULL or 0 */
	struct drv_cq *cq;
	struct drv_srq *srq;
	unsigned port;
};

/* `fn` is called in interrupt context. One registration for each device; NULL: none. */
void drv_event_register(struct drv_device *dev,
			void (*fn)(void *arg, const struct drv_event *event), void *arg);

/* `fn` is called at the end of each interrupt, still in interrupt context, after all events have been
 * taken and the event queue is armed. It is for work that event handlers have deferred. One
 * registration per device; NULL: none. */
void drv_softirq_register(struct drv_device *dev, void (*fn)(void *arg), void *arg);

/* `fn` is called for each completion that is discarded unpolled because its queue pair is reset or
 * destroyed or its CQ is destroyed. wr_id is 0 if the work queue is already gone. The call is made in
 * the thread that discards it. One registration per device; NULL: none. */
void drv_discard_register(struct drv_device *dev,
			  void (*fn)(void *arg, struct drv_cq *cq, const struct drv_wc *wc),
			  void *arg);

/*
 * From now on the driver sends nothing to the device, as in Linux: commands that release a resource
 * (HCR_F_CLOSING) succeed at once, other commands fail with -EIO, and objects are destroyed in
 * software only. Commands in progress end too. No event is raised.
 *
 * If the device refuses a command that releases a resource (except a region with windows, -EBUSY),
 * it becomes dead too, because it might go on using memory that software has freed. The driver
 * resets it, which takes a second, and calls drv_fatal(); the command then succeeds.
 */
void drv_declare_dead(struct drv_device *dev);
bool drv_is_dead(const struct drv_device *dev);
/* Declares the device dead, with the event of drv_catas_watch() if that is active. */
void drv_fatal(struct drv_device *dev);
/*
 * For a dead device: completes the requests left in kernel queue pairs of this CQ with
 * IBV_WC_WR_FLUSH_ERR. Returns up to n completions, and how many. Requests whose CQE was written but
 * not polled are flushed too (Linux, mlx4_ib_poll_sw_comp). Receives of an SRQ are not completed.
 */
int drv_cq_flush(struct drv_cq *cq, int n, struct drv_wc *wc);
bool drv_cq_flushable(const struct drv_cq *cq);
/*
 * Starts a thread that reads the error buffer every period_ps, as Linux does. If it finds an error,
 * or if a command times out while the thread exists, the device becomes dead and the function of
 * drv_event_register() gets IBV_EVENT_DEVICE_FATAL, once. drv_remove() ends the thread. A second
 * call does nothing. -ENOMEM.
 */
int drv_catas_watch(struct drv_device *dev, uint64_t period_ps);
/* Reads the error buffer. 0: the device works; -EIO: there was a catastrophic error, and `words`
 * (may be NULL) has the buffer. */
int drv_catas_check(struct drv_device *dev, uint32_t words[16]);

/* Cycles of the device's core clock since power-on (QUERY_HCA: MHz), by three register reads. A CQE
 * with a timestamp contains its low 48 bits. */
uint64_t drv_clock_read(struct drv_device *dev);

/* --- raw verbs: for conformance tests, without any checks --- */

struct drv_raw_cmd {
	uint16_t op; /* HCR_ of model/interface/commands.h */
	unsigned op_mod;
	uint32_t in_mod;
	const void *in; /* bytes of the input mailbox, the rest of it zero; NULL: in_param is passed
			   as it is */
	size_t in_len;  /* at most HCR_MBOX_SIZE */
	uint64_t in_param; /* immediate */
	void *out;         /* where the output mailbox is copied; NULL: none */
	size_t out_len;
	bool out_imm;        /* read the immediate output */
	uint64_t out_param;  /* set: immediate output */
	uint64_t timeout_ps; /* 0: the device's */
	uint8_t status; /* set: the device's status code, also when the call fails with an errno
			   derived from it */
};

/* -EIO, -EINVAL... as the status row says; -ETIMEDOUT when the device does not answer. */
int drv_cmd(struct drv_device *dev, struct drv_raw_cmd *cmd);

uint32_t drv_raw_mmio_read32(struct drv_device *dev, unsigned bar, uint64_t offset);
void drv_raw_mmio_write32(struct drv_device *dev, unsigned bar, uint64_t offset,
			  uint32_t value); /* big-endian on the bus */
void drv_raw_mmio_write(struct drv_device *dev, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size);

#endif
