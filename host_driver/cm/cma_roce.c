// SPDX-License-Identifier: Apache-2.0
/* Addresses and routes on Ethernet ports: the IP address is the GID, the neighbour says its MAC, and
 * no subnet administration is asked for the route (Linux cma_resolve_iboe_route). */
#include "host_driver/cm/cma_impl.h"
#include "host_driver/net/net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LIFE_TIME = 16 /* Linux CMA_IBOE_PACKET_LIFETIME: 268 ms */, NAME_CHARS = 16 };

#define PS_PER_MS    UINT64_C(1000000000)
#define NEIGHBOUR_PS (1000 * PS_PER_MS) /* for who gives no limit */

int cma_set_roce_version(struct ib_device *device, unsigned version)
{
	struct cm_device *cm = cm_of(device);

	if (!cm || !version || version > (drv_has_roce_v2(device->drv) ? 2u : 1u))
		return -EINVAL;
	cm->roce_version = version;
	return 0;
}

static void gid_of(const struct sockaddr_storage *addr, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->ss_family == AF_INET6) {
		memcpy(gid->raw, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
		return;
	}
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
}

/* What a path has beside its GIDs, MAC and hop limit. */
static int path_fill(struct cm_device *cm, unsigned port, unsigned version,
		     struct sa_path_rec *path)
{
	const struct cm_port *p;
	int rc = cm_port_get(cm, port, &p);

	if (rc)
		return rc;
	path->rec_type = version == 2 ? SA_PATH_REC_TYPE_ROCE_V2 : SA_PATH_REC_TYPE_ROCE_V1;
	path->pkey = htobe16(PKEY_DEFAULT);
	path->reversible = path->numb_path = 1;
	path->mtu_selector = path->rate_selector = path->packet_life_time_selector = IB_SA_EQ;
	path->mtu = (uint8_t)p->attr.active_mtu;
	path->packet_life_time = LIFE_TIME;
	return 0;
}

/* The MAC of path->dgid, and the hop limit. */
static int neighbour_find(struct cm_device *cm, unsigned port, unsigned version, uint64_t within_ps,
			  struct sa_path_rec *path)
{
	struct drv_ah_attr ah = {.port_num = port, .is_global = true};
	const int index = ib_find_roce_gid(cm->device, port, &path->sgid, version);
	int rc = index < 0 ? -EADDRNOTAVAIL : 0;

	if (rc)
		return rc;
	ah.sgid_index = (unsigned)index;
	memcpy(ah.dgid, path->dgid.raw, sizeof(ah.dgid));
	rc = ib_resolve_eth_dmac_within(cm->device, &ah, within_ps);
	if (rc)
		return rc;
	path->hop_limit = (uint8_t)ah.hop_limit;
	memcpy(path->roce.dmac, ah.dmac, sizeof(path->roce.dmac));
	return 0;
}

int cma_roce_path(struct ib_device *device, unsigned port, const union ib_gid *sgid,
		  const union ib_gid *dgid, unsigned version, struct sa_path_rec *path)
{
	struct sa_path_rec rec = {.sgid = *sgid, .dgid = *dgid};
	int rc = neighbour_find(cm_of(device), port, version, NEIGHBOUR_PS, &rec);

	if (!rc)
		rc = path_fill(cm_of(device), port, version, &rec);
	if (!rc)
		*path = rec;
	return rc;
}

/* A thread of its own: an answer may take as long as the caller allows. */
static void resolve_thread(void *arg)
{
	struct cma_id *id = arg;
	struct cm_device *cm = id->cm;
	int rc = neighbour_find(cm, id->port, cm->roce_version, id->resolve_within_ps, &id->path);

	id->state = rc ? CMA_ADDR_BOUND : CMA_ADDR_RESOLVED;
	cma_event(id, NULL, rc ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED, rc, NULL);
	id->resolving = false;
	cm_thread_ends(cm);
}

/* As in Linux, a negative number of milliseconds is no limit. */
int cma_roce_resolve_addr(struct cma_id *id, int timeout_ms)
{
	struct cm_device *cm = id->cm;
	char name[NAME_CHARS];

	gid_of(&id->dst, &id->path.dgid);
	id->state = CMA_ADDR_QUERY;
	id->resolving = true;
	id->resolve_within_ps = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * PS_PER_MS;
	cm->threads++;
	snprintf(name, sizeof(name), "addr%u", cm->p->host);
	cm->p->ops->thread_start(cm->p, name, resolve_thread, id);
	return 0;
}

int cma_roce_resolve_route(struct cma_id *id)
{
	int rc = path_fill(id->cm, id->port, id->cm->roce_version, &id->path);

	if (rc)
		return rc;
	id->path.traffic_class = id->tos;
	id->path.qos_class = htobe16(id->tos);
	id->path.service_id = htobe64(cma_service_id(id, &id->dst));
	rc = cma_event(id, NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
	if (!rc)
		id->state = CMA_ROUTE_RESOLVED;
	return rc;
}
