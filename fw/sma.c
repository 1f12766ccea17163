/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet management agent. Source: InfiniBand specification, volume 1, chapter 14 (subnet
 * management), 13.4.7 (status).
 */
#include "fw/mad.h"
#include "model/interface/macros.h"
#include "model/interface/regs.h"

enum {
	NODE_TYPE_CA = 1,
	GUIDS_PER_BLOCK = 8,
	PKEYS_PER_BLOCK = 32,
	PORT_MASK = 0xff,      /* modifier of PortInfo: port number */
	EXT_SPEEDS_SHIFT = 31, /* and whether the manager supports extended speeds */
	BLOCK_MASK = 0xffff,   /* modifier of P_KeyTable: block; above it a switch's port */
	VLARB_BLOCK_SHIFT = 16,
	VLARB_USED = 2 * FW_VLARB_ENTRIES, /* bytes */
	VENDOR_OUI = 0x0002c9,             /* of the maker of the compatible device */
};

struct attribute {
	uint16_t id;
	enum mad_status (*get)(uint32_t port, uint32_t modifier, uint8_t *data);
	enum mad_status (*set)(uint32_t port, uint32_t modifier, uint8_t *data);
};

static enum mad_status node_desc_get(uint32_t port, uint32_t modifier, uint8_t *data)
{
	memcpy(data, &fw.description, sizeof(fw.description));
	return MAD_STATUS_OK;
}

static enum mad_status node_info_get(uint32_t port, uint32_t modifier, uint8_t *data)
{
	struct node_info *n = (struct node_info *)data;

	memset(n, 0, sizeof(*n));
	node_info_set_base_version(n, MAD_BASE_VERSION);
	node_info_set_class_version(n, 1);
	node_info_set_node_type(n, NODE_TYPE_CA);
	node_info_set_num_ports(n, fw.num_ports);
	node_info_set_sys_guid(n, fw.sys_guid);
	node_info_set_node_guid(n, fw.node_guid);
	node_info_set_port_guid(n, port_guid_read(port, 0));
	node_info_set_partition_cap(n, port_pkeys());
	node_info_set_device_id(n, fw_read(FW_DEVICE) ? HCA_PCI_DEVICE_PRO : HCA_PCI_DEVICE);
	node_info_set_revision(n, HCA_PCI_REVISION);
	node_info_set_local_port(n, port);
	node_info_set_vendor_id(n, VENDOR_OUI);
	return MAD_STATUS_OK;
}

static enum mad_status guid_info_read(uint32_t port, uint32_t block, uint8_t *data)
{
	uint32_t first = block * GUIDS_PER_BLOCK;

	if (block >= (port_gids() + GUIDS_PER_BLOCK - 1) / GUIDS_PER_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < GUIDS_PER_BLOCK; i++)
		guid_info_set((struct guid_info *)data, i,
			      first + i < port_gids() ? port_guid_read(port, first + i) : 0);
	return MAD_STATUS_OK;
}

/* The first GUID of the table is the port's own and cannot be written. */
static enum mad_status guid_info_write(uint32_t port, uint32_t block, uint8_t *data)
{
	uint32_t first = block * GUIDS_PER_BLOCK, changed = 0;

	if (block >= (port_gids() + GUIDS_PER_BLOCK - 1) / GUIDS_PER_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = first ? 0 : 1; i < GUIDS_PER_BLOCK && first + i < port_gids(); i++) {
		uint64_t guid = guid_info_get((const struct guid_info *)data, i);

		changed |= (uint32_t)(guid != port_guid_read(port, first + i)) << i;
		port_guid_write(port, first + i, guid);
	}
	port_table_tell(port, PORT_MNG_GUID_INFO, block, changed);
	return guid_info_read(port, block, data);
}

/* The port that the SMP names; 0 means the port that received it. False: there is none. */
static bool port_named(uint32_t modifier, uint32_t *port)
{
	if (modifier & PORT_MASK)
		*port = modifier & PORT_MASK;
	return port_exists(*port);
}

