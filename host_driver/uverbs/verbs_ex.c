// SPDX-License-Identifier: Apache-2.0
/* The library: extended completion queues, and queries of devices, GIDs and rates. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"
#include "model/interface/static_rates.h"

#include <infiniband/driver.h>

#include <limits.h>
#include <stddef.h>

enum { TIMESTAMP_BITS = 48, KHZ_PER_MHZ = 1000, MODERATION_MAX = UINT16_MAX };

/* --- devices --- */

int ibv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr)
{
	struct ibv_device_attr_ex a = {.comp_mask = 0};
	unsigned mhz;
	int rc;

	if (input && input->comp_mask)
		return EINVAL;
	rc = UV_CALL(context, drv_query_clock(file->device->drv, &mhz));
	if (rc)
		return -rc;
	rc = ibv_query_device(context, &a.orig_attr);
	if (rc)
		return rc;
	a.completion_timestamp_mask = (UINT64_C(1) << TIMESTAMP_BITS) - 1;
	a.hca_core_clock = (uint64_t)mhz * KHZ_PER_MHZ;
	a.device_cap_flags_ex = a.orig_attr.device_cap_flags;
	a.cq_mod_caps = (struct ibv_cq_moderation_caps){MODERATION_MAX, MODERATION_MAX};
	a.phys_port_cnt_ex = a.orig_attr.phys_port_cnt;
	*attr = a;
	return 0;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return -1;
}

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)) {
		values->comp_mask = 0;
		return 0;
	}
	values->raw_clock = (struct timespec){
		.tv_nsec = (long)drv_clock_read(UV_CONTEXT(context)->file->device->drv)};
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

/* --- GIDs --- */

static bool gid_is_empty(const union ibv_gid *gid)
{
	static const union ibv_gid none;

	return !memcmp(gid->raw, none.raw, sizeof(none.raw));
}

/* Which RoCE a GID of an Ethernet port belongs to; 0: the port is one of InfiniBand. */
static unsigned roce_version(struct ibv_context *context, unsigned port, unsigned index)
{
	const struct ib_device *ib = UV_CONTEXT(context)->file->device;
	struct drv_gid gid;

	if (!rdma_protocol_roce(ib, port) || drv_eth_gid_get(ib->drv, port, index, &gid))
		return 0;
	return gid.version;
}

int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		     struct ibv_gid_entry *entry, uint32_t flags)
{
	static const uint32_t types[] = {IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1,
					 IBV_GID_TYPE_ROCE_V2};
	struct ibv_gid_entry e = {.gid_index = gid_index, .port_num = port_num};

	if (flags || port_num > UINT8_MAX || gid_index > INT_MAX)
		return EINVAL;
	if (ibv_query_gid(context, (uint8_t)port_num, (int)gid_index, &e.gid))
		return errno;
	if (gid_is_empty(&e.gid))
		return ENODATA;
	e.gid_type = types[roce_version(context, port_num, gid_index)];
	*entry = e;
	return 0;
}

ssize_t ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			    size_t max_entries, uint32_t flags)
{
	const struct ib_device *ib = UV_CONTEXT(context)->file->device;
	struct ibv_gid_entry e;
	size_t n = 0;

	if (flags)
		return -EINVAL;
	for (uint32_t port = 1; port <= ib->phys_port_cnt; port++)
		for (uint32_t i = 0; i < ib->attrs.gids[port]; i++) {
			int rc = ibv_query_gid_ex(context, port, i, &e, 0);

			if (rc == ENODATA)
				continue;
			if (!rc && n == max_entries)
				rc = EINVAL;
			if (rc)
				return -rc;
			entries[n++] = e;
		}
	return (ssize_t)n;
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       enum ibv_gid_type_sysfs *type)
{
	union ibv_gid gid;
	int rc = ibv_query_gid(context, port_num, (int)index, &gid);

	if (!rc)
		*type = roce_version(context, port_num, index) == 2 ? IBV_GID_TYPE_SYSFS_ROCE_V2
								    : IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
	return rc;
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	errno = ENOENT;
	return -1;
}

/* --- rates --- */

