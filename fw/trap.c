/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps: notices that a port sends to the subnet manager. A port has one at a time. The firmware
 * gives it to the host, which knows the path and forwards it, and repeats it each subnet timeout
 * until the manager represses it.
 * Source: InfiniBand specification, volume 1, 13.4.9, 14.2.5.1, 14.3.
 */
#include "fw/mad.h"

enum {
	NOTICE_SECURITY = 2,
	PRODUCER_CA = 1,
	TRAP_BAD_MKEY = 256,
	TIMEOUT_UNIT_NS = 4096,
	PATH_BYTES = 30, /* of the path, in the details of the notice */
};

static void trap_send(uint32_t port)
{
	struct fw_port *p = port_of(port);

	fw_write(FW_PORT(port, SELF_MAD), fw_ram_address(&p->trap));
	p->trap_ns = fw_now_ns() + ((uint64_t)TIMEOUT_UNIT_NS << p->subnet_timeout);
	port_timer_set();
}

/* Begins a new trap of the port; the caller fills in its details. NULL: another trap is not yet
 * repressed, the port is not ACTIVE, or nobody manages the subnet. */
static uint8_t *trap_begin(uint32_t port, uint32_t number)
{
	struct fw_port *p = port_of(port);
	struct mad_hdr *hdr = smp_hdr(&p->trap);
	struct notice *n = (struct notice *)smp_data_ptr(&p->trap);

	if (p->trap_ns != UINT64_MAX || !(fw_read(FW_PORT(port, SMLID)) & 0xffff) ||
	    p->logical != PORT_STATE_ACTIVE)
		return NULL;
	memset(&p->trap, 0, sizeof(p->trap));
	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, MAD_CLASS_SUBN_LID);
	mad_hdr_set_class_version(hdr, 1);
	mad_hdr_set_method(hdr, MAD_METHOD_TRAP);
	mad_hdr_set_tid(hdr, ++p->trap_tid);
	mad_hdr_set_attr_id(hdr, SMP_ATTR_NOTICE);
	smp_set_mkey(&p->trap, p->mkey);
	notice_set_generic(n, 1);
	notice_set_type(n, NOTICE_SECURITY);
	notice_set_producer(n, PRODUCER_CA);
	notice_set_trap_number(n, number);
	notice_set_issuer_lid(n, fw_read(FW_PORT(port, LID)) & 0xffff);
	return notice_details_ptr(n);
}

void trap_mkey(uint32_t port, uint32_t slid, const struct smp *smp)
{
	const struct mad_hdr *hdr = smp_hdr_const(smp);
	struct notice_mkey *d = (struct notice_mkey *)trap_begin(port, TRAP_BAD_MKEY);

	if (!d)
		return;
	notice_mkey_set_lid(d, slid);
	notice_mkey_set_method(d, mad_hdr_get_method(hdr));
	notice_mkey_set_attr_id(d, mad_hdr_get_attr_id(hdr));
	notice_mkey_set_attr_mod(d, mad_hdr_get_attr_mod(hdr));
	notice_mkey_set_mkey(d, smp_get_mkey(smp));
	if (mad_hdr_get_mgmt_class(hdr) == MAD_CLASS_SUBN_DR) {
		notice_mkey_set_dr_slid(d, smp_get_dr_slid(smp));
		notice_mkey_set_directed(d, 1);
		notice_mkey_set_hops(d, mad_hdr_get_hop_count(hdr));
		memcpy(notice_mkey_path_ptr(d), smp_return_path_cptr(smp), PATH_BYTES);
	}
	trap_send(port);
}

void trap_key(uint32_t port)
{
	uint32_t number = fw_read(FW_PORT(port, NOTE)), lids, source;
	struct notice_key *d;

	if (!number)
		return;
	d = (struct notice_key *)trap_begin(port, number);
	if (d) {
		lids = fw_read(FW_PORT(port, NOTE_LIDS));
		source = fw_read(FW_PORT(port, NOTE_SOURCE));
		notice_key_set_lid1(d, lids >> 16);
		notice_key_set_lid2(d, lids & 0xffff);
		notice_key_set_key(d, fw_read(FW_PORT(port, NOTE_KEY)));
		notice_key_set_sl(d, source >> 28);
		notice_key_set_qp1(d, source & 0xffffff);
		notice_key_set_qp2(d, fw_read(FW_PORT(port, NOTE_DEST)));
		trap_send(port);
	}
	fw_write(FW_PORT(port, NOTE), 0);
}

void trap_repress(uint32_t port, const struct smp *smp)
{
	struct fw_port *p = port_of(port);

	if (mad_hdr_get_tid(smp_hdr_const(smp)) != p->trap_tid)
		return;
	p->trap_ns = UINT64_MAX;
	port_timer_set();
}

void trap_timer(uint32_t port, uint64_t now_ns)
{
	struct fw_port *p = port_of(port);

	if (p->trap_ns > now_ns)
		return;
	p->trap_ns = UINT64_MAX;
	if (p->logical == PORT_STATE_ACTIVE && fw_read(FW_PORT(port, SMLID)) & 0xffff)
		trap_send(port);
}
