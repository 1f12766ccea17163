// SPDX-License-Identifier: Apache-2.0
/* Converts paths between path records, CM messages and QP attributes. There is one subnet, so no path
 * has a global route, except on Ethernet ports, where every path has one. */
#include "host_driver/cm/cm.h"

#include <errno.h>
#include <string.h>

enum { ACK_TIMEOUT_MAX = 31, FULL_MEMBER = PKEY_FULL_MEMBER };

/* --- ports --- */

int cm_port_get(struct cm_device *cm, unsigned port, const struct cm_port **out)
{
	struct ib_port_attr attr;
	struct cm_port *p;
	union ib_gid gid;
	uint16_t pkey;
	unsigned changes;
	int rc;

	if (!port || port > cm->device->phys_port_cnt)
		return -EINVAL;
	p = &cm->ports[port];
	*out = p;
	if (p->valid)
		return 0;
	changes = p->changes;
	rc = ib_query_port(cm->device, port, &attr);
	if (!rc)
		rc = ib_query_gid(cm->device, port, 0, &gid);
	if (!rc)
		rc = ib_query_pkey(cm->device, port, 0, &pkey);
	if (rc)
		return rc;
	p->attr = attr;
	p->gid = gid;
	p->pkey = pkey;
	p->valid = p->changes == changes;
	return 0;
}

static bool gid_of_port(struct cm_device *cm, unsigned port, const uint8_t gid[16])
{
	const struct cm_port *p;
	union ib_gid other;

	if (cm_port_get(cm, port, &p))
		return false;
	if (!memcmp(p->gid.raw, gid, sizeof(p->gid.raw)))
		return true;
	for (int i = 1; i < p->attr.gid_tbl_len; i++) {
		if (ib_query_gid(cm->device, port, i, &other))
			return false;
		if (!memcmp(other.raw, gid, sizeof(other.raw)))
			return true;
	}
	return false;
}

unsigned cm_port_of_gid(struct cm_device *cm, const uint8_t gid[16])
{
	const struct cm_port *p;

	/* Try each port's first GID before its GID table: it is already known. */
	for (unsigned port = 1; port <= cm->device->phys_port_cnt; port++)
		if (!cm_port_get(cm, port, &p) && !memcmp(p->gid.raw, gid, sizeof(p->gid.raw)))
			return port;
	for (unsigned port = 1; port <= cm->device->phys_port_cnt; port++)
		if (gid_of_port(cm, port, gid))
			return port;
	return 0;
}

static int pkey_find(struct cm_device *cm, unsigned port, uint16_t pkey, uint16_t *index)
{
	const struct cm_port *p;
	uint16_t other;
	int rc = cm_port_get(cm, port, &p);

	*index = 0;
	if (rc || (p->pkey | FULL_MEMBER) == (pkey | FULL_MEMBER))
		return rc;
	for (unsigned i = 1; i < (unsigned)p->attr.pkey_tbl_len; i++) {
		rc = ib_query_pkey(cm->device, port, i, &other);
		if (rc)
			return rc;
		*index = (uint16_t)i;
		if ((other | FULL_MEMBER) == (pkey | FULL_MEMBER))
			return 0;
	}
	return -EINVAL;
}

/* --- addresses --- */

bool cm_av_same_peer(const struct cm_av *a, const struct cm_av *b)
{
	return a->ah.dlid == b->ah.dlid &&
	       !memcmp(a->ah.grh.dgid.raw, b->ah.grh.dgid.raw, sizeof(a->ah.grh.dgid.raw));
}

void cm_ah_from_sender(unsigned port, const struct drv_mad_addr *from, struct rdma_ah_attr *ah)
{
	*ah = (struct rdma_ah_attr){.dlid = from->dlid,
				    .sl = (uint8_t)from->sl,
				    .src_path_bits = (uint8_t)from->path_bits,
				    .port_num = (uint8_t)port};
	if (!from->ah.is_global)
		return;
	ah->ah_flags = IB_AH_GRH;
	ah->grh.sgid_index = (uint8_t)from->ah.sgid_index;
	ah->grh.hop_limit = (uint8_t)from->ah.hop_limit;
	memcpy(ah->grh.dgid.raw, from->ah.dgid, sizeof(ah->grh.dgid.raw));
	memcpy(ah->roce.dmac, from->ah.dmac, sizeof(ah->roce.dmac));
}

void cm_av_from_sender(unsigned port, const struct drv_mad_addr *from, struct cm_av *av)
{
	*av = (struct cm_av){.port = port};
	cm_ah_from_sender(port, from, &av->ah);
}

/* On an Ethernet port the entry of the GID table follows from GID and version of RoCE. */
static int ah_add_roce(const struct cm_device *cm, const struct sa_path_rec *path,
		       struct rdma_ah_attr *ah)
{
	const unsigned version = path->rec_type == SA_PATH_REC_TYPE_ROCE_V2 ? 2 : 1;
	const int index = ib_find_roce_gid(cm->device, ah->port_num, &path->sgid, version);