static enum mad_status port_info_read(uint32_t port, uint32_t modifier, uint8_t *data)
{
	if (!port_named(modifier, &port))
		return MAD_STATUS_BAD_VALUE;
	port_info_get(port, (struct port_info *)data);
	return MAD_STATUS_OK;
}

/* A manager that does not know extended speeds does not change them. */
static enum mad_status port_info_write(uint32_t port, uint32_t modifier, uint8_t *data)
{
	struct port_info *info = (struct port_info *)data;

	if (!port_named(modifier, &port))
		return MAD_STATUS_BAD_VALUE;
	if (!(modifier >> EXT_SPEEDS_SHIFT))
		port_info_set_ext_speed_enabled(info, 0);
	return port_info_set(port, info);
}

static enum mad_status pkey_table_read(uint32_t port, uint32_t modifier, uint8_t *data)
{
	uint32_t block = modifier & BLOCK_MASK;
	uint32_t first = block * PKEYS_PER_BLOCK;

	if (block >= (port_pkeys() + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < PKEYS_PER_BLOCK; i++)
		pkey_table_set((struct pkey_table *)data, i,
			       first + i < port_pkeys() ? port_pkey_read(port, first + i) : 0);
	return MAD_STATUS_OK;
}

static enum mad_status pkey_table_write(uint32_t port, uint32_t modifier, uint8_t *data)
{
	uint32_t block = modifier & BLOCK_MASK;
	uint32_t first = block * PKEYS_PER_BLOCK, changed = 0;

	if (block >= (port_pkeys() + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < PKEYS_PER_BLOCK && first + i < port_pkeys(); i++) {
		uint32_t pkey = pkey_table_get((const struct pkey_table *)data, i);

		changed |= (uint32_t)(pkey != port_pkey_read(port, first + i)) << i;
		port_pkey_write(port, first + i, pkey);
	}
	port_table_tell(port, PORT_MNG_PKEY_TABLE, block, changed);
	return pkey_table_read(port, block, data);
}

static enum mad_status sl2vl_read(uint32_t port, uint32_t modifier, uint8_t *data)
{
	memset(data, 0, sizeof(struct sl2vl));
	be32_store(data, fw_read(FW_PORT(port, SL2VL_HI)));
	be32_store(data + 4, fw_read(FW_PORT(port, SL2VL_LO)));
	return MAD_STATUS_OK;
}

static enum mad_status sl2vl_write(uint32_t port, uint32_t modifier, uint8_t *data)
{
	fw_write(FW_PORT(port, SL2VL_HI), be32_load(data));
	fw_write(FW_PORT(port, SL2VL_LO), be32_load(data + 4));
	return sl2vl_read(port, modifier, data);
}

/* The register of the first entries of a table: blocks 1 and 2 are the low priority one, 3 and 4 the
 * high one, each of 32 entries. Only the first entries of each table exist: 0 for the other blocks. */
static uint32_t vlarb_register(uint32_t port, uint32_t block)
{
	if (!(block & 1))
		return 0;
	return block < 3 ? FW_PORT(port, VLARB_LOW_0) : FW_PORT(port, VLARB_HIGH_0);
}

static enum mad_status vlarb_read(uint32_t port, uint32_t modifier, uint8_t *data)
{
	uint32_t block = modifier >> VLARB_BLOCK_SHIFT, reg = vlarb_register(port, block);

	if (block < 1 || block > FW_VLARB_BLOCKS)
		return MAD_STATUS_BAD_VALUE;
	memset(data, 0, sizeof(struct vlarb));
	for (uint32_t i = 0; reg && i < VLARB_USED; i += 4)
		be32_store(data + i, fw_read(reg + i));
	return MAD_STATUS_OK;
}

static enum mad_status vlarb_write(uint32_t port, uint32_t modifier, uint8_t *data)
{
	uint32_t block = modifier >> VLARB_BLOCK_SHIFT, reg = vlarb_register(port, block);

