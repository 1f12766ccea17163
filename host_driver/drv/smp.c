// SPDX-License-Identifier: Apache-2.0
/* See mad.h: requests to the own agents, and the SMI's rules for the hop pointer. */
#include "host_driver/mlx4/mad.h"

#include <errno.h>
#include <string.h>

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

/* C14-9, C14-13: outgoing packets of this node. A channel adapter does not forward others. */
bool drv_smi_send(struct smp *smp, unsigned port)
{
	struct mad_hdr *hdr = smp_hdr(smp);
	const uint32_t pointer = mad_hdr_get_hop_pointer(hdr), count = mad_hdr_get_hop_count(hdr);

	if (count > SMP_HOPS_MAX)
		return false;
	if (!mad_hdr_get_direction(hdr)) {
		if (!count || pointer)
			return false;
		if (smp_initial_path_ptr(smp)[1] != port)
			return false;
		mad_hdr_set_hop_pointer(hdr, 1);
		return true;
	}
	if (pointer != count + 1)
		return false;
	mad_hdr_set_hop_pointer(hdr, pointer - 1);
	return true;
}

bool drv_smi_receive(struct smp *smp, unsigned port)
{
	struct mad_hdr *hdr = smp_hdr(smp);
	const uint32_t pointer = mad_hdr_get_hop_pointer(hdr), count = mad_hdr_get_hop_count(hdr);

	if (count > SMP_HOPS_MAX)
		return false;
	if (!mad_hdr_get_direction(hdr)) {
		/* C14-9:3: the end of the way out; a channel adapter does not forward */
		if (pointer != count)
			return false;
		if (count)
			smp_return_path_ptr(smp)[pointer] = (uint8_t)port;
		mad_hdr_set_hop_pointer(hdr, pointer + 1);
		return true;
	}
	/* C14-13:3: the end of the way back */
	if (pointer > 1)
		return false;
	mad_hdr_set_hop_pointer(hdr, 0);
	return true;
}
