// SPDX-License-Identifier: Apache-2.0
/* Multicast groups: the chain of an MGID's hash bucket, walked and changed with READ_MCG and
 * WRITE_MCG. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <string.h>

enum { MCG_BUCKETS = 1 << (DRV_LOG_MCGS - 1) };

/* A place in a chain: the entry with the MGID or, if there is none, the last entry. */
struct mcg_place {
	struct mcg_entry entry;
	uint32_t index, previous; /* a bucket has no previous entry */
	bool found, empty_bucket;
};

static bool is_bucket(const struct mcg_place *place)
{
	return place->index < MCG_BUCKETS;
}

static int mcg_read(struct drv_device *dev, uint32_t index, struct mcg_entry *e)
{
	return drv_cmd_out(dev, HCR_READ_MCG, index, 0, e, sizeof(*e));
}

static int mcg_write(struct drv_device *dev, uint32_t index, const struct mcg_entry *e)
{
	return drv_cmd_in(dev, HCR_WRITE_MCG, index, 0, e, sizeof(*e));
}

static int mcg_find(struct drv_device *dev, const uint8_t *mgid, struct mcg_place *place)
{
	struct drv_raw_cmd cmd = {
		.op = HCR_MGID_HASH, .in = mgid, .in_len = DRV_GID_BYTES, .out_imm = true};
	int rc = mlx4_cmd(dev, &cmd);

	if (rc)
		return rc;
	*place = (struct mcg_place){.index = (uint32_t)cmd.out_param & 0xffff};
	for (;;) {
		rc = mcg_read(dev, place->index, &place->entry);
		if (rc)
			return rc;
		if (!mcg_entry_get_members(&place->entry)) {
			place->empty_bucket = is_bucket(place);
			return 0;
		}
		place->found = !memcmp(mcg_entry_mgid_cptr(&place->entry), mgid, DRV_GID_BYTES);
		if (place->found || !mcg_entry_get_next_index(&place->entry))
			return 0;
		place->previous = place->index;
		place->index = mcg_entry_get_next_index(&place->entry);
	}
}

static void member_set(struct mcg_entry *e, unsigned n, uint32_t qpn, bool block)
{
	mcg_member_set_qpn(mcg_entry_member(e, n), qpn);
	mcg_member_set_block_loopback(mcg_entry_member(e, n), block);
}

static void entry_new(struct mcg_entry *e, const uint8_t *mgid, uint32_t qpn, bool block)
{
	memset(e, 0, sizeof(*e));
	memcpy(mcg_entry_mgid_ptr(e), mgid, DRV_GID_BYTES);
	mcg_entry_set_members(e, 1);
	member_set(e, 0, qpn, block);
}

/* Appends an entry to a chain. Writes the entry before the link to it, or the device would follow a
 * link to an invalid entry. */
static int chain_append(struct drv_device *dev, struct mcg_place *place, const uint8_t *mgid,
			uint32_t qpn, bool block)
{
	struct mcg_entry e;
	uint32_t n;
	int rc = drv_bitmap_alloc(&dev->mcgs, &n);

	if (rc)
		return rc;
	entry_new(&e, mgid, qpn, block);
	rc = mcg_write(dev, MCG_BUCKETS + n, &e);
	if (!rc) {
		mcg_entry_set_next_index(&place->entry, MCG_BUCKETS + n);
		rc = mcg_write(dev, place->index, &place->entry);
	}
	if (rc)
		drv_bitmap_free(&dev->mcgs, n);
	return rc;
}