	if (index < 0 || path->rec_type == SA_PATH_REC_TYPE_IB)
		return -EINVAL;
	ah->dlid = ah->src_path_bits = 0;
	ah->ah_flags = IB_AH_GRH;
	ah->grh.sgid_index = (uint8_t)index;
	ah->grh.dgid = path->dgid;
	ah->grh.hop_limit = path->hop_limit;
	ah->grh.traffic_class = path->traffic_class;
	ah->grh.flow_label = be32toh(path->flow_label);
	memcpy(ah->roce.dmac, path->roce.dmac, sizeof(ah->roce.dmac));
	return 0;
}

void cm_path_add_roce(const struct cm_device *cm, const struct cm_av *av, struct sa_path_rec *path)
{
	struct drv_gid gid;

	if (!rdma_protocol_roce(cm->device, av->port) ||
	    drv_eth_gid_get(cm->device->drv, av->port, av->ah.grh.sgid_index, &gid))
		return;
	path->rec_type = gid.version == 2 ? SA_PATH_REC_TYPE_ROCE_V2 : SA_PATH_REC_TYPE_ROCE_V1;
	path->ib = (struct sa_path_rec_ib){0};
	memcpy(path->roce.dmac, av->ah.roce.dmac, sizeof(path->roce.dmac));
}

/* The smallest code whose time covers both. */
uint8_t cm_ack_timeout(unsigned ack_delay, unsigned life_time)
{
	const uint64_t ps = cm_time_ps(ack_delay) + 2 * cm_time_ps(life_time);
	unsigned code = 0;

	while (code < ACK_TIMEOUT_MAX && cm_time_ps(code) < ps)
		code++;
	return (uint8_t)code;
}

int cm_av_from_path(struct cm_device *cm, const struct sa_path_rec *path, struct cm_av *out)
{
	struct cm_av av = {.port = cm_port_of_gid(cm, path->sgid.raw),
			   .life_time = path->packet_life_time,
			   .turn_ps = 2 * cm_time_ps(path->packet_life_time),
			   .mtu = path->mtu};
	const struct cm_port *p;
	int rc = av.port ? pkey_find(cm, av.port, be16toh(path->pkey), &av.pkey_index) : -EINVAL;

	if (!rc)
		rc = cm_port_get(cm, av.port, &p);
	if (rc)
		return rc;
	av.ack_timeout = cm_ack_timeout(cm->ack_delay, path->packet_life_time);
	av.ah = (struct rdma_ah_attr){
		.dlid = be16toh(path->ib.dlid),
		.sl = path->sl,
		.src_path_bits = (uint8_t)(be16toh(path->ib.slid) & ((1u << p->attr.lmc) - 1)),
		.static_rate = path->rate,
		.port_num = (uint8_t)av.port};
	if (rdma_protocol_roce(cm->device, av.port))
		rc = ah_add_roce(cm, path, &av.ah);
	if (!rc)
		*out = av;
	return rc;
}

/* Makes an AV from the peer's path. That path's ACK timeout is two packet life times and its HCA's
 * delay. */
static int av_from(struct cm_device *cm, unsigned port, const struct sa_path_rec *path,
		   unsigned ack_timeout, struct cm_av *out)
{
	struct cm_av av = {.port = port,
			   .life_time = path->packet_life_time,
			   .turn_ps = cm_time_ps(ack_timeout),
			   .mtu = path->mtu};
	const struct cm_port *p;
	int rc = pkey_find(cm, port, be16toh(path->pkey), &av.pkey_index);

	if (!rc)
		rc = cm_port_get(cm, port, &p);
	if (rc)
		return rc;
	av.ack_timeout = (uint8_t)ack_timeout;
	av.ah = (struct rdma_ah_attr){
		.dlid = be16toh(path->ib.dlid),
		.sl = path->sl,
		.src_path_bits = (uint8_t)(be16toh(path->ib.slid) & ((1u << p->attr.lmc) - 1)),
		.static_rate = path->rate,
		.port_num = (uint8_t)port};
	*out = av;
	return 0;
}

int cm_av_from_msg(struct cm_device *cm, unsigned port, const struct cm_path *msg, uint16_t pkey,
		   uint8_t mtu, struct cm_av *av)
{
	struct sa_path_rec path;

	cm_path_from_msg(msg, pkey, mtu, &path);
	return av_from(cm, port, &path, cm_path_get_ack_timeout(msg), av);
}

int cm_av_from_lap(struct cm_device *cm, unsigned port, const struct cm_lap_path *msg,
		   uint16_t pkey, uint8_t mtu, struct cm_av *av)
{
	struct sa_path_rec path;

	cm_path_from_lap(msg, pkey, mtu, &path);
	return av_from(cm, port, &path, cm_lap_path_get_ack_timeout(msg), av);
}

/* --- in messages --- */