	if (block < 1 || block > FW_VLARB_BLOCKS)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; reg && i < VLARB_USED; i += 4)
		fw_write(reg + i, be32_load(data + i));
	return vlarb_read(port, modifier, data);
}

/* There is nothing to report: no vendor link speed is active. */
static enum mad_status ext_port_info_get(uint32_t port, uint32_t modifier, uint8_t *data)
{
	if (!port_named(modifier, &port))
		return MAD_STATUS_BAD_VALUE;
	memset(data, 0, smp_data_size);
	return MAD_STATUS_OK;
}

static const struct attribute attributes[] = {
	{SMP_ATTR_NODE_DESC, node_desc_get, NULL},
	{SMP_ATTR_NODE_INFO, node_info_get, NULL},
	{SMP_ATTR_GUID_INFO, guid_info_read, guid_info_write},
	{SMP_ATTR_PORT_INFO, port_info_read, port_info_write},
	{SMP_ATTR_PKEY_TABLE, pkey_table_read, pkey_table_write},
	{SMP_ATTR_SL2VL, sl2vl_read, sl2vl_write},
	{SMP_ATTR_VLARB, vlarb_read, vlarb_write},
	{SMP_ATTR_EXT_PORT_INFO, ext_port_info_get, NULL},
};

static const struct attribute *attribute_find(uint32_t id)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == id)
			return &attributes[i];
	return NULL;
}

/*
 * IBA 14.2.4: only a requester with the M_Key may write. With protection 0 and 1 anybody may read;
 * from 2 on only a requester with the M_Key. A M_Key of 0 means no protection.
 */
static bool mkey_passes(uint32_t port, uint32_t slid, const struct smp *smp)
{
	struct fw_port *p = port_of(port);
	bool get = mad_hdr_get_method(smp_hdr_const(smp)) == MAD_METHOD_GET;

	if (p->mkey == 0)
		return true;
	if (smp_get_mkey(smp) == p->mkey) {
		port_mkey_matched(port);
		return true;
	}
	if (get && p->mkey_protect < 2)
		return true;
	port_mkey_violation(port);
	trap_mkey(port, slid, smp);
	return false;
}

/* Protection 1 hides the M_Key from a requester that does not have it. */
static void mkey_hide(uint32_t port, struct smp *smp)
{
	const struct fw_port *p = port_of(port);

	if (mad_hdr_get_attr_id(smp_hdr(smp)) == SMP_ATTR_PORT_INFO && p->mkey_protect == 1 &&
	    smp_get_mkey(smp) != p->mkey)
		port_info_set_mkey((struct port_info *)smp_data_ptr(smp), 0);
}

static enum mad_status smp_execute(uint32_t port, struct smp *smp)
{
	struct mad_hdr *hdr = smp_hdr(smp);
	const struct attribute *a = attribute_find(mad_hdr_get_attr_id(hdr));
	uint32_t modifier = mad_hdr_get_attr_mod(hdr);

	switch (mad_hdr_get_method(hdr)) {
	case MAD_METHOD_GET:
		return a ? a->get(port, modifier, smp_data_ptr(smp)) : MAD_STATUS_BAD_METHOD_ATTR;
	case MAD_METHOD_SET:
		return a && a->set ? a->set(port, modifier, smp_data_ptr(smp))
				   : MAD_STATUS_BAD_METHOD_ATTR;
	default:
		return MAD_STATUS_BAD_METHOD;
	}
}

enum mad_result sma_process(uint32_t port, uint32_t slid, struct smp *smp, bool ignore_mkey)
{
	struct mad_hdr *hdr = smp_hdr(smp);
	enum mad_status status;

	if (mad_hdr_get_class_version(hdr) != 1)
		return mad_reply(hdr, MAD_STATUS_BAD_VERSION);
	if (!ignore_mkey && !mkey_passes(port, slid, smp))
		return MAD_DROP;
	if (mad_hdr_get_method(hdr) == MAD_METHOD_TRAP_REPRESS) {
		trap_repress(port, smp);
		return MAD_REPLY; /* unchanged: this SMP has no answer */
	}
	status = smp_execute(port, smp);
	if (status == MAD_STATUS_OK && !ignore_mkey)
		mkey_hide(port, smp);
	return mad_reply(hdr, status);
}
