/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP1 answers what has a P_Key of its port, its well-known Q_Key and, where there is a GRH, a GID of the port.
 * What has another one is dropped: nobody answers, and the next one is answered.
 */
/* behaviours: IBA-9.6.1-pkey */
#include "testbench/manage.h"

enum { PKEY_OTHER = 0x8123, PKEY_ZERO = 0 };

#define ASK(...)                                                                                   \
	inject(b, UD_SEND_ONLY, .qpn = QPN_GSI, .src_qpn = QPN_GSI,                                \
	       .payload = (const void *)&request, .len = sizeof(request), __VA_ARGS__)

SCENARIO(mad_not_for_us, "MADs of another partition, Q_Key or GID are not answered")
{
	static const uint8_t foreign[DRV_GID_BYTES] = {0xfe, 0x80, [8] = 1, [15] = 0x77};
	static const uint8_t unset[DRV_GID_BYTES] = {0xfe,
						     0x80}; /* as entries without a GUID would be */
	const struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO);

	uint8_t of_another_subnet[DRV_GID_BYTES];

	must(drv_query_gid(b->dev, 1, b->gid_index, of_another_subnet));
	/* an IPv4 address has its net in byte 12 */
	of_another_subnet[of_another_subnet[0] ? 7 : 12]++;
	check_mads();
	allow_pkt(mads_b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI); /* traps of wrong keys */
	allow_pkt(mads_a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI);
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		ASK(.qkey = QKEY_GSI, .pkey = PKEY_OTHER);
		ASK(.qkey = QKEY_GSI, .pkey = PKEY_ZERO);
		ASK(.qkey = QKEY_GSI + 1);
		ASK(.qkey = QKEY_GSI, .grh = true, .dgid = foreign);
		ASK(.qkey = QKEY_GSI, .grh = true, .dgid = unset);
		ASK(.qkey = QKEY_GSI, .grh = true, .dgid = of_another_subnet);
		expect_no_more(CFG_US(50));
		ASK(.qkey = QKEY_GSI, .grh = i);
		expect_mad(b_to_a, .qpn = QPN_GSI);
	}
	expect_no_more(CFG_US(50));
}
