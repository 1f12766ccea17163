/* SPDX-License-Identifier: Apache-2.0 */
/* See sa.h. */
#include "host_driver/sm/sa.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/mad.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"
#include "model/interface/static_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GID_BYTES = 16, RESP_TIME = 16 };

struct sm_sa {
	struct drv_device *dev;
	unsigned port, life_time;
	struct sm_port ports[SA_PORTS];
	unsigned n_ports;
};

/* --- what there is --- */

static void gid_make(const struct sm_port *p, uint8_t gid[GID_BYTES])
{
	be64_store(gid, p->gid_prefix);
	be64_store(gid + 8, p->port_guid);
}

static bool has(uint64_t mask, enum path_component c)
{
	return mask >> c & 1;
}

static bool lid_is(const struct sm_port *p, unsigned lid)
{
	return lid >> p->lmc == p->lid >> p->lmc;
}

static bool end_fits(const struct sm_port *p, bool by_gid, const uint8_t *gid, bool by_lid,
		     unsigned lid)
{
	uint8_t own[GID_BYTES];

	gid_make(p, own);
	return p->state == IBV_PORT_ACTIVE && (!by_gid || !memcmp(own, gid, sizeof(own))) &&
	       (!by_lid || lid_is(p, lid));
}

/* Whether the value `have` of a path satisfies the selector and value of a query. */
static bool selects(bool asked, unsigned selector, bool valued, unsigned value, unsigned have)
{
	if (!asked || !valued)
		return true;
	switch (selector) {
	case SA_SELECT_GREATER:
		return have > value;
	case SA_SELECT_LESS:
		return have < value;
	case SA_SELECT_EXACTLY:
		return have == value;
	default:
		return true;
	}
}

static unsigned mbps_of(unsigned rate)
{
	static const unsigned rates[] = {
#define R(code, mbps, multiple, speed, lanes) [code] = mbps,
		STATIC_RATES(R)
#undef R
	};

	return rate < ARRAY_SIZE(rates) ? rates[rate] : 0;
}

/* A LID beyond a port's base LID stands for another path to that port. The record has the LIDs that
 * the query names, else the base LIDs. */
static void record_make(const struct sm_sa *sa, const struct sm_port *from,
			const struct sm_port *to, const struct path_record *asked, uint64_t mask,
			struct path_record *r)
{
	memset(r, 0, sizeof(*r));
	gid_make(from, path_record_sgid_ptr(r));
	gid_make(to, path_record_dgid_ptr(r));
	path_record_set_slid(r,
			     has(mask, PATH_COMP_SLID) ? path_record_get_slid(asked) : from->lid);
	path_record_set_dlid(r, has(mask, PATH_COMP_DLID) ? path_record_get_dlid(asked) : to->lid);
	path_record_set_reversible(r, 1);
	path_record_set_numb_path(r, 1);
	path_record_set_pkey(r, PKEY_DEFAULT);
	path_record_set_mtu_selector(r, SA_SELECT_EXACTLY);
	path_record_set_mtu(r, (uint32_t)(from->mtu < to->mtu ? from->mtu : to->mtu));
	path_record_set_rate_selector(r, SA_SELECT_EXACTLY);
	path_record_set_rate(r, from->rate);
	path_record_set_life_selector(r, SA_SELECT_EXACTLY);
	path_record_set_life_time(r, sa->life_time);
}

static bool record_fits(const struct path_record *r, const struct path_record *asked, uint64_t mask)
{
	return selects(has(mask, PATH_COMP_MTU_SELECTOR), path_record_get_mtu_selector(asked),
		       has(mask, PATH_COMP_MTU), path_record_get_mtu(asked),
		       path_record_get_mtu(r)) &&
	       selects(has(mask, PATH_COMP_RATE_SELECTOR), path_record_get_rate_selector(asked),
		       has(mask, PATH_COMP_RATE), mbps_of(path_record_get_rate(asked)),
		       mbps_of(path_record_get_rate(r))) &&
	       selects(has(mask, PATH_COMP_LIFE_SELECTOR), path_record_get_life_selector(asked),
		       has(mask, PATH_COMP_LIFE), path_record_get_life_time(asked),
		       path_record_get_life_time(r)) &&
	       (!has(mask, PATH_COMP_PKEY) ||
		(path_record_get_pkey(asked) | PKEY_FULL_MEMBER) == PKEY_DEFAULT) &&
	       (!has(mask, PATH_COMP_SL) || path_record_get_sl(asked) == path_record_get_sl(r)) &&
	       (!has(mask, PATH_COMP_RAW) || !path_record_get_raw_traffic(asked));
}

/* --- answers --- */