void cm_path_to_msg(const struct sa_path_rec *path, const struct cm_av *av, struct cm_path *out)
{
	const bool ib = path->rec_type == SA_PATH_REC_TYPE_IB;

	/* Ethernet has no LIDs (Linux cm_format_req) */
	cm_path_set_local_lid(out, ib ? be16toh(path->ib.slid) : LID_PERMISSIVE);
	cm_path_set_remote_lid(out, ib ? be16toh(path->ib.dlid) : LID_PERMISSIVE);
	memcpy(cm_path_local_gid_ptr(out), path->sgid.raw, sizeof(path->sgid.raw));
	memcpy(cm_path_remote_gid_ptr(out), path->dgid.raw, sizeof(path->dgid.raw));
	cm_path_set_flow_label(out, be32toh(path->flow_label));
	cm_path_set_packet_rate(out, path->rate);
	cm_path_set_traffic_class(out, path->traffic_class);
	cm_path_set_hop_limit(out, path->hop_limit);
	cm_path_set_sl(out, path->sl);
	cm_path_set_subnet_local(out, path->hop_limit <= 1);
	cm_path_set_ack_timeout(out, av->ack_timeout);
}

void cm_path_to_lap(const struct sa_path_rec *path, const struct cm_av *av, struct cm_lap_path *out)
{
	cm_lap_path_set_local_lid(out, be16toh(path->ib.slid));
	cm_lap_path_set_remote_lid(out, be16toh(path->ib.dlid));
	memcpy(cm_lap_path_local_gid_ptr(out), path->sgid.raw, sizeof(path->sgid.raw));
	memcpy(cm_lap_path_remote_gid_ptr(out), path->dgid.raw, sizeof(path->dgid.raw));
	cm_lap_path_set_flow_label(out, be32toh(path->flow_label));
	cm_lap_path_set_packet_rate(out, path->rate);
	cm_lap_path_set_traffic_class(out, path->traffic_class);
	cm_lap_path_set_hop_limit(out, path->hop_limit);
	cm_lap_path_set_sl(out, path->sl);
	cm_lap_path_set_subnet_local(out, path->hop_limit <= 1);
	cm_lap_path_set_ack_timeout(out, av->ack_timeout);
}

static void path_common(uint16_t pkey, uint8_t mtu, unsigned ack_timeout, struct sa_path_rec *path)
{
	path->pkey = htobe16(pkey);
	path->mtu_selector = path->rate_selector = path->packet_life_time_selector = IB_SA_EQ;
	path->mtu = mtu;
	path->numb_path = path->reversible = 1;
	/* half the ACK timeout is an upper bound of the life time */
	path->packet_life_time = (uint8_t)(ack_timeout - (ack_timeout > 0));
}

void cm_path_from_msg(const struct cm_path *in, uint16_t pkey, uint8_t mtu,
		      struct sa_path_rec *path)
{
	*path = (struct sa_path_rec){.ib = {.dlid = htobe16((uint16_t)cm_path_get_local_lid(in)),
					    .slid = htobe16((uint16_t)cm_path_get_remote_lid(in))},
				     .flow_label = htobe32(cm_path_get_flow_label(in)),
				     .hop_limit = (uint8_t)cm_path_get_hop_limit(in),
				     .traffic_class = (uint8_t)cm_path_get_traffic_class(in),
				     .sl = (uint8_t)cm_path_get_sl(in),
				     .rate = (uint8_t)cm_path_get_packet_rate(in)};
	memcpy(path->dgid.raw, cm_path_local_gid_cptr(in), sizeof(path->dgid.raw));
	memcpy(path->sgid.raw, cm_path_remote_gid_cptr(in), sizeof(path->sgid.raw));
	path_common(pkey, mtu, cm_path_get_ack_timeout(in), path);
}

void cm_path_from_lap(const struct cm_lap_path *in, uint16_t pkey, uint8_t mtu,
		      struct sa_path_rec *path)
{
	*path = (struct sa_path_rec){
		.ib = {.dlid = htobe16((uint16_t)cm_lap_path_get_local_lid(in)),
		       .slid = htobe16((uint16_t)cm_lap_path_get_remote_lid(in))},
		.flow_label = htobe32(cm_lap_path_get_flow_label(in)),
		.hop_limit = (uint8_t)cm_lap_path_get_hop_limit(in),
		.traffic_class = (uint8_t)cm_lap_path_get_traffic_class(in),
		.sl = (uint8_t)cm_lap_path_get_sl(in),
		.rate = (uint8_t)cm_lap_path_get_packet_rate(in)};
	memcpy(path->dgid.raw, cm_lap_path_local_gid_cptr(in), sizeof(path->dgid.raw));
	memcpy(path->sgid.raw, cm_lap_path_remote_gid_cptr(in), sizeof(path->sgid.raw));
	path_common(pkey, mtu, cm_lap_path_get_ack_timeout(in), path);
}
