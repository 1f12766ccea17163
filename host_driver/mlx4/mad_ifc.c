// SPDX-License-Identifier: Apache-2.0
/* What the agents on QP0 and QP1 need of mlx4: the command that gives a MAD to the device's own
 * agents, and MLX work requests. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/mlx4/post.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <string.h>

int mlx4_mad_ifc(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
		 const void *in, void *out)
{
	struct mad_ifc mbox = {0};
	struct drv_raw_cmd cmd = {.op = HCR_MAD_IFC,
				  .op_mod = MAD_IFC_IGNORE_MKEY | MAD_IFC_IGNORE_BKEY,
				  .in_mod = port,
				  .in = &mbox,
				  .in_len = sizeof(mbox),
				  .out = out,
				  .out_len = MAD_BYTES};

	memcpy(mad_ifc_mad_ptr(&mbox), in, MAD_BYTES);
	if (source) {
		cmd.op_mod = MAD_IFC_EXT_INFO;
		cmd.in_mod |= source->slid << MAD_IFC_SLID_SHIFT;
		mad_ifc_set_my_qpn(&mbox, source->my_qpn);
		mad_ifc_set_rqpn(&mbox, source->src_qp);
		mad_ifc_set_sl(&mbox, source->sl);
		mad_ifc_set_path_bits(&mbox, source->path_bits);
		mad_ifc_set_pkey_index(&mbox, source->pkey_index);
		mad_ifc_set_grh(&mbox, source->has_grh);
		if (source->has_grh)
			memcpy(mad_ifc_grh_bytes_ptr(&mbox), source->grh, GRH_BYTES);
	}
	return mlx4_cmd(dev, &cmd);
}

struct drv_mad_agent **mlx4_agent_slot(struct drv_device *dev, unsigned port)
{
	return port && port <= dev->ports ? &dev->agents[port] : NULL;
}

/* The headers' addresses on an Ethernet port. -EINVAL: the source has been removed. */
static int ethernet_way(const struct drv_qp *qp, const struct drv_ah_attr *ah,
			struct drv_mlx_wqe *w)
{
	if (!ah->is_global || mlx4_eth_gid_get(qp->dev, qp->port, ah->sgid_index, &w->from))
		return -EINVAL;
	mlx4_eth_mac(qp->dev, qp->port, w->smac);
	memcpy(w->dmac, ah->dmac, MAC_BYTES);
	memcpy(w->sgid, w->from.raw, DRV_GID_BYTES);
	memcpy(w->dgid, ah->dgid, DRV_GID_BYTES);
	w->sl = ah->sl;
	w->hop_limit = ah->hop_limit;
	w->tclass = ah->traffic_class;
	w->flow_label = ah->flow_label;
	return 0;
}

int mlx4_special_send(struct drv_qp *qp, const struct drv_special_send *s)
{
	struct drv_mlx_wqe w = {
		.qpn = qp->special_qpn,
		.dlid = s->dlid,
		.sl = s->sl,
		.path_bits = s->path_bits,
		.vl = s->vl,
		.dqpn = s->dqpn,
		.qkey = s->qkey,
		.pkey = s->pkey,
		.psn = qp->special_psn,
		.addr = s->addr,
		.lkey = s->lkey,
		.length = s->length,
	};

	if (mlx4_is_dead(qp->dev))
		return -EIO;
	if (s->ah && ethernet_way(qp, s->ah, &w))
		return -EINVAL;
	if (drv_sq_full(qp))
		return -ENOMEM;
	qp->special_psn = psn_add(qp->special_psn, 1);
	drv_mlx_wqe_build(&w, drv_sq_slot(qp, qp->sq.head), !(qp->sq.head & qp->sq.entries));
	drv_sq_commit(qp, s->wr_id);
	drv_sq_doorbell(qp);
	return 0;
}
