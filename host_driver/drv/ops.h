/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations table: what a driver of a device (a provider) implements below drv_*. Every function
 * of mlx4.h that takes a device or an object of one goes through this table. mlx4 is a provider.
 *
 * A provider's struct drv_device begins with the members of struct drv_base. Each of its objects
 * begins with a pointer to its device. Nobody but the provider knows what follows.
 */
#ifndef HOST_DRIVER_DRV_OPS_H
#define HOST_DRIVER_DRV_OPS_H

#include "host_driver/mlx4/mad.h"
#include "host_driver/mlx4/mlx4.h"

struct drv_ops;

/* How a provider's struct drv_device begins. */
struct drv_base {
	const struct drv_ops *ops;
	struct platform *p;
};

static inline const struct drv_base *drv_base_of(const struct drv_device *dev)
{
	return (const struct drv_base *)(const void *)dev;
}

/* The device of an object: of a PD, MR, CQ, QP and so on. */
static inline struct drv_device *drv_device_of(const void *object)
{
	return *(struct drv_device *const *)object;
}

/* OP(result, name, (parameters), device, (arguments)): drv_NAME() calls the entry NAME of that
 * device's table. mlx4.h says what each one must do. */
/* clang-format off */
#define DRV_OPS(OP)                                                                                \
	OP(struct drv_leftovers, remove, (struct drv_device *dev), dev, (dev))                     \
	OP(struct drv_leftovers, abandon, (struct drv_device *dev), dev, (dev))                    \
	OP(int, query_device, (struct drv_device *dev, struct drv_device_attr *attr), dev,         \
	   (dev, attr))                                                                            \
	OP(int, query_clock, (struct drv_device *dev, unsigned *mhz), dev, (dev, mhz))             \
	OP(int, query_port, (struct drv_device *dev, unsigned port, struct drv_port_attr           \
	   *attr), dev, (dev, port, attr))                                                         \
	OP(int, query_gid, (struct drv_device *dev, unsigned port, unsigned index, uint8_t         \
	   gid[DRV_GID_BYTES]), dev, (dev, port, index, gid))                                      \
	OP(int, query_pkey, (struct drv_device *dev, unsigned port, unsigned index, uint16_t       \
	   *pkey), dev, (dev, port, index, pkey))                                                  \
	OP(int, port_up, (struct drv_device *dev, unsigned port), dev, (dev, port))                \
	OP(int, port_down, (struct drv_device *dev, unsigned port), dev, (dev, port))              \
	OP(int, port_wait, (struct drv_device *dev, unsigned port, enum ibv_port_state state,      \
	   uint64_t deadline_ps), dev, (dev, port, state, deadline_ps))                            \
	OP(int, counter, (const struct drv_device *dev, const char *stage, const char *counter,    \
	   uint64_t *value), dev, (dev, stage, counter, value))                                    \
	OP(bool, port_is_ethernet, (const struct drv_device *dev, unsigned port), dev, (dev, port)) \
	OP(bool, has_roce_v2, (const struct drv_device *dev), dev, (dev))                          \
	OP(bool, has_port_events, (const struct drv_device *dev), dev, (dev))                      \
	OP(void, eth_mac, (const struct drv_device *dev, unsigned port, uint8_t mac[MAC_BYTES]),   \
	   dev, (dev, port, mac))                                                                  \
	OP(int, eth_mac_set, (struct drv_device *dev, unsigned port, const uint8_t                 \
	   mac[MAC_BYTES]), dev, (dev, port, mac))                                                 \
	OP(int, eth_receive, (struct drv_device *dev, unsigned port, const struct drv_qp *qp),     \
	   dev, (dev, port, qp))                                                                   \
	OP(int, eth_open, (struct drv_device *dev, unsigned port, bool open), dev,                 \
	   (dev, port, open))                                                                      \
	OP(int, eth_set, (struct drv_device *dev, unsigned port, const struct drv_eth_config       \
	   *config), dev, (dev, port, config))                                                     \
	OP(void, eth_get, (const struct drv_device *dev, unsigned port, struct drv_eth_config      \
	   *config), dev, (dev, port, config))                                                     \
	OP(int, eth_gid_set, (struct drv_device *dev, unsigned port, unsigned index, const struct  \
	   drv_gid *gid), dev, (dev, port, index, gid))                                            \
	OP(int, eth_gid_get, (const struct drv_device *dev, unsigned port, unsigned index,         \
	   struct drv_gid *gid), dev, (dev, port, index, gid))                                     \
	OP(int, eth_vlan_get, (struct drv_device *dev, unsigned port, unsigned vid, unsigned       \
	   *index), dev, (dev, port, vid, index))                                                  \
	OP(void, eth_vlan_put, (struct drv_device *dev, unsigned port, unsigned index), dev,       \
	   (dev, port, index))                                                                     \
	OP(int, eth_vlan_index, (const struct drv_device *dev, unsigned port, unsigned vid), dev,  \
	   (dev, port, vid))                                                                       \
	OP(int, uar_alloc, (struct drv_device *dev, struct drv_uar **uar), dev, (dev, uar))        \
	OP(int, uar_free, (struct drv_uar *uar), drv_device_of(uar), (uar))                        \
	OP(int, pd_alloc, (struct drv_device *dev, struct drv_pd **pd), dev, (dev, pd))            \
	OP(int, pd_free, (struct drv_pd *pd), drv_device_of(pd), (pd))                             \
	OP(int, xrcd_alloc, (struct drv_device *dev, struct drv_xrcd **xrcd), dev, (dev,           \
	   xrcd))                                                                                  \
	OP(int, xrcd_free, (struct drv_xrcd *xrcd), drv_device_of(xrcd), (xrcd))                   \
	OP(int, mr_reg, (struct drv_pd *pd, void *addr, uint64_t len, unsigned access, struct      \
	   drv_mr **mr), drv_device_of(pd), (pd, addr, len, access, mr))                           \
	OP(int, mr_reg_iova, (struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova,          \
	   unsigned access, struct drv_mr **mr), drv_device_of(pd), (pd, addr, len, iova, access,  \
	   mr))                                                                                    \
	OP(int, mr_reg_dma, (struct drv_pd *pd, unsigned access, struct drv_mr **mr),              \
	   drv_device_of(pd), (pd, access, mr))                                                    \
	OP(int, mr_alloc_fast, (struct drv_pd *pd, unsigned max_pages, struct drv_mr **mr),        \
	   drv_device_of(pd), (pd, max_pages, mr))                                                 \
	OP(int, mr_fast_set, (struct drv_mr *mr, void *addr, uint64_t len), drv_device_of(mr),     \
	   (mr, addr, len))                                                                        \
	OP(int, mr_fast_page, (struct drv_mr *mr, unsigned index, uint64_t bus),                   \
	   drv_device_of(mr), (mr, index, bus))                                                    \
	OP(int, mr_reg_pages, (struct drv_pd *pd, const uint64_t *pages, unsigned n, uint64_t      \
	   iova, uint64_t len, unsigned access, struct drv_mr **mr), drv_device_of(pd), (pd,       \
	   pages, n, iova, len, access, mr))                                                       \
	OP(int, mr_rereg_access, (struct drv_mr *mr, unsigned access), drv_device_of(mr), (mr,     \
	   access))                                                                                \
	OP(int, mr_dereg, (struct drv_mr *mr), drv_device_of(mr), (mr))                            \
	OP(uint32_t, mr_lkey, (const struct drv_mr *mr), drv_device_of(mr), (mr))                  \
	OP(uint32_t, mr_rkey, (const struct drv_mr *mr), drv_device_of(mr), (mr))                  \
	OP(int, mw_alloc, (struct drv_pd *pd, enum ibv_mw_type type, struct drv_mw **mw),          \
	   drv_device_of(pd), (pd, type, mw))                                                      \
	OP(int, mw_free, (struct drv_mw *mw), drv_device_of(mw), (mw))                             \
	OP(uint32_t, mw_rkey, (const struct drv_mw *mw), drv_device_of(mw), (mw))                  \
	OP(int, cq_create, (struct drv_device *dev, unsigned entries, int vector, struct           \
	   drv_cq **cq), dev, (dev, entries, vector, cq))                                          \
	OP(int, cq_create_on, (struct drv_device *dev, struct drv_uar *uar, unsigned entries,      \
	   int vector, struct drv_cq **cq), dev, (dev, uar, entries, vector, cq))                  \
	OP(int, cq_create_stamped, (struct drv_device *dev, struct drv_uar *uar, unsigned          \
	   entries, int vector, struct drv_cq **cq), dev, (dev, uar, entries, vector, cq))         \
	OP(int, cq_resize, (struct drv_cq *cq, unsigned entries), drv_device_of(cq), (cq,          \
	   entries))                                                                               \
	OP(int, cq_moderate, (struct drv_cq *cq, unsigned max_count, unsigned period_us),          \
	   drv_device_of(cq), (cq, max_count, period_us))                                          \
	OP(int, cq_destroy, (struct drv_cq *cq), drv_device_of(cq), (cq))                          \
	OP(unsigned, cq_outstanding, (const struct drv_cq *cq), drv_device_of(cq), (cq))           \
	OP(uint32_t, cq_num, (const struct drv_cq *cq), drv_device_of(cq), (cq))                   \
	OP(unsigned, cq_entries, (const struct drv_cq *cq), drv_device_of(cq), (cq))               \
	OP(int, cq_poll, (struct drv_cq *cq, int n, struct drv_wc *wc), drv_device_of(cq),         \
	   (cq, n, wc))                                                                            \
	OP(int, cq_arm, (struct drv_cq *cq, bool solicited_only), drv_device_of(cq), (cq,          \
	   solicited_only))                                                                        \
	OP(int, cq_wait, (struct drv_cq *cq, uint64_t deadline_ps), drv_device_of(cq), (cq,        \
	   deadline_ps))                                                                           \
	OP(int, cq_wait_event, (struct drv_cq *cq, uint64_t deadline_ps), drv_device_of(cq),       \
	   (cq, deadline_ps))                                                                      \
	OP(void, cq_set_callback, (struct drv_cq *cq, void (*fn)(void *arg, struct drv_cq          \
	   *cq), void *arg), drv_device_of(cq), (cq, fn, arg))                                     \
	OP(unsigned, cq_events, (const struct drv_cq *cq), drv_device_of(cq), (cq))                \
	OP(int, qp_create, (struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp       \
	   **qp), drv_device_of(pd), (pd, init, qp))                                               \
	OP(int, qp_modify, (struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask),     \
	   drv_device_of(qp), (qp, attr, mask))                                                    \
	OP(int, qp_query, (struct drv_qp *qp, struct drv_qp_attr *attr), drv_device_of(qp),        \
	   (qp, attr))                                                                             \
	OP(void, qp_cap, (const struct drv_qp *qp, struct drv_qp_cap *cap), drv_device_of(qp),     \
	   (qp, cap))                                                                              \
	OP(enum ibv_qp_state, qp_state, (const struct drv_qp *qp), drv_device_of(qp), (qp))        \
	OP(enum ibv_qp_type, qp_type, (const struct drv_qp *qp), drv_device_of(qp), (qp))          \
	OP(int, qp_destroy, (struct drv_qp *qp), drv_device_of(qp), (qp))                          \
	OP(uint32_t, qp_num, (const struct drv_qp *qp), drv_device_of(qp), (qp))                   \
	OP(int, post_send, (struct drv_qp *qp, const struct drv_send_wr *wr, const struct          \
	   drv_send_wr **bad), drv_device_of(qp), (qp, wr, bad))                                   \
	OP(int, post_check, (const struct drv_qp *qp, const struct drv_send_wr *wr),               \
	   drv_device_of(qp), (qp, wr))                                                            \
	OP(int, post_recv, (struct drv_qp *qp, const struct drv_recv_wr *wr, const struct          \
	   drv_recv_wr **bad), drv_device_of(qp), (qp, wr, bad))                                   \
	OP(int, srq_create, (struct drv_pd *pd, const struct drv_srq_init *init, struct            \
	   drv_srq **srq), drv_device_of(pd), (pd, init, srq))                                     \
	OP(int, srq_arm, (struct drv_srq *srq, unsigned limit), drv_device_of(srq), (srq,          \
	   limit))                                                                                 \
	OP(int, srq_query, (struct drv_srq *srq, unsigned *max_wr, unsigned *limit),               \
	   drv_device_of(srq), (srq, max_wr, limit))                                               \
	OP(void, srq_size, (const struct drv_srq *srq, uint32_t *max_wr, uint32_t *max_sge),       \
	   drv_device_of(srq), (srq, max_wr, max_sge))                                             \
	OP(int, srq_destroy, (struct drv_srq *srq), drv_device_of(srq), (srq))                     \
	OP(int, post_srq_recv, (struct drv_srq *srq, const struct drv_recv_wr *wr, const           \
	   struct drv_recv_wr **bad), drv_device_of(srq), (srq, wr, bad))                          \
	OP(uint32_t, srq_num, (const struct drv_srq *srq), drv_device_of(srq), (srq))              \
	OP(void, qp_set_owner, (struct drv_qp *qp, void *owner), drv_device_of(qp), (qp,           \
	   owner))                                                                                 \
	OP(void *, qp_owner, (const struct drv_qp *qp), drv_device_of(qp), (qp))                   \
	OP(void, cq_set_owner, (struct drv_cq *cq, void *owner), drv_device_of(cq), (cq,           \
	   owner))                                                                                 \
	OP(void *, cq_owner, (const struct drv_cq *cq), drv_device_of(cq), (cq))                   \
	OP(void, srq_set_owner, (struct drv_srq *srq, void *owner), drv_device_of(srq), (srq,      \
	   owner))                                                                                 \
	OP(void *, srq_owner, (const struct drv_srq *srq), drv_device_of(srq), (srq))              \
	OP(struct drv_qp *, qp_find, (struct drv_device *dev, uint32_t qpn), dev, (dev, qpn))      \
	OP(int, mcast_attach, (struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES], bool          \
	   block_loopback), drv_device_of(qp), (qp, mgid, block_loopback))                         \
	OP(int, mcast_detach, (struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES]),              \
	   drv_device_of(qp), (qp, mgid))                                                          \
	/* for the agents on QP0 and QP1, see mad.h */                                             \
	OP(int, mad_ifc,                                                                           \
	   (struct drv_device *dev, unsigned port, const struct drv_mad_source *source,            \
	    const void *in, void *out),                                                            \
	   dev, (dev, port, source, in, out))                                                      \
	OP(int, special_create,                                                                    \
	   (struct drv_pd *pd, const struct drv_special_init *init, struct drv_qp **qp),           \
	   drv_device_of(pd), (pd, init, qp))                                                      \
	OP(int, special_send, (struct drv_qp *qp, const struct drv_special_send *send),            \
	   drv_device_of(qp), (qp, send))                                                          \
	OP(struct drv_mad_agent **, agent_slot, (struct drv_device *dev, unsigned port), dev,      \
	   (dev, port))                                                                            \
	OP(void, notify, (struct drv_device *dev, const struct drv_event *event), dev,             \
	   (dev, event))                                                                           \
	OP(void, cq_wake, (struct drv_cq *cq), drv_device_of(cq), (cq))                            \
	OP(void, event_register, (struct drv_device *dev, void (*fn)(void *arg, const struct       \
	   drv_event *event), void *arg), dev, (dev, fn, arg))                                     \
	OP(void, softirq_register, (struct drv_device *dev, void (*fn)(void *arg), void *arg),     \
	   dev, (dev, fn, arg))                                                                    \
	OP(void, discard_register, (struct drv_device *dev, void (*fn)(void *arg, struct           \
	   drv_cq *cq, const struct drv_wc *wc), void *arg), dev, (dev, fn, arg))                  \
	OP(void, declare_dead, (struct drv_device *dev), dev, (dev))                               \
	OP(bool, is_dead, (const struct drv_device *dev), dev, (dev))                              \
	OP(void, fatal, (struct drv_device *dev), dev, (dev))                                      \
	OP(int, cq_flush, (struct drv_cq *cq, int n, struct drv_wc *wc), drv_device_of(cq),        \
	   (cq, n, wc))                                                                            \
	OP(bool, cq_flushable, (const struct drv_cq *cq), drv_device_of(cq), (cq))                 \
	OP(int, catas_watch, (struct drv_device *dev, uint64_t period_ps), dev, (dev,              \
	   period_ps))                                                                             \
	OP(int, catas_check, (struct drv_device *dev, uint32_t words[16]), dev, (dev, words))      \
	OP(uint64_t, clock_read, (struct drv_device *dev), dev, (dev))                             \
	OP(int, cmd, (struct drv_device *dev, struct drv_raw_cmd *cmd), dev, (dev, cmd))           \
	OP(uint32_t, raw_mmio_read32, (struct drv_device *dev, unsigned bar, uint64_t offset),     \
	   dev, (dev, bar, offset))                                                                \
	OP(void, raw_mmio_write32, (struct drv_device *dev, unsigned bar, uint64_t offset,         \
	   uint32_t value), dev, (dev, bar, offset, value))                                        \
	OP(void, raw_mmio_write, (struct drv_device *dev, unsigned bar, uint64_t offset, const     \
	   void *bytes, unsigned size), dev, (dev, bar, offset, bytes, size))
/* clang-format on */

struct drv_ops {
#define DRV_OP_MEMBER(result, name, parameters, device, arguments) result(*name) parameters;
	DRV_OPS(DRV_OP_MEMBER)
#undef DRV_OP_MEMBER
};

#endif
