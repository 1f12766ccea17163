/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance management agent. Source: InfiniBand specification, volume 1, 16.1. PortCounters
 * stop at their largest value. They and PortCountersExtended count the same events, but are set
 * separately.
 */
#include "fw/mad.h"

enum {
	CAP_EXT_WIDTH = 1 << 9,
	CAP_XMIT_WAIT = 1 << 12,
	RESP_TIME = 18,
	SELECT_XMIT_WAIT = 1, /* CounterSelect2 */
};

static uint64_t counter_read(uint32_t port, enum fw_port_counter n)
{
	uint32_t low;

	fw_write(FW_PORT(port, COUNTER_INDEX), n);
	low = fw_read(FW_PORT(port, COUNTER_LO));
	return (uint64_t)fw_read(FW_PORT(port, COUNTER_HI)) << 32 | low;
}

static void counter_write(uint32_t port, enum fw_port_counter n, uint64_t value)
{
	fw_write(FW_PORT(port, COUNTER_INDEX), n);
	fw_write(FW_PORT(port, COUNTER_LO), (uint32_t)value);
	fw_write(FW_PORT(port, COUNTER_HI), (uint32_t)(value >> 32));
}

static uint32_t capped(uint64_t value, uint32_t most)
{
	return value > most ? most : (uint32_t)value;
}

/* The data counters of PortCounters are the wide counters less a base. */
static uint64_t *base_of(uint32_t port, enum fw_port_counter n)
{
	return &port_of(port)->counter_base[n - FW_PC_XMIT_DATA];
}

/* X(field, FW_PC name, largest value, select bit): PortCounters, the error counters */
#define ERROR_COUNTERS(X)                                                                          \
	X(symbol_errors, SYMBOL_ERROR, 0xffff, SYMBOL_ERRORS)                                      \
	X(link_recoveries, LINK_RECOVERY, 0xff, LINK_RECOVERIES)                                   \
	X(link_downed, LINK_DOWNED, 0xff, LINK_DOWNED)                                             \
	X(rcv_errors, RCV_ERRORS, 0xffff, RCV_ERRORS)                                              \
	X(rcv_remote_phys, RCV_REMOTE_PHYS, 0xffff, RCV_REMOTE_PHYS)                               \
	X(rcv_switch_relay, RCV_SWITCH_RELAY, 0xffff, RCV_SWITCH_RELAY)                            \
	X(xmit_discards, XMIT_DISCARDS, 0xffff, XMIT_DISCARDS)                                     \
	X(xmit_constraint, XMIT_CONSTRAINT, 0xff, XMIT_CONSTRAINT)                                 \
	X(rcv_constraint, RCV_CONSTRAINT, 0xff, RCV_CONSTRAINT)                                    \
	X(local_integrity, LOCAL_INTEGRITY, 0xf, LOCAL_INTEGRITY)                                  \
	X(buffer_overruns, BUFFER_OVERRUN, 0xf, BUFFER_OVERRUNS)                                   \
	X(vl15_dropped, VL15_DROPPED, 0xffff, VL15_DROPPED)

#define DATA_COUNTERS(X)                                                                           \
	X(xmit_data, XMIT_DATA, XMIT_DATA)                                                         \
	X(rcv_data, RCV_DATA, RCV_DATA)                                                            \
	X(xmit_pkts, XMIT_PKTS, XMIT_PKTS)                                                         \
	X(rcv_pkts, RCV_PKTS, RCV_PKTS)

/* X(field, FW_PC name, select bit): further counters of PortCountersExtended */
#define CAST_COUNTERS(X)                                                                           \
	X(ucast_xmit, UNICAST_XMIT, 4)                                                             \
	X(ucast_rcv, UNICAST_RCV, 5)                                                               \
	X(mcast_xmit, MULTICAST_XMIT, 6)                                                           \
	X(mcast_rcv, MULTICAST_RCV, 7)

static void counters_get(uint32_t port, struct port_counters *c)
{
	memset(c, 0, sizeof(*c));
	port_counters_set_port_select(c, port);
#define X(field, name, most, bit)                                                                  \
	port_counters_set_##field(c, capped(counter_read(port, FW_PC_##name), most));
	ERROR_COUNTERS(X)
#undef X
#define X(field, name, bit)                                                                        \
	port_counters_set_##field(                                                                 \
		c, capped(counter_read(port, FW_PC_##name) - *base_of(port, FW_PC_##name),         \
			  UINT32_MAX));
	DATA_COUNTERS(X)
#undef X
	port_counters_set_xmit_wait(c, capped(counter_read(port, FW_PC_XMIT_WAIT), UINT32_MAX));
}

