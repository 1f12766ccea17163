/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of manage.h. */
#include "testbench/manage.h"
#include "testbench/language/tb.h"

#include <errno.h>

enum { ANSWER_MS = 20 };

static bool is_smp(unsigned mgmt_class)
{
	return mgmt_class == MAD_CLASS_SUBN_DR || mgmt_class == MAD_CLASS_SUBN_LID;
}

struct smp mad_of(unsigned mgmt_class, unsigned method, unsigned attr)
{
	struct smp mad = {0};
	struct mad_hdr *hdr = smp_hdr(&mad);

	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, mgmt_class);
	mad_hdr_set_class_version(hdr, 1);
	mad_hdr_set_method(hdr, method);
	mad_hdr_set_attr_id(hdr, attr);
	if (mgmt_class == MAD_CLASS_SUBN_DR) {
		smp_set_dr_slid(&mad, LID_PERMISSIVE);
		smp_set_dr_dlid(&mad, LID_PERMISSIVE);
	}
	return mad;
}

static struct smp request_of(const struct tb_ask *ask, unsigned mgmt_class)
{
	struct smp smp = mad_of(mgmt_class, (unsigned)ask->method, ask->attr);
	struct mad_hdr *hdr = smp_hdr(&smp);

	mad_hdr_set_base_version(hdr, (uint32_t)ask->base_version);
	mad_hdr_set_class_version(hdr, (uint32_t)ask->class_version);
	mad_hdr_set_attr_mod(hdr, ask->mod);
	if (is_smp(mgmt_class))
		smp_set_mkey(&smp, ask->mkey);
	if (mgmt_class == MAD_CLASS_SUBN_DR) {
		mad_hdr_set_hop_count(hdr, ask->hops);
		smp_initial_path_ptr(&smp)[1] = (uint8_t)ask->port;
	}
	if (ask->data)
		memcpy(smp_data_ptr(&smp), ask->data,
		       is_smp(mgmt_class) ? smp_data_size : gmp_data_size);
	return smp;
}

struct port_info port_info_to_set(const struct smp *answer)
{
	struct port_info info;

	memcpy(&info, smp_data_cptr(answer), sizeof(info));
	port_info_set_state(&info, PORT_STATE_NOP);
	port_info_set_phys_state(&info, PORT_PHYS_NOP);
	return info;
}

void tb_ask(struct tb *tb, const char *here, struct tb_end *end, struct smp *answer,
	    const struct tb_ask *ask)
{
	const unsigned mgmt_class = (unsigned)ask->mgmt_class;
	const unsigned qpn = is_smp(mgmt_class) ? QPN_SMI : QPN_GSI;
	struct drv_mad_addr to = {
		.dlid = (unsigned)ask->dlid, .qpn = qpn, .qkey = qpn == QPN_GSI ? QKEY_GSI : 0};
	struct smp request;
	int rc;

	if (!tb_go(tb, here))
		return;
	if (end->ethernet)
		to.ah = ah_to(end->peer);
	request = request_of(ask, mgmt_class);
	memset(answer, 0, sizeof(*answer));
	rc = drv_mad_call(end->dev, (unsigned)ask->port, qpn, &to, &request, answer,
			  CFG_MS(ANSWER_MS));
	if (ask->maybe_silent && rc == -ETIMEDOUT)
		rc = 0;
	if (!tb_must(tb, here, "drv_mad_call", rc, ask->silent ? -ETIMEDOUT : 0) || ask->silent ||
	    ask->maybe_silent)
		return;
	tb_expect_equal(tb, here, "method of the answer", mad_hdr_get_method(smp_hdr(answer)),
			MAD_METHOD_GET_RESP);
	tb_expect_equal(tb, here, "transaction of the answer", mad_hdr_get_tid(smp_hdr(answer)),
			mad_hdr_get_tid(smp_hdr(&request)));
	tb_expect_equal(tb, here, "status of the answer",
			mad_hdr_get_status(smp_hdr(answer)) & (SMP_DIRECTION - 1), ask->status);
}

void tb_write_pkeys(struct tb *tb, const char *here, struct tb_end *end, unsigned port,
		    unsigned hops, const uint16_t *keys, unsigned n)
{
	struct pkey_table table = {{0}};
	struct smp answer;

	for (unsigned i = 0; i < n; i++)
		pkey_table_set(&table, i, keys[i]);
	tb_ask(tb, here, end, &answer,
	       &(const struct tb_ask){.mgmt_class = MAD_CLASS_SUBN_DR,
				      .method = MAD_METHOD_SET,
				      .attr = SMP_ATTR_PKEY_TABLE,
				      .port = port,
				      .base_version = MAD_BASE_VERSION,
				      .class_version = 1,
				      .hops = hops,
				      .dlid = LID_PERMISSIVE,
				      .data = &table});
}
