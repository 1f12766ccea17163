/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver tells its users of ports and events, against what the device has told the driver:
 * port attributes, GIDs and P_Keys from the answers of MAD_IFC, asynchronous events from EQEs.
 */
#ifndef TESTBENCH_DSAN_MADS_TOLD_H
#define TESTBENCH_DSAN_MADS_TOLD_H

#include "host_driver/mlx4/mlx4.h"

#include <stdint.h>

struct ask;
struct checker;
struct compared;
struct drv_event;
struct eqe;
struct hcr;
struct ib_port_attr;
struct smp;

/* --- ports --- */

/* The device has answered a MAD of its own port. */
void told_mad(const struct checker *c, unsigned port, const struct smp *in, const struct smp *out);
/* How many so far: `since` of the questions below. */
uint32_t told_mads(void);
void told_port_check(const struct ask *a, uint32_t since, unsigned port,
		     const struct drv_port_attr *attr);
/* An Ethernet port has no PortInfo: its path MTU follows from that of its frames. */
void told_frame_check(const struct ask *a, unsigned port, const struct drv_port_attr *attr,
		      unsigned frame_mtu);
void told_gid_check(const struct ask *a, uint32_t since, unsigned port, unsigned index,
		    const uint8_t *gid);
void told_pkey_check(const struct ask *a, uint32_t since, unsigned port, unsigned index,
		     const uint16_t *pkey);
/* A question for this GID (`attr` GUIDInfo) or P_Key (PKeyTable) failed: was the block the right one? */
void told_block_check(const struct ask *a, uint32_t since, unsigned port, unsigned attr,
		      unsigned index);
/* The P_Key that the port's table has there; false: the table is newer than that time, or has no such
 * place. */
bool told_pkey_at(const struct checker *c, unsigned port, unsigned index, uint64_t since_ps,
		  uint16_t *pkey);
/* A packet of QP1 has that P_Key. */
void told_pkey_is_current(struct compared *c, unsigned port, uint16_t pkey);
/* A layer above goes by what it keeps of the port. */
void told_kept_check(struct checker *c, unsigned port, const struct ib_port_attr *kept);
/* As PortInfo said last; 0: not known. */
unsigned told_manager_lid(const struct checker *c, unsigned port, unsigned *sl);
/* The driver gives a command. */
void told_command(struct checker *c, const struct hcr *command);

/* --- events --- */

/* The driver has looked at an EQE; it has told its users; it is done with the EQEs so far. */
void told_eqe(struct checker *c, const struct eqe *e, const void *pc);
void told_event(struct checker *c, const struct drv_event *event);
void told_eqes_end(struct checker *c, const void *pc);

#endif
