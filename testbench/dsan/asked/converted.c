// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: completions and address vectors that a layer above mlx4 converts say the same afterwards. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/asked/running.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/core/core.h"
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>

enum { KEPT = 64, HOPS = 255 };

/* What the driver has returned in a poll under way. */
struct polling {
	struct running running;
	int n;
	struct drv_wc wc[KEPT];
};

static struct running *pollings;

void polled_note(const struct drv_wc *wc, int n)
{
	struct polling *p = running_find(pollings);

	for (int i = 0; p && i < n && p->n < KEPT; i++)
		p->wc[p->n++] = wc[i];
}

/* --- what is compared --- */

#define SAME(to, from, member)                                                                     \
	{                                                                                          \
#member, (uint64_t)(to)->member, (uint64_t)(from)->member                          \
	}
#define SAY(c, rule, call, to, ...)                                                                \
	MEMBERS_CHECK((&(struct passing){c, rule, {0}, call, to, sizeof(*(to))}), __VA_ARGS__)

/* --- completions --- */

W(int, ib_poll_cq, struct ib_cq *cq, int num_entries, struct ib_wc *wc)
{
	__attribute__((cleanup(running_drop))) struct polling p;
	struct checker *c = checker_of_host(cq->device->platform->host);
	int n;

	running_begin(&p.running, &pollings);
	p.n = 0;
	n = __real_ib_poll_cq(cq, num_entries, wc);
	for (int i = 0; i < n && n == p.n; i++) {
		const struct drv_wc *d = &p.wc[i];
		const struct ib_wc *w = &wc[i];

		SAY(c, RULE_completion_differs, "ib_poll_cq", w, SAME(w, d, wr_id),
		    SAME(w, d, status), SAME(w, d, opcode), SAME(w, d, vendor_err),
		    SAME(w, d, byte_len), SAME(w, d, src_qp), SAME(w, d, slid),
		    SAME(w, d, wc_flags), SAME(w, d, pkey_index), SAME(w, d, sl),
		    SAME(w, d, dlid_path_bits),
		    {"qp_num", w->qp ? w->qp->qp_num : d->qp_num, d->qp_num},
		    {"imm_data", d->wc_flags & IBV_WC_WITH_IMM ? ntohl(w->ex.imm_data) : 0,
		     d->wc_flags & IBV_WC_WITH_IMM ? d->imm_data : 0},
		    {"invalidated_rkey", d->wc_flags & IBV_WC_WITH_INV ? w->ex.invalidate_rkey : 0,
		     d->wc_flags & IBV_WC_WITH_INV ? d->invalidated_rkey : 0});
	}
	return n;
}

/* --- address vectors --- */

W(int, ib_ah_to_drv, const struct ib_device *device, const struct rdma_ah_attr *attr,
  struct drv_ah_attr *drv)
{
	const int rc = __real_ib_ah_to_drv(device, attr, drv);
	struct checker *c = checker_of_host(device->platform->host);
	const bool global = attr->ah_flags & IB_AH_GRH;

	if (rc)
		return rc;
	SAY(c, RULE_context_differs, "ib_ah_to_drv", drv, SAME(drv, attr, dlid),
	    SAME(drv, attr, sl), SAME(drv, attr, src_path_bits), SAME(drv, attr, static_rate),
	    SAME(drv, attr, port_num), {"is_global", drv->is_global, global});
	if (global)
		SAY(c, RULE_context_differs, "ib_ah_to_drv", drv,
		    {"sgid_index", drv->sgid_index, attr->grh.sgid_index},
		    {"hop_limit", drv->hop_limit, attr->grh.hop_limit},
		    {"traffic_class", drv->traffic_class, attr->grh.traffic_class},
		    {"flow_label", drv->flow_label, attr->grh.flow_label},
		    {"dgid, first half", be64_load(drv->dgid), be64_load(attr->grh.dgid.raw)},
		    {"dgid, second half", be64_load(drv->dgid + 8),
		     be64_load(attr->grh.dgid.raw + 8)});
	return rc;
}

/* --- answers to datagrams --- */

/* A call that answers a datagram. */
struct answering {
	struct running running;
	const struct ibv_wc *wc;
	const struct grh *grh;
	uint8_t port_num;
};

static struct running *answerings;

/* Source: IBA 8.3, the GRH; ibv_create_ah_from_wc(3): the answer goes back the way that the datagram came;
 * Linux ib_init_ah_attr_from_wc: as many hops as there can be, for those that came are used up */
static void answer_check(const struct answering *a, const struct ibv_ah_attr *attr,
			 struct checker *c)
{
	const bool global = (a->wc->wc_flags & IBV_WC_GRH) != 0;

	SAY(c, RULE_context_differs, "ibv_init_ah_from_wc", attr, {"dlid", attr->dlid, a->wc->slid},
	    {"sl", attr->sl, a->wc->sl},
	    {"src_path_bits", attr->src_path_bits, a->wc->dlid_path_bits},
	    {"port_num", attr->port_num, a->port_num}, {"is_global", attr->is_global, global});
	if (global)
		SAY(c, RULE_context_differs, "ibv_init_ah_from_wc", attr,
		    {"flow_label", attr->grh.flow_label, grh_get_flow_label(a->grh)},
		    {"traffic_class", attr->grh.traffic_class, grh_get_tclass(a->grh)},
		    {"hop_limit", attr->grh.hop_limit, HOPS},
		    {"dgid, first half", be64_load(attr->grh.dgid.raw),
		     be64_load(grh_sgid_cptr(a->grh))},
		    {"dgid, second half", be64_load(attr->grh.dgid.raw + 8),
		     be64_load(grh_sgid_cptr(a->grh) + 8)});
}

W(struct ibv_ah *, ibv_create_ah, struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ib_device *device = UV_CONTEXT(pd->context)->file->device;
	struct checker *c = checker_of_host(device->platform->host);
	const struct answering *a = running_find(answerings);

	if (a && c && !rdma_protocol_roce(device, a->port_num))
		answer_check(a, attr, c);
	return __real_ibv_create_ah(pd, attr);
}

W(struct ibv_ah *, ibv_create_ah_from_wc, struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
  uint8_t port_num)
{
	__attribute__((cleanup(running_drop))) struct answering a = {
		.wc = wc, .grh = (const void *)grh, .port_num = port_num};

	running_begin(&a.running, &answerings);
	return __real_ibv_create_ah_from_wc(pd, wc, grh, port_num);
}
