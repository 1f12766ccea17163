/* SPDX-License-Identifier: Apache-2.0 */
/* The agents behind MAD_IFC. Each turns a request into its response, in place. */
#ifndef FW_MAD_H
#define FW_MAD_H

#include "fw/port.h"

/* Result of the agent of a management class. */
enum mad_result {
	MAD_REPLY, /* the response, with its status, has replaced the request */
	MAD_DROP,  /* no response: wrong M_Key */
};

enum mad_result sma_process(uint32_t port, uint32_t slid, struct smp *smp, bool ignore_mkey);
enum mad_result pma_process(uint32_t port, struct gmp *gmp);

/* PortInfo of a port. Get fills it in. Set takes the legal values and returns the resulting
 * PortInfo. */
void port_info_get(uint32_t port, struct port_info *info);
enum mad_status port_info_set(uint32_t port, struct port_info *info);

/* In sma_events.c. A subnet manager has written PortInfo, or the entries `mask` of a block of a table:
 * software gets an event if something has changed and the device has such events. */
void port_info_tell(uint32_t port, const struct port_info *was, const struct port_info *is);
void port_table_tell(uint32_t port, enum port_mng_subtype table, uint32_t block, uint32_t mask);

static inline enum mad_result mad_reply(struct mad_hdr *hdr, enum mad_status status)
{
	mad_hdr_set_method(hdr, MAD_METHOD_GET_RESP);
	mad_hdr_set_status(hdr, status);
	return MAD_REPLY;
}

#endif
