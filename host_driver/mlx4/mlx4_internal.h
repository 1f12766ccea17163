/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the driver. Scenarios that test faults may use it: numbers of contexts, the place
 * of a QPC or an MTT entry in host memory.
 *
 * An object's numbers and ICM references are taken when it is created and given back when it is
 * destroyed; nothing is cached. Threads of a host are not preempted, so only code that sleeps
 * (commands, ICM mapping) needs a mutex.
 */
#ifndef HOST_DRIVER_MLX4_INTERNAL_H
#define HOST_DRIVER_MLX4_INTERNAL_H

#include "host_driver/drv/ops.h"
#include "host_driver/drv/trace.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/barriers.h"
#include "host_driver/mlx4/mad.h"
#include "host_driver/mlx4/mlx4.h"
#include "model/interface/mailboxes.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/static_rates.h"

enum drv_sizes {
	DRV_LOG_PAGE = 12,
	DRV_LOG_HUGE_PAGE = 21,
	DRV_CHUNK_BYTES = 256 * 1024, /* ICM that is mapped and unmapped at once */
	DRV_CHUNK_PAGES = DRV_CHUNK_BYTES / PLATFORM_PAGE_SIZE,
	DRV_LOG_RD_PER_QP = 4,
	DRV_LOG_MCG_SIZE = 10,
	DRV_LOG_MCGS = 13,
	DRV_LOG_PDS = 15,
	DRV_PD_MASK = (1 << 17) - 1,
	DRV_LOG_XRCDS = 16,
	DRV_QPN_MASK = (1 << 23) - 1,
	DRV_EQC_MAPPED = 1024,
	DRV_ASYNC_EQ_LOG_SIZE = 9,
	DRV_SPECIAL_QPS = 8,
	DRV_TOP_QPS = 64 * 1024, /* QPs at the top of the table that are never used */
};

/* --- sleeping --- */

struct drv_mutex {
	struct platform_waitq *q;
	bool held;
};

int drv_mutex_init(struct drv_device *dev, struct drv_mutex *m);
void drv_mutex_cleanup(struct drv_device *dev, struct drv_mutex *m);
void drv_lock(struct drv_device *dev, struct drv_mutex *m);
void drv_unlock(struct drv_device *dev, struct drv_mutex *m);
/* Spends the CPU time charged so far. A check of memory and the wait that follows it then happen at
 * the same time. */
void drv_settle(struct drv_device *dev);

/* --- ICM --- */

struct drv_icm_seg {
	void *addr;
	uint64_t bus;
	size_t bytes;
};

/* Pages that the device gets in one go. */
struct drv_icm {
	struct drv_icm_seg *segs;
	unsigned n, pages;
};

struct drv_icm_chunk {
	struct drv_icm icm;
	unsigned refs;
};

struct drv_icm_table {
	struct drv_device *dev;
	uint64_t virt; /* ICM address */
	unsigned entry_bytes, n_chunks;
	uint32_t entries; /* a power of two */
	struct drv_icm_chunk **chunks;
	struct drv_mutex lock;
};

enum drv_table {
	DRV_T_CMPT_QP,
	DRV_T_CMPT_SRQ,
	DRV_T_CMPT_CQ,
	DRV_T_CMPT_EQ,
	DRV_T_EQC,
	DRV_T_MTT,
	DRV_T_DMPT,
	DRV_T_QPC,
	DRV_T_AUXC,
	DRV_T_ALTC,
	DRV_T_RDMARC,
	DRV_T_CQC,
	DRV_T_SRQC,
	DRV_T_MCG,
	DRV_TABLES,
};

/* Where each resource is in ICM. */
struct drv_profile {
	/* of the cMPTs only DRV_T_CMPT_QP is set, the base of all four */
	uint64_t base[DRV_TABLES];
	unsigned log_num[DRV_TABLES];
	unsigned entry_bytes[DRV_TABLES];
	uint64_t total;
};

int drv_profile_make(struct drv_profile *profile, const struct dev_cap *cap,
		     const struct drv_options *options);

int drv_icm_alloc(struct drv_device *dev, unsigned pages, struct drv_icm *icm);
void drv_icm_free(struct drv_device *dev, struct drv_icm *icm);
/* MAP_FA, MAP_ICM_AUX (virt 0) or MAP_ICM. */
int drv_icm_map(struct drv_device *dev, const struct drv_icm *icm, uint16_t op, uint64_t virt);