static void counters_set(uint32_t port, const struct port_counters *c)
{
	uint32_t select = port_counters_get_counter_select(c);

#define X(field, name, most, bit)                                                                  \
	if (select >> PORT_COUNTER_##bit & 1)                                                      \
		counter_write(port, FW_PC_##name, port_counters_get_##field(c));
	ERROR_COUNTERS(X)
#undef X
#define X(field, name, bit)                                                                        \
	if (select >> PORT_COUNTER_##bit & 1)                                                      \
		*base_of(port, FW_PC_##name) =                                                     \
			counter_read(port, FW_PC_##name) - port_counters_get_##field(c);
	DATA_COUNTERS(X)
#undef X
	if (port_counters_get_counter_select2(c) & SELECT_XMIT_WAIT)
		counter_write(port, FW_PC_XMIT_WAIT, port_counters_get_xmit_wait(c));
}

static void ext_get(uint32_t port, struct port_counters_ext *c)
{
	memset(c, 0, sizeof(*c));
	port_counters_ext_set_port_select(c, port);
#define X(field, name, bit) port_counters_ext_set_##field(c, counter_read(port, FW_PC_##name));
	DATA_COUNTERS(X)
	CAST_COUNTERS(X)
#undef X
}

static void ext_set(uint32_t port, const struct port_counters_ext *c)
{
	uint32_t select = port_counters_ext_get_counter_select(c);

	/* Keeps the value of the narrow counter. */
#define X(field, name, bit)                                                                        \
	if (select >> (PORT_COUNTER_##bit - PORT_COUNTER_XMIT_DATA) & 1) {                         \
		uint64_t value = port_counters_ext_get_##field(c);                                 \
                                                                                                   \
		*base_of(port, FW_PC_##name) += value - counter_read(port, FW_PC_##name);          \
		counter_write(port, FW_PC_##name, value);                                          \
	}
	DATA_COUNTERS(X)
#undef X
#define X(field, name, bit)                                                                        \
	if (select >> (bit)&1)                                                                     \
		counter_write(port, FW_PC_##name, port_counters_ext_get_##field(c));
	CAST_COUNTERS(X)
#undef X
}

static enum mad_status class_port_info(struct gmp *gmp, bool set)
{
	struct class_port_info *i = (struct class_port_info *)gmp_data_ptr(gmp);

	if (set)
		return MAD_STATUS_BAD_METHOD_ATTR;
	memset(i, 0, sizeof(*i));
	class_port_info_set_base_version(i, MAD_BASE_VERSION);
	class_port_info_set_class_version(i, 1);
	class_port_info_set_cap_mask(i, CAP_EXT_WIDTH | CAP_XMIT_WAIT);
	class_port_info_set_resp_time(i, RESP_TIME);
	return MAD_STATUS_OK;
}

static enum mad_status port_counters(uint32_t port, struct gmp *gmp, bool set)
{
	struct port_counters *c = (struct port_counters *)gmp_data_ptr(gmp);

	if (port_counters_get_port_select(c) != port)
		return MAD_STATUS_BAD_VALUE;
	if (set)
		counters_set(port, c);
	counters_get(port, c);
	return MAD_STATUS_OK;
}

static enum mad_status port_counters_ext(uint32_t port, struct gmp *gmp, bool set)
{
	struct port_counters_ext *c = (struct port_counters_ext *)gmp_data_ptr(gmp);

	if (port_counters_ext_get_port_select(c) != port)
		return MAD_STATUS_BAD_VALUE;
	if (set)
		ext_set(port, c);
	ext_get(port, c);
	return MAD_STATUS_OK;
}

enum mad_result pma_process(uint32_t port, struct gmp *gmp)
{
	struct mad_hdr *hdr = gmp_hdr(gmp);
	uint32_t method = mad_hdr_get_method(hdr);
	bool set = method == MAD_METHOD_SET;

	if (mad_hdr_get_class_version(hdr) != 1)
		return mad_reply(hdr, MAD_STATUS_BAD_VERSION);
	if (method != MAD_METHOD_GET && !set)
		return mad_reply(hdr, MAD_STATUS_BAD_METHOD);
	switch (mad_hdr_get_attr_id(hdr)) {
	case PMA_ATTR_CLASS_PORT_INFO:
		return mad_reply(hdr, class_port_info(gmp, set));
	case PMA_ATTR_PORT_COUNTERS:
		return mad_reply(hdr, port_counters(port, gmp, set));
	case PMA_ATTR_PORT_COUNTERS_EXT:
		return mad_reply(hdr, port_counters_ext(port, gmp, set));
	default:
		return mad_reply(hdr, MAD_STATUS_BAD_METHOD_ATTR);
	}
}
