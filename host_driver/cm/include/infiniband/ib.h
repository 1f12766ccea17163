/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of family AF_IB, for programs that use them. rdma_cm here accepts only IPv4 and IPv6,
 * and returns EAFNOSUPPORT for others. Layout: Linux, include/rdma/ib.h. */
#ifndef INFINIBAND_IB_H
#define INFINIBAND_IB_H

#include <linux/types.h>
#include <stdint.h>

#ifndef AF_IB
#define AF_IB 27
#endif
#ifndef PF_IB
#define PF_IB AF_IB
#endif

struct ib_addr {
	union {
		uint8_t uib_addr8[16];
		__be16 uib_addr16[8];
		__be32 uib_addr32[4];
		__be64 uib_addr64[2];
	} ib_u;
};
#define sib_addr8  ib_u.uib_addr8
#define sib_addr16 ib_u.uib_addr16
#define sib_addr32 ib_u.uib_addr32
#define sib_addr64 ib_u.uib_addr64
#define sib_raw    ib_u.uib_addr8

struct sockaddr_ib {
	unsigned short sib_family;
	__be16 sib_pkey;
	__be32 sib_flowinfo;
	struct ib_addr sib_addr;
	__be64 sib_sid, sib_sid_mask, sib_scope_id;
};

#endif