static const struct {
	enum ibv_rate rate;
	int mbps, mult;
} rates[] = {
#define R(code, mbps, multiple, speed, lanes) {code, mbps, multiple},
	STATIC_RATES(R)
#undef R
};

enum { RATES = ARRAY_SIZE(rates) };

int ibv_rate_to_mult(enum ibv_rate rate)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].rate == rate)
			return rates[i].mult;
	return -1;
}

enum ibv_rate mult_to_ibv_rate(int mult)
{
	for (size_t i = 0; i < RATES; i++)
		if (mult > 0 && rates[i].mult == mult)
			return rates[i].rate;
	return IBV_RATE_MAX;
}

int ibv_rate_to_mbps(enum ibv_rate rate)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].rate == rate)
			return rates[i].mbps;
	return -1;
}

enum ibv_rate mbps_to_ibv_rate(int mbps)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].mbps == mbps)
			return rates[i].rate;
	return IBV_RATE_MAX;
}

/* --- extended completion queues --- */

#define SAME(field) (offsetof(struct ibv_cq, field) == offsetof(struct ibv_cq_ex, field))
_Static_assert(SAME(context) && SAME(channel) && SAME(cq_context) && SAME(handle) && SAME(cqe) &&
		       SAME(comp_events_completed) && SAME(async_events_completed),
	       "an extended CQ is a CQ");

static struct uv_cq *cq_of(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct uv_cq, ex);
}

struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	struct uv_cq *cq;

	if (attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return uv_fail(NULL, -EINVAL);
	if (attr->wc_flags & ~(uint64_t)IBV_CREATE_CQ_SUP_WC_FLAGS ||
	    flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED ||
	    attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		return uv_fail(NULL, -EOPNOTSUPP);
	if (attr->cqe > INT_MAX || attr->comp_vector > INT_MAX)
		return uv_fail(NULL, -EINVAL);
	cq = uv_cq_create(context, (int)attr->cqe, attr->cq_context, attr->channel,
			  (int)attr->comp_vector,
			  attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	return cq ? &cq->ex : NULL;
}

struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq)
{
	return &cq_of(cq)->ibv;
}

int ibv_next_poll(struct ibv_cq_ex *cq)
{
	struct uv_cq *c = cq_of(cq);
	struct drv_wc wc;
	const int n = drv_cq_poll(c->hw, 1, &wc);

	if (n <= 0)
		return n ? EINVAL : ENOENT;
	uv_wc_fill(&wc, &c->wc);
	c->timestamp = wc.timestamp;
	cq->status = c->wc.status;
	cq->wr_id = c->wc.wr_id;
	return 0;
}

int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int rc = attr->comp_mask ? EINVAL : ibv_next_poll(cq);

	if (!rc || rc == ENOENT)
		uv_polled(ibv_cq_ex_to_cq(cq), !rc);
	return rc;
}

/* Nothing to do: each entry was given back to the device when it was taken. */
void ibv_end_poll(struct ibv_cq_ex *cq)
{
}

#define WC_READ(type, field)                                                                       \
	type ibv_wc_read_##field(struct ibv_cq_ex *cq)                                             \
	{                                                                                          \
		return cq_of(cq)->wc.field;                                                        \
	}

WC_READ(enum ibv_wc_opcode, opcode)
WC_READ(uint32_t, vendor_err)
WC_READ(uint32_t, byte_len)
WC_READ(__be32, imm_data)
WC_READ(uint32_t, invalidated_rkey)
WC_READ(uint32_t, qp_num)
WC_READ(uint32_t, src_qp)
WC_READ(unsigned int, wc_flags)
WC_READ(uint32_t, slid)
WC_READ(uint8_t, sl)
WC_READ(uint8_t, dlid_path_bits)
#undef WC_READ

uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
	return cq_of(cq)->timestamp;
}

int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	if (attr->attr_mask != IBV_CQ_ATTR_MODERATE)
		return EINVAL;
	return -UV_CALL(cq->context, uvk_modify_cq(file, cq->handle, attr->moderate.cq_count,
						   attr->moderate.cq_period));
}