/* The chunks of the first `reserved` entries stay mapped until cleanup. */
int drv_table_init(struct drv_device *dev, struct drv_icm_table *t, uint64_t virt,
		   unsigned entry_bytes, uint32_t entries, uint32_t reserved);
void drv_table_cleanup(struct drv_icm_table *t, bool tell_device);
/* Maps the entry's chunk if it is not mapped yet, and counts its use. */
int drv_table_get(struct drv_icm_table *t, uint32_t entry);
void drv_table_put(struct drv_icm_table *t, uint32_t entry);
int drv_table_get_range(struct drv_icm_table *t, uint32_t first, uint32_t last);
void drv_table_put_range(struct drv_icm_table *t, uint32_t first, uint32_t last);
/* The CPU's address of an entry; NULL: not mapped. *bus (may be NULL) is the device's address. */
void *drv_table_find(struct drv_icm_table *t, uint32_t entry, uint64_t *bus);
/* Number of pages mapped now. */
unsigned drv_table_pages(const struct drv_icm_table *t);

/* --- MTT --- */

struct drv_mtt {
	uint32_t first;
	unsigned order;
	bool valid; /* false: no entries (physical region) */
};

int drv_mtt_alloc(struct drv_device *dev, unsigned pages, struct drv_mtt *mtt);
void drv_mtt_free(struct drv_device *dev, struct drv_mtt *mtt);
/* Writes entries [index, index + n): consecutive pages of 2^log_page bytes, beginning at `bus`. */
void drv_mtt_write(struct drv_device *dev, const struct drv_mtt *mtt, unsigned index, unsigned n,
		   uint64_t bus, unsigned log_page);
uint64_t drv_mtt_addr(const struct drv_mtt *mtt);

/* --- buffers of queues: single pages that are not contiguous --- */

struct drv_buf {
	uint8_t **pages;
	uint64_t *bus;
	unsigned n;
	struct drv_mtt mtt;
};

/* Allocates a zeroed buffer and writes its MTT. */
int drv_buf_alloc(struct drv_device *dev, size_t bytes, struct drv_buf *buf);
void drv_buf_free(struct drv_device *dev, struct drv_buf *buf);

static inline void *drv_buf_at(const struct drv_buf *buf, size_t offset)
{
	return buf->pages[offset >> DRV_LOG_PAGE] + (offset & (PLATFORM_PAGE_SIZE - 1));
}

/* --- doorbell records --- */

struct drv_db_page;

struct drv_db {
	void *record; /* 8 bytes, zero at allocation */
	uint64_t bus;
	struct drv_db_page *page;
	unsigned slot;
};

int drv_db_alloc(struct drv_device *dev, struct drv_db *db);
void drv_db_free(struct drv_device *dev, struct drv_db *db);

/* --- commands --- */

struct drv_mailbox {
	void *bytes; /* HCR_MBOX_SIZE */
	uint64_t bus;
	struct drv_mailbox_page *page;
};

struct drv_cmd_context {
	uint16_t token;
	bool busy, done;
	uint8_t status;
	uint64_t out_param;
};

struct drv_cmd_state {
	struct drv_mutex hcr;
	struct platform_waitq *waitq; /* threads that wait for a context or for its completion */
	struct drv_cmd_context *contexts;
	unsigned n_contexts, busy;
	unsigned toggle;
	bool events;
	bool lost; /* a command has timed out, and the device has not been reset yet */
	struct drv_mailbox_page *free_pages;
	unsigned mailboxes; /* in use */
};

/* A command as the HCR gets it. in_param and out_param are passed unchanged. */
struct drv_hcr {
	uint16_t op;
	unsigned op_mod;
	uint32_t in_mod;
	/* out_param: a bus address on input, the immediate result on output */
	uint64_t in_param, out_param;
	uint64_t timeout_ps;
	uint8_t status;
};

int drv_cmd_init(struct drv_device *dev);
void drv_cmd_cleanup(struct drv_device *dev);
int drv_cmd_use_events(struct drv_device *dev, unsigned max_commands);
void drv_cmd_use_polling(struct drv_device *dev);
void drv_cmd_completed(struct drv_device *dev, const struct eqe_cmd *eqe);
int drv_hcr_exec(struct drv_device *dev, struct drv_hcr *hcr);
/* The words that are written to the HCR, in order. The last one contains GO. */
void drv_hcr_words(const struct drv_hcr *cmd, uint16_t token, bool event, unsigned toggle,
		   struct hcr *regs);
