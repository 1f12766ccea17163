// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: the way to its peer that connection management takes from a path, which its user gives or the
 * peer's message has. Each part of it is the path's own.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/cm/cm.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <endian.h>

#define UNIT_PS UINT64_C(4096000) /* of times as codes. Source: IBA 12.7.34 */

/* What a path says, in the direction from here. */
struct way {
	unsigned slid, dlid, sl, rate, life_time;
	uint64_t turn_ps; /* there and back */
};

/* Source: Linux cm_init_av_by_path, ib_init_ah_attr_from_path */
static void way_check(const struct cm_device *cm, const struct cm_av *is, const struct way *way,
		      const void *pc)
{
	struct checker *c = checker_of_host(cm->device->platform->host);
	const unsigned bits = way->slid & ((1u << cm->ports[is->port].attr.lmc) - 1);
	const struct {
		const char *name;
		uint64_t is, said;
	} parts[] = {
		{"port", is->ah.port_num, is->port},
		{"LID", is->ah.dlid, way->dlid},
		{"SL", is->ah.sl, way->sl},
		{"rate", is->ah.static_rate, way->rate},
		{"source path bits", is->ah.src_path_bits, bits},
		{"packet life time", is->life_time, way->life_time},
		{"time there and back", is->turn_ps, way->turn_ps},
	};

	for (size_t i = 0; c && i < ARRAY_SIZE(parts); i++) {
		if (parts[i].is == parts[i].said)
			continue;
		c->tell(c, &(struct breach){RULE_mad_answer, {0}, pc, NULL},
			"the way to a peer has %s 0x%llx, and its path says 0x%llx", parts[i].name,
			(unsigned long long)parts[i].is, (unsigned long long)parts[i].said);
		return;
	}
}

/* Over Ethernet a path has no LIDs, and a GID instead. */
W(int, cm_av_from_path, struct cm_device *cm, const struct sa_path_rec *path, struct cm_av *av)
{
	const int rc = __real_cm_av_from_path(cm, path, av);
	const struct way way = {.slid = be16toh(path->ib.slid),
				.dlid = be16toh(path->ib.dlid),
				.sl = path->sl,
				.rate = path->rate,
				.life_time = path->packet_life_time,
				.turn_ps = 2 * UNIT_PS << path->packet_life_time};

	if (!rc && path->rec_type == SA_PATH_REC_TYPE_IB)
		way_check(cm, av, &way, INSIDE(cm_av_from_path));
	return rc;
}

/* Half of an ACK timeout is the most that a life time can be. Source: Linux cm_req_get_primary_path_local_ack_timeout
 * in cm_format_paths_from_req: packet_life_time = timeout - (timeout > 0) */
#define WAY_OF(type, path)                                                                         \
	{                                                                                          \
		.slid = type##_get_remote_lid(path), .dlid = type##_get_local_lid(path),           \
		.sl = type##_get_sl(path), .rate = type##_get_packet_rate(path),                   \
		.life_time = type##_get_ack_timeout(path) - (type##_get_ack_timeout(path) > 0),    \
		.turn_ps = UNIT_PS << type##_get_ack_timeout(path)                                 \
	}

W(int, cm_av_from_msg, struct cm_device *cm, unsigned port, const struct cm_path *path,
  uint16_t pkey, uint8_t mtu, struct cm_av *av)
{
	const int rc = __real_cm_av_from_msg(cm, port, path, pkey, mtu, av);
	const struct way way = WAY_OF(cm_path, path);

	if (!rc)
		way_check(cm, av, &way, INSIDE(cm_av_from_msg));
	return rc;
}

W(int, cm_av_from_lap, struct cm_device *cm, unsigned port, const struct cm_lap_path *path,
  uint16_t pkey, uint8_t mtu, struct cm_av *av)
{
	const int rc = __real_cm_av_from_lap(cm, port, path, pkey, mtu, av);
	const struct way way = WAY_OF(cm_lap_path, path);

	if (!rc)
		way_check(cm, av, &way, INSIDE(cm_av_from_lap));
	return rc;
}