static uint32_t path_find(const struct sm_sa *sa, const struct path_record *asked, uint64_t mask,
			  struct path_record *out)
{
	if (!has(mask, PATH_COMP_SGID) && !has(mask, PATH_COMP_SLID))
		return SA_STATUS_INSUFFICIENT;
	for (unsigned i = 0; i < sa->n_ports; i++) {
		const struct sm_port *from = &sa->ports[i];

		if (!end_fits(from, has(mask, PATH_COMP_SGID), path_record_sgid_cptr(asked),
			      has(mask, PATH_COMP_SLID), path_record_get_slid(asked)))
			continue;
		for (unsigned k = 0; k < sa->n_ports; k++) {
			const struct sm_port *to = &sa->ports[k];

			if (!end_fits(to, has(mask, PATH_COMP_DGID), path_record_dgid_cptr(asked),
				      has(mask, PATH_COMP_DLID), path_record_get_dlid(asked)))
				continue;
			record_make(sa, from, to, asked, mask, out);
			if (record_fits(out, asked, mask))
				return MAD_STATUS_OK;
		}
	}
	return SA_STATUS_NO_RECORDS;
}

static uint32_t path_get(struct sm_sa *sa, struct sa_mad *mad)
{
	struct path_record asked, found;
	uint32_t status;

	memcpy(&asked, sa_mad_data_cptr(mad), sizeof(asked));
	status = path_find(sa, &asked, sa_mad_get_component_mask(mad), &found);
	if (status)
		return status;
	memset(sa_mad_data_ptr(mad), 0, sa_mad_data_size);
	memcpy(sa_mad_data_ptr(mad), &found, sizeof(found));
	sa_mad_set_attribute_offset(mad, sizeof(found) / 8);
	return MAD_STATUS_OK;
}

static uint32_t class_port_info(struct sa_mad *mad)
{
	struct class_port_info *i = (struct class_port_info *)(void *)sa_mad_data_ptr(mad);

	memset(i, 0, sizeof(*i));
	class_port_info_set_base_version(i, MAD_BASE_VERSION);
	class_port_info_set_class_version(i, SA_CLASS_VERSION);
	class_port_info_set_resp_time(i, RESP_TIME);
	return MAD_STATUS_OK;
}

static uint32_t serve(struct sm_sa *sa, struct sa_mad *mad)
{
	const struct mad_hdr *hdr = sa_mad_hdr_const(mad);

	if (mad_hdr_get_class_version(hdr) != SA_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (mad_hdr_get_method(hdr) != MAD_METHOD_GET)
		return mad_hdr_get_method(hdr) == MAD_METHOD_SET ||
				       mad_hdr_get_method(hdr) == MAD_METHOD_GET_TABLE ||
				       mad_hdr_get_method(hdr) == MAD_METHOD_DELETE
			       ? MAD_STATUS_BAD_METHOD_ATTR
			       : MAD_STATUS_BAD_METHOD;
	switch (mad_hdr_get_attr_id(hdr)) {
	case SA_ATTR_PATH_RECORD:
		return path_get(sa, mad);
	case SA_ATTR_CLASS_PORT_INFO:
		return class_port_info(mad);
	default:
		return MAD_STATUS_BAD_METHOD_ATTR;
	}
}

static void request_came(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
			 const struct drv_mad_addr *from, const struct smp *request)
{
	struct sm_sa *sa = arg;
	struct sa_mad mad;
	struct mad_hdr *hdr = sa_mad_hdr(&mad);
	uint32_t status;

	memcpy(&mad, request, sizeof(mad));
	/* a trap or a report gets no answer here */
	if (mad_hdr_get_method(hdr) == MAD_METHOD_TRAP ||
	    mad_hdr_get_method(hdr) == MAD_METHOD_REPORT)
		return;
	status = serve(sa, &mad);
	/* there is no SetResp: a Set is answered as a Get is. Source: IBA 13.4.5 */
	if (mad_hdr_get_method(hdr) == MAD_METHOD_SET)
		mad_hdr_set_method(hdr, MAD_METHOD_GET);
	mad_hdr_set_method(hdr, mad_hdr_get_method(hdr) | MAD_RESPONSE_BIT);
	mad_hdr_set_status(hdr, status);
	drv_mad_send(sa->dev, port, qpn, from, &mad);
}

/* --- life --- */

/* Queries both ends of the cable, once: changes after the start are not seen. */
static int sm_sa_refresh(struct sm_sa *sa)
{
	struct sm_result r;
	int rc = sm_discover(sa->dev, sa->port, NULL, &r);

	if (rc)
		return rc;
	sa->ports[0] = r.own;
	sa->ports[1] = r.peer;
	sa->n_ports = SA_PORTS;
	return 0;
}

int sm_sa_start(struct drv_device *dev, unsigned port, unsigned life_time, struct sm_sa **out)
{
	struct sm_sa *sa = drv_calloc(1, sizeof(*sa));
	int rc;

	if (!sa)
		return -ENOMEM;
	sa->dev = dev;
	sa->port = port;
	sa->life_time = life_time ? life_time : SA_LIFE_TIME;
	rc = sm_sa_refresh(sa);
	if (!rc)
		rc = drv_mad_serve(dev, port, MAD_CLASS_SUBN_ADM, request_came, sa);
	if (rc) {
		free(sa);
		return rc;
	}
	*out = sa;
	return 0;
}

void sm_sa_stop(struct sm_sa *sa)
{
	drv_mad_unserve(sa->dev, sa->port, MAD_CLASS_SUBN_ADM);
	free(sa);
}