/* Whether the device still owns the HCR, by its last word and the next command's toggle bit. */
bool drv_hcr_pending(const struct hcr *regs, unsigned next_toggle);
int drv_status_errno(uint8_t status);
/* Whether the command gives something back to the driver (HCR_F_CLOSING). */
bool drv_cmd_is_closing(uint16_t op);

/* A zeroed mailbox; NULL: there is no memory. */
struct drv_mailbox *drv_mailbox_get(struct drv_device *dev);
void drv_mailbox_put(struct drv_device *dev, struct drv_mailbox *mailbox);

/* Executes a command without mailboxes. */
int drv_cmd_plain(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod);
int drv_cmd_imm(struct drv_device *dev, uint16_t op, uint32_t in_mod, uint64_t in_param,
		uint64_t *out_param);
/* Executes a command. The input mailbox is a copy of `len` bytes; the output mailbox is copied to
 * `out`. */
int drv_cmd_in(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod,
	       const void *in, size_t len);
int drv_cmd_out(struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod, void *out,
		size_t len);

/* --- event queues --- */

struct drv_eq {
	struct drv_device *dev;
	struct drv_buf buf;
	uint32_t eqn, ci, entries;
	unsigned vector;
	bool irq; /* handler is registered */
	bool hw;  /* SW2HW_EQ done */
};

int drv_eqs_init(struct drv_device *dev);
void drv_eqs_cleanup(struct drv_device *dev, bool tell_device);

/* --- objects --- */

struct drv_pd {
	struct drv_device *dev;
	struct drv_list link;
	uint32_t pdn;
	unsigned users;
};

struct drv_xrcd {
	struct drv_device *dev;
	struct drv_list link;
	struct drv_cq *cq; /* for the domain's target QPs, which make no completions */
	uint32_t xrcdn;
	unsigned users;
};

struct drv_mr {
	struct drv_device *dev;
	struct drv_pd *pd;
	struct drv_list link;
	uint32_t index, key;
	unsigned log_page;
	struct drv_mtt mtt;
	uint64_t mapped_bus, mapped_len; /* 0: nothing mapped */
	uint8_t *page_list;              /* fast region: its page list, layout mtt_entry */
	uint64_t page_list_bus, page_list_bytes;
	unsigned max_pages, n_pages;
	bool hw; /* the device has the MPT */
};

struct drv_mw {
	struct drv_device *dev;
	struct drv_pd *pd;
	struct drv_list link;
	uint32_t index, rkey;
	enum ibv_mw_type type;
};

/* A doorbell page. `users`: queues that use it. The driver's own page is a part of struct
 * drv_device. */
struct drv_uar {
	struct drv_device *dev;
	uint32_t page;
	unsigned bf_offset, users;
	bool bf_busy;
};

struct drv_cq {
	struct drv_device *dev;
	struct drv_uar *uar;
	void *owner;
	struct drv_list link;
	struct drv_buf buf;
	struct drv_db db;
	struct platform_waitq *waitq;
	void (*fn)(void *arg, struct drv_cq *cq);
	void *arg;
	uint32_t cqn, ci, entries; /* entries: a power of two */
	unsigned arm_sn, events, events_seen;
	int vector;
	unsigned users;
	bool stamped;
	/* a resize under way: this buffer is used once the RESIZE entry has been met */
	struct drv_buf new_buf;
	uint32_t new_entries;
};

struct drv_wq {
	uint64_t *wr_id;
	uint32_t entries, head, tail;
	unsigned log_stride, max_sge, max_post;
	size_t offset; /* in the buffer */
};

struct drv_qp {
	struct drv_device *dev;
	struct drv_uar *uar;
	void *owner;
	struct drv_pd *pd;
	struct drv_list link;
	struct drv_cq *send_cq, *recv_cq;
	struct drv_srq *srq;
	struct drv_xrcd *xrcd;
	struct drv_buf buf;
	struct drv_db db;
	struct drv_wq sq, rq;
	uint32_t qpn;
	enum qp_service service;
	enum ibv_qp_type type; /* 0 for special QPs */
	enum ibv_qp_state state;
	unsigned port, pkey_index, access, max_dest_rd;
	uint32_t qkey;
	unsigned max_inline, spare;
	bool sq_sig_all, user, has_rq, xrc_target, special;
	unsigned special_qpn; /* 0 or 1 */
	uint32_t special_psn;
};

