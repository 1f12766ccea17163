/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/cmds.h"
#include "fw/mad.h"

static enum mad_result mad_process(uint32_t port, uint32_t slid, uint8_t *mad, bool ignore_mkey)
{
	struct mad_hdr *hdr = (struct mad_hdr *)mad;

	/* With another base version even the places of the fields are unknown (IBA 13.4.2). */
	if (mad_hdr_get_base_version(hdr) != MAD_BASE_VERSION)
		return MAD_DROP;
	switch (mad_hdr_get_mgmt_class(hdr)) {
	case MAD_CLASS_SUBN_LID:
	case MAD_CLASS_SUBN_DR:
		return sma_process(port, slid, (struct smp *)mad, ignore_mkey);
	case MAD_CLASS_PERF:
		return pma_process(port, (struct gmp *)mad);
	default:
		return mad_reply(hdr, MAD_STATUS_BAD_VERSION);
	}
}

enum hcr_status cmd_mad_ifc(struct fw_cmd *c)
{
	uint32_t port = c->in_mod & MAD_IFC_PORT_MASK;

	if (!port_exists(port))
		return HCR_STATUS_BAD_INDEX;
	if (c->op_mod & MAD_IFC_NET_VIEW)
		return HCR_STATUS_BAD_OP;
	memcpy(fw.out, mad_ifc_mad_cptr((const struct mad_ifc *)fw.in), MAD_BYTES);
	c->out_size = MAD_BYTES;
	if (mad_process(port, c->in_mod >> MAD_IFC_SLID_SHIFT, fw.out,
			c->op_mod & MAD_IFC_IGNORE_MKEY) == MAD_DROP)
		return HCR_STATUS_BAD_PKT;
	return HCR_STATUS_OK;
}
