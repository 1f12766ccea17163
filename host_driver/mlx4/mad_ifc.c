// SPDX-License-Identifier: Apache-2.0
/* See mad.h: the command that gives a MAD to the device's own agents. */
#include "host_driver/mlx4/mad.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <string.h>

int drv_mad_ifc(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
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

int drv_smp_get(struct drv_device *dev, unsigned port, enum smp_attr attr, uint32_t attr_mod,
		void *data)
{
	struct smp smp = {0};
	int rc;

	mad_hdr_set_base_version(smp_hdr(&smp), MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(smp_hdr(&smp), MAD_CLASS_SUBN_LID);
	mad_hdr_set_class_version(smp_hdr(&smp), 1);
	mad_hdr_set_method(smp_hdr(&smp), MAD_METHOD_GET);
	mad_hdr_set_attr_id(smp_hdr(&smp), attr);
	mad_hdr_set_attr_mod(smp_hdr(&smp), attr_mod);
	rc = drv_mad_ifc(dev, port, NULL, &smp, &smp);
	if (rc)
		return rc;
	if (mad_hdr_get_status(smp_hdr(&smp)) & (SMP_DIRECTION - 1))
		return -EIO;
	memcpy(data, smp_data_ptr(&smp), smp_data_size);
	return 0;
}
