// SPDX-License-Identifier: Apache-2.0
/* See came.h. */
#include "testbench/dsan/hear/came.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/messages.h"
#include "testbench/dsan/hear/wrote.h"

#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <string.h>

static struct came handled[DEVICES];

struct came *came_of(const struct platform *p)
{
	return &handled[p->host % DEVICES];
}

unsigned came_attr(const struct came *came)
{
	return mad_hdr_get_attr_id(smp_hdr_const(came->mad));
}

void came_differs(const struct came *came, const char *who, const char *what, uint64_t is,
		  uint64_t says, const void *at, size_t bytes)
{
	const void *pc = wrote_find((uintptr_t)at, bytes);
	char names[ENTERED_CHARS] = "";

	if (!pc)
		entered_format(names);
	came->c->tell(came->c, &(struct breach){RULE_event_differs, {0}, pc, NULL},
		      "%s of a message that came (attribute 0x%x) says %s 0x%llx, and in the "
		      "message it is "
		      "0x%llx%s%s",
		      who, came_attr(came), what, (unsigned long long)is, (unsigned long long)says,
		      pc ? "" : "; these ran last: ", names);
}

bool came_told(const struct came *came, const char *who, const struct told *told, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (told[i].is == told[i].says)
			continue;
		came_differs(came, who, told[i].name, told[i].is, told[i].says, told[i].at,
			     told[i].bytes);
		return false;
	}
	return true;
}

void came_bytes_told(const struct came *came, const char *who, const char *what, const void *is,
		     const void *says, size_t bytes, const void *at)
{
	if (memcmp(is, says, bytes))
		came_differs(came, who, what, *(const uint8_t *)is, *(const uint8_t *)says, at,
			     bytes);
}

static const struct came_kind kinds[] = {
#define KIND(ATTR, event, type)                                                                    \
	{                                                                                          \
		CM_ATTR_##ATTR, event, type##_private_data_size                                    \
	}
	KIND(REQ, IB_CM_REQ_RECEIVED, cm_req),
	KIND(MRA, IB_CM_MRA_RECEIVED, cm_mra),
	KIND(REJ, IB_CM_REJ_RECEIVED, cm_rej),
	KIND(REP, IB_CM_REP_RECEIVED, cm_rep),
	KIND(RTU, IB_CM_RTU_RECEIVED, cm_rtu),
	KIND(DREQ, IB_CM_DREQ_RECEIVED, cm_dreq),
	KIND(DREP, IB_CM_DREP_RECEIVED, cm_drep),
	KIND(SIDR_REQ, IB_CM_SIDR_REQ_RECEIVED, cm_sidr_req),
	KIND(SIDR_REP, IB_CM_SIDR_REP_RECEIVED, cm_sidr_rep),
	KIND(LAP, IB_CM_LAP_RECEIVED, cm_lap),
	KIND(APR, IB_CM_APR_RECEIVED, cm_apr),
};

const uint8_t *came_data(const struct came *came, const struct came_kind *kind)
{
	return (const uint8_t *)(came->mad + 1) - kind->room;
}

const struct came_kind *came_kind(unsigned attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].attr == attr)
			return &kinds[i];
	return NULL;
}