struct drv_srq {
	struct drv_device *dev;
	void *owner;
	struct drv_pd *pd;
	struct drv_list link;
	struct drv_xrcd *xrcd;
	struct drv_cq *cq;
	struct drv_buf buf;
	struct drv_db db;
	uint64_t *wr_id;
	uint32_t srqn, entries, head, tail;
	unsigned log_stride, max_sge;
	uint16_t counter;
	unsigned users;
};

struct drv_mad_agent;

struct drv_device {
	const struct drv_ops *ops; /* first, with p: struct drv_base */
	struct platform *p;
	struct drv_options options;
	/* PCI configuration space */
	uint32_t saved_config[64];
	unsigned msix_cap, express_cap;
	unsigned msix_bar;
	uint32_t msix_table;
	/* what the device has reported */
	struct query_fw fw;
	struct dev_cap cap;
	struct query_adapter adapter;
	struct query_port port_cap[DRV_PORTS_MAX + 1]; /* index: port number */
	struct node_info_copy {
		uint64_t node_guid, sys_guid;
		unsigned vendor_id, device_id, revision;
	} node;
	unsigned ports, reserved_eqs, special_base;
	uint64_t uar_bytes;
	unsigned bf_buf_bytes; /* 0: no BlueFlame */
	unsigned kar;          /* doorbell page of the driver's core */
	struct drv_uar verbs;  /* page for queues that have none of their own */
	struct drv_bitmap uars;
	/* memory given to the device */
	struct drv_icm fa, aux;
	struct drv_profile profile;
	struct drv_icm_table tables[DRV_TABLES];
	unsigned icm_pages_base; /* pages mapped at the end of bring-up */
	uint32_t mtts_base;      /* MTT entries in use at the end of bring-up */
	unsigned stages;         /* number of completed bring-up steps */
	struct drv_cmd_state cmd;
	/* numbers */
	struct drv_buddy mtt_buddy;
	struct drv_bitmap mpts, pds, xrcds, cqs, srqs, qps, mcgs;
	/* index: number modulo table size */
	struct drv_cq **cq_table;
	struct drv_qp **qp_table;
	struct drv_srq **srq_table;
	struct drv_list pd_list, xrcd_list, mr_list, mw_list, cq_list, srq_list, qp_list, db_list;
	unsigned db_records;
	struct drv_mutex mcg_lock;
	struct drv_eq *eqs;
	unsigned n_eqs;
	struct drv_mad_agent *agents[DRV_PORTS_MAX + 1];
	struct drv_eth {
		bool on; /* the port is an Ethernet port */
		uint8_t mac[MAC_BYTES];
		struct drv_eth_config config;
		struct drv_gid gids[DRV_ETH_TABLE];
		uint16_t vlans[DRV_ETH_TABLE];
		unsigned vlan_users[DRV_ETH_TABLE]; /* 0: the entry is free */
	} eth[DRV_PORTS_MAX + 1];
	struct drv_mutex eth_lock; /* held while an entry of eth and the device's are changed */
	struct platform_waitq *port_waitq;
	unsigned port_events;
	void (*event_fn)(void *arg, const struct drv_event *event);
	void *event_arg;
	void (*softirq_fn)(void *arg);
	void *softirq_arg;
	void (*discard_fn)(void *arg, struct drv_cq *cq, const struct drv_wc *wc);
	void *discard_arg;
	unsigned failed_commands;
	bool closing; /* tear-down: count commands that fail */
	bool dead;    /* a command timed out, or mlx4_declare_dead */
	struct {
		struct platform_waitq *waitq; /* NULL: there is no such thread */
		uint64_t period_ps;
		bool stop, told; /* told: IBV_EVENT_DEVICE_FATAL has been delivered */
	} catas;
};

#define MLX4_OP(result, name, parameters, device, arguments) result mlx4_##name parameters;
DRV_OPS(MLX4_OP)
#undef MLX4_OP

extern const struct drv_ops mlx4_ops;

/* drv_probe() for such a device. */
int mlx4_probe(struct platform *p, const struct drv_options *options, struct drv_device **dev);

static inline uint32_t drv_table_mask(const struct drv_device *dev, enum drv_table t)
{
	return dev->tables[t].entries - 1;
}