static int mcast_attach(struct drv_qp *qp, const uint8_t *mgid, bool block)
{
	struct drv_device *dev = qp->dev;
	struct mcg_place place;
	uint32_t members;
	int rc = mcg_find(dev, mgid, &place);

	if (rc)
		return rc;
	if (place.empty_bucket) {
		entry_new(&place.entry, mgid, qp->qpn, block);
		return mcg_write(dev, place.index, &place.entry);
	}
	if (!place.found)
		return chain_append(dev, &place, mgid, qp->qpn, block);
	members = mcg_entry_get_members(&place.entry);
	for (uint32_t i = 0; i < members; i++)
		if (mcg_member_get_qpn(mcg_entry_member(&place.entry, i)) == qp->qpn)
			return 0;
	if (members == MCG_MEMBERS_MAX)
		return -ENOMEM;
	member_set(&place.entry, members, qp->qpn, block);
	mcg_entry_set_members(&place.entry, members + 1);
	return mcg_write(dev, place.index, &place.entry);
}

/* Removes an entry without members from its chain. A bucket's entry is replaced by the next one. */
static int entry_remove(struct drv_device *dev, struct mcg_place *place)
{
	const uint32_t next = mcg_entry_get_next_index(&place->entry);
	uint32_t freed = place->index;
	struct mcg_entry e = {0};
	int rc = 0;

	if (is_bucket(place)) {
		freed = next;
		if (next)
			rc = mcg_read(dev, next, &e);
		if (!rc)
			rc = mcg_write(dev, place->index, &e);
	} else {
		rc = mcg_read(dev, place->previous, &e);
		if (!rc) {
			mcg_entry_set_next_index(&e, next);
			rc = mcg_write(dev, place->previous, &e);
		}
	}
	if (!rc && freed >= MCG_BUCKETS)
		drv_bitmap_free(&dev->mcgs, freed - MCG_BUCKETS);
	return rc;
}

static int mcast_detach(struct drv_qp *qp, const uint8_t *mgid)
{
	struct drv_device *dev = qp->dev;
	struct mcg_place place;
	uint32_t members, at;
	int rc = mcg_find(dev, mgid, &place);

	if (rc)
		return rc;
	if (!place.found)
		return -EINVAL;
	members = mcg_entry_get_members(&place.entry);
	for (at = 0; at < members; at++)
		if (mcg_member_get_qpn(mcg_entry_member(&place.entry, at)) == qp->qpn)
			break;
	if (at == members)
		return -EINVAL;
	if (members == 1)
		return entry_remove(dev, &place);
	*mcg_entry_member(&place.entry, at) = *mcg_entry_member(&place.entry, members - 1);
	memset(mcg_entry_member(&place.entry, members - 1), 0, sizeof(struct mcg_member));
	mcg_entry_set_members(&place.entry, members - 1);
	return mcg_write(dev, place.index, &place.entry);
}

int mlx4_mcast_attach(struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES], bool block_loopback)
{
	int rc;

	if (qp->service != QP_ST_UD)
		return -EINVAL;
	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	drv_lock(qp->dev, &qp->dev->mcg_lock);
	rc = mcast_attach(qp, mgid, block_loopback);
	drv_unlock(qp->dev, &qp->dev->mcg_lock);
	return DRV_LEAVE(qp->dev, rc);
}

int mlx4_mcast_detach(struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES])
{
	int rc;

	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	drv_lock(qp->dev, &qp->dev->mcg_lock);
	rc = mcast_detach(qp, mgid);
	/* a dead device has no groups any more */
	if (qp->dev->dead)
		rc = 0;
	drv_unlock(qp->dev, &qp->dev->mcg_lock);
	return DRV_LEAVE(qp->dev, rc);
}

int drv_mcgs_init(struct drv_device *dev)
{
	int rc = drv_mutex_init(dev, &dev->mcg_lock);

	if (rc)
		return rc;
	rc = drv_bitmap_init(&dev->mcgs, MCG_BUCKETS, MCG_BUCKETS - 1, 0, 0);
	if (rc)
		drv_mutex_cleanup(dev, &dev->mcg_lock);
	return rc;
}

void drv_mcgs_cleanup(struct drv_device *dev)
{
	drv_bitmap_cleanup(&dev->mcgs);
	drv_mutex_cleanup(dev, &dev->mcg_lock);
}
