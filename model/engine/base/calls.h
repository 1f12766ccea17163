/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upward calls. A room of the engine calls the rooms below it by name (dir.mk lists them from
 * bottom to top). It calls a room above it only through these pointers. hca.c sets them; a unit
 * test sets those it needs to functions of its own.
 */
#ifndef MODEL_ENGINE_CALLS_H
#define MODEL_ENGINE_CALLS_H

#include "model/interface/regs.h"

#include <stdint.h>

struct hca;
struct packet;

struct hca_calls {
	/* base: the device has used up its memory, and software has been told. Gives back all that
	 * it holds. */
	void (*give_back)(struct hca *hca);
	/* host: the host has written or read a BAR. Arguments as in pci_function_write(),
	 * pci_function_read(). */
	void (*bar_write)(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			  unsigned size);
	void (*bar_read)(struct hca *hca, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size);
	/* memory: the read of a context begins (receive_stalls) or ends (receive_goes_on) that the
	 * receive unit needs for a packet. */
	void (*receive_stalls)(struct hca *hca);
	void (*receive_goes_on)(struct hca *hca);
	/* complete: a completion of this QP cannot be written. */
	void (*completion_lost)(struct hca *hca, uint32_t qpn);
	/* wire: a packet has come off the link that the port's state lets in and whose CRCs are
	 * right; takes it over. */
	void (*packet_came)(struct hca *hca, struct packet *pkt);
	/* The same with a wrong CRC, `bad` as crc_check() says; it is counted. NULL: the link drops
	 * such packets. */
	void (*packet_bad)(struct hca *hca, struct packet *pkt, unsigned bad);
	/* wire: a frame without RoCE has come in on an Ethernet port; takes it over. NULL: nobody
	 * takes such frames. */
	void (*frame_came)(struct hca *hca, struct packet *pkt);
	/* wire: packet_receive() finds it whole and for this port; takes it over. */
	void (*packet_arrived)(struct hca *hca, struct packet *pkt);
	/* wire: the port's state or its note has changed, and firmware must look at it. */
	void (*port_changed)(struct hca *hca, unsigned port);
	/* Any room, by hca_catastrophe(): the device is stopped. `told` may be NULL. */
	void (*catastrophe)(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			    uint32_t detail, const char *text);
	/* chip: all work stops, and all objects and queues are forgotten (HCA_CTRL = 0). */
	void (*stop)(struct hca *hca);
	/* chip: as stop(), and also resets the map of ICM, the ports and the registers. Then
	 * firmware starts again. */
	void (*soft_reset)(struct hca *hca);
};

#endif