/* Ethernet ports. drv_eth_suggested: the port is to be one. */
bool drv_eth_suggested(const struct drv_device *dev, unsigned port);
int drv_eths_init(struct drv_device *dev);
void drv_eths_cleanup(struct drv_device *dev);
int drv_eth_init(struct drv_device *dev, unsigned port);
/* Tells the device which UDP port RoCE v2 has. */
int drv_eth_roce_port(struct drv_device *dev);

/* Ends the thread of mlx4_catas_watch(). */
void drv_catas_unwatch(struct drv_device *dev);

/* For each part of the driver: its bitmaps and tables. */
int drv_uars_init(struct drv_device *dev);
void drv_uars_cleanup(struct drv_device *dev);
int drv_mrs_init(struct drv_device *dev);
void drv_mrs_cleanup(struct drv_device *dev);
int drv_cqs_init(struct drv_device *dev);
void drv_cqs_cleanup(struct drv_device *dev);
int drv_srqs_init(struct drv_device *dev);
void drv_srqs_cleanup(struct drv_device *dev);
/* Also executes CONF_SPECIAL_QP. */
int drv_qps_init(struct drv_device *dev);
void drv_qps_cleanup(struct drv_device *dev);
int drv_mcgs_init(struct drv_device *dev);
void drv_mcgs_cleanup(struct drv_device *dev);
/* Executes SET_PORT, and reads what the verbs part needs from the ports. */
int drv_ports_init(struct drv_device *dev);

void drv_cq_event(struct drv_device *dev, uint32_t cqn);
void drv_async_event(struct drv_device *dev, const struct drv_event *event);
/* Removes the completions of a QP from a CQ. */
void drv_cq_clean(struct drv_cq *cq, struct drv_qp *qp);
/* Parses one completion, except wr_id and the owner bit. */
void drv_cqe_parse(const struct cqe *cqe, struct drv_wc *wc);

void drv_srq_free_slot(struct drv_srq *srq, uint32_t slot);

/* Whether drv_wqe_build() would accept the request: 0 or -errno. */
int drv_wqe_check(const struct drv_qp *qp, const struct drv_send_wr *wr);
/* wqe.c: builds one WQE at its place in the send queue. Its owner bit still says software. Returns
 * its length in 16-byte units, or -errno. */
int drv_wqe_build(struct drv_qp *qp, const struct drv_send_wr *wr, void *wqe, uint32_t index);
/* Bytes of a WQE with this many SGEs or inline bytes. */
size_t drv_wqe_bytes(enum qp_service service, unsigned sges, unsigned inline_bytes);
unsigned drv_max_qp_wr(const struct drv_device *dev);
unsigned drv_max_send_sge(const struct drv_device *dev);
/* Writes the scatter list of a receive into `room` bytes, with a terminator if there is room for
 * one. */
void drv_recv_sges(void *at, size_t room, const struct drv_recv_wr *wr);

/* Stores the byte count of the segment at the offset `at` of a send WQE. All that is behind it in its
 * 64-byte chunk stands there already. */
static inline void drv_wqe_put_count(void *wqe, size_t at, uint32_t bytes, bool in_line)
{
	struct wqe_inline count = {0};

	wqe_inline_set_is_inline(&count, in_line);
	wqe_inline_set_byte_count(&count, bytes);
	if (at % WQE_CHUNK == 0)
		drv_chunk_body_before_head();
	be32_store((uint8_t *)wqe + at, be32_load(count.b));
}

/* One MLX WQE (QP0, QP1): ready-made headers as inline data, one data segment, room for the ICRC.
 */
struct drv_mlx_wqe {
	unsigned qpn; /* 0 or 1, the source */
	unsigned dlid, sl, path_bits, vl;
	uint32_t dqpn, qkey, psn;
	uint16_t pkey;
	bool has_grh;
	uint8_t sgid[DRV_GID_BYTES], dgid[DRV_GID_BYTES];
	unsigned hop_limit, tclass;
	uint32_t flow_label;
	uint64_t addr;
	uint32_t lkey, length;
	/* on an Ethernet port, in place of LIDs; version 0: an InfiniBand port */
	struct drv_gid from;
	uint8_t smac[MAC_BYTES], dmac[MAC_BYTES];
};
/* Returns the length in 16-byte units. The owner bit is left as `owner`. */
unsigned drv_mlx_wqe_build(const struct drv_mlx_wqe *w, void *wqe, unsigned owner);

#endif
