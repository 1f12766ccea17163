// SPDX-License-Identifier: Apache-2.0
/* See rejects.h. */
#include "testbench/dsan/mads/rejects.h"

#include "testbench/dsan/checker_impl.h"

#include "host_driver/cm/cm.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 120 };

static bool is_of_a_port(const struct checker *c, const uint8_t gid[16])
{
	for (unsigned port = 1; port <= HCA_MAX_PORTS; port++) {
		const struct port_config *p = link_port_config(c->host.hca, port);

		for (size_t i = 0; p && !p->eth && i < ARRAY_SIZE(p->guids); i++)
			if (p->guids[i] && be64_load(gid) == p->gid_prefix &&
			    be64_load(gid + 8) == p->guids[i])
				return true;
	}
	return false;
}

static bool listens(const struct cm_device *cm, uint64_t service_id)
{
	for (const struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		const struct cm_id *id = container_of(l, const struct cm_id, link);

		if (id->ib.state == IB_CM_LISTEN && !id->destroying &&
		    id->ib.service_id == htobe64(service_id))
			return true;
	}
	return false;
}

/* Whether the reason is not true; the text says why. */
static bool untrue(const struct checker *c, const struct cm_device *cm, const struct cm_req *req,
		   enum ib_cm_rej_reason reason, unsigned port_mtu, char *text, size_t size)
{
	const enum cm_transport transport = cm_req_get_transport_type(req);

	switch ((unsigned)reason) {
	case IB_CM_REJ_INVALID_MTU:
		snprintf(text, size, "its path MTU is %u, and that of the port is %u (enum ib_mtu)",
			 (unsigned)cm_req_get_path_mtu(req), port_mtu);
		return port_mtu && cm_req_get_path_mtu(req) <= port_mtu;
	case IB_CM_REJ_INVALID_GID:
		snprintf(text, size, "its primary path leads to a GID of a port here");
		return is_of_a_port(c, cm_path_remote_gid_cptr(cm_req_primary_const(req)));
	case IB_CM_REJ_INVALID_CLASS_VERSION:
		snprintf(text, size, "its class version is %u", CM_CLASS_VERSION);
		return mad_hdr_get_class_version(smp_hdr_const((const void *)req)) ==
		       CM_CLASS_VERSION;
	case IB_CM_REJ_INVALID_TRANSPORT_TYPE:
		snprintf(text, size, "its transport is %s",
			 transport == CM_TRANSPORT_RC ? "RC" : "UC");
		return transport == CM_TRANSPORT_RC || transport == CM_TRANSPORT_UC;
	case IB_CM_REJ_INVALID_SERVICE_ID:
		snprintf(text, size, "somebody listens for its service 0x%llx",
			 (unsigned long long)cm_req_get_service_id(req));
		return listens(cm, cm_req_get_service_id(req));
	default:
		return false;
	}
}

void rejects_check(struct checker *c, const struct cm_device *cm, const struct cm_req *req,
		   enum ib_cm_rej_reason reason, unsigned port_mtu, const void *pc)
{
	char text[TEXT_BYTES];

	if (untrue(c, cm, req, reason, port_mtu, text, sizeof(text)))
		checker_report(c, &(struct breach){RULE_mad_differs, {0}, pc, NULL},
			       "a REQ is rejected for \"%s\", and %s", ib_cm_reject_msg(reason),
			       text);
}
