// SPDX-License-Identifier: Apache-2.0
/* MADs for the device's own agents: what MAD_IFC is given, and what it answers. */
#include "testbench/dsan/mads/mads_impl.h"

#include "host_driver/drv/ops.h"
#include "model/interface/commands.h"

#include <string.h>

/* The agent says where the MAD came from, as its completion has. Source for SMInfo: Linux mlx4's
 * ib_process_mad */
void mads_ifc_begin(const struct checker *c, const struct mad_ifc_asked *m, const void *pc)
{
	const struct special *s = m->source ? mads_special_at(c, m->port, m->source->my_qpn) : NULL;
	const struct drv_mad_source *from = m->source;
	struct smp mad;

	memcpy(&mad, m->in, sizeof(mad));
	if (s && !m->source->my_qpn && mad_hdr_get_attr_id(smp_hdr(&mad)) == SMP_ATTR_SM_INFO)
		mads_tell(s, RULE_mad_lost, pc,
			  "SMInfo is given to the device's agents, and the subnet manager on the "
			  "host does not get it");
	for (unsigned n = s ? s->n_came : 0; n-- && s->n_came - n <= CAME;) {
		const struct came *came = &s->came[n % CAME];

		if (mad_hdr_get_tid(smp_hdr_const(&came->mad)) != mad_hdr_get_tid(smp_hdr(&mad)))
			continue;
		if (came->slid != from->slid || came->sl != from->sl ||
		    came->path_bits != from->path_bits || came->src_qp != from->src_qp ||
		    came->has_grh != from->has_grh || came->pkey_index != from->pkey_index ||
		    (came->has_grh && memcmp(came->grh, from->grh, sizeof(came->grh))))
			mads_tell(s, RULE_context_differs, pc,
				  "the device's agents are told another source (LID, SL, path "
				  "bits, queue pair, P_Key, GRH) than the MAD came from");
		return;
	}
}

/* Source: Linux mlx4_MAD_IFC */
static void ifc_says(struct compared *d, const struct hcr *command)
{
	const struct ask *a = d->ask;
	struct mad_ifc_asked *m = a->mad;
	const struct drv_mad_source *from = m->source;
	const struct mad_ifc *in = (const void *)checker_address(a->c, hcr_get_in_param(command));
	const uint32_t modifier = m->port | (from ? (uint32_t)from->slid << MAD_IFC_SLID_SHIFT : 0);
	const uint32_t how = from ? MAD_IFC_EXT_INFO : MAD_IFC_IGNORE_MKEY | MAD_IFC_IGNORE_BKEY;

	m->given = true;
	m->token = hcr_get_token(command);
	if (hcr_get_in_mod(command) != modifier || hcr_get_op_mod(command) != how)
		ask_report(a, RULE_context_differs, d->object,
			   "MAD_IFC has input modifier 0x%x and opcode modifier 0x%x, asked for "
			   "0x%x and 0x%x",
			   (unsigned)hcr_get_in_mod(command), (unsigned)hcr_get_op_mod(command),
			   modifier, how);
	if (!in)
		return;
	if (memcmp(mad_ifc_mad_cptr(in), m->in, MAD_BYTES))
		bytes_differ(d, "the MAD of MAD_IFC", mad_ifc_mad_cptr(in), MAD_BYTES);
	if (!from)
		return;
	SAYS(d, mad_ifc, in, my_qpn, from->my_qpn);
	SAYS(d, mad_ifc, in, rqpn, from->src_qp);
	SAYS(d, mad_ifc, in, sl, from->sl);
	SAYS(d, mad_ifc, in, path_bits, from->path_bits);
	SAYS(d, mad_ifc, in, pkey_index, from->pkey_index);
	SAYS(d, mad_ifc, in, grh, from->has_grh);
	if (from->has_grh && memcmp(mad_ifc_grh_bytes_cptr(in), from->grh, GRH_BYTES))
		bytes_differ(d, "the GRH of MAD_IFC", mad_ifc_grh_bytes_cptr(in), GRH_BYTES);
}

void mads_ifc_given(struct checker *c, const struct hcr *command)
{
	const struct ask *a = ask_now(c);
	const uintptr_t at = checker_address(c, hcr_get_in_param(command));
	struct compared d = {.ask = a,
			     .rule = RULE_context_differs,
			     .object = {GUEST_COMMAND, HCR_MAD_IFC},
			     .from = at,
			     .to = at + sizeof(struct mad_ifc)};

	if (a && a->kind == ASK_MAD_IFC && hcr_get_opcode(command) == HCR_MAD_IFC)
		ifc_says(&d, command);
}

void mads_ifc_done(struct checker *c, const struct hcr *command,
		   const struct hca_command_answer *answer)
{
	if (hcr_get_opcode(command) != HCR_MAD_IFC || answer->status)
		return;
	for (struct ask *a = ask_each(NULL); a; a = ask_each(a))
		if (a->kind == ASK_MAD_IFC && a->c == c && a->mad->given &&
		    a->mad->token == hcr_get_token(command))
			a->mad->answered = checker_read(c, hcr_get_out_param(command),
							a->mad->answer, MAD_BYTES);
}

static void answer_expect(const struct ask *a)
{
	const struct drv_mad_source *from = a->mad->source;
	struct special *s = mads_special_at(a->c, a->mad->port, from->my_qpn);
	/* the way back over Ethernet is not told here */
	struct leaving l = {.has_to = s && !drv_port_is_ethernet(drv_device_of(s->qp), s->port),
			    .to = {.dlid = from->slid,
				   .sl = from->sl,
				   .path_bits = from->path_bits,
				   .qpn = from->src_qp,
				   .qkey = from->my_qpn ? QKEY_GSI : 0}};

	memcpy(&l.mad, a->mad->answer, sizeof(l.mad));
	if (!s || !mads_is_response(&l.mad))
		return;
	/* whether the SMI lets a directed one go is its own matter */
	l.must = !mads_is_directed(&l.mad);
	mads_leaving_add(s, &l);
}

void mads_ifc_end(const struct ask *a, int rc, const void *out)
{
	if (rc || !a->mad->answered)
		return;
	if (memcmp(out, a->mad->answer, MAD_BYTES))
		ask_report(a, RULE_command_answer,
			   (struct guest_object){GUEST_COMMAND, HCR_MAD_IFC},
			   "the driver returns another MAD than the one that the device answered");
	if (a->mad->source)
		answer_expect(a);
}
