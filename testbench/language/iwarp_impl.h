/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the words of iwarp.h only. */
#ifndef TESTBENCH_IWARP_IMPL_H
#define TESTBENCH_IWARP_IMPL_H

#include "testbench/iwarp.h"

#include "host_driver/iwarp/tcp.h"
#include "model/interface/macros.h"
#include "testbench/language/tb.h"
#include "testbench/machine/ethernet.h"

enum { IWARP_TEXT_CHARS = 1100 };

struct iw_side {
	struct tb_iwarp *all;
	struct tb_end *end;
	struct tcp_host tcp;
	struct iw_host host;
	struct iw_cm_id *listener;
	struct drv_list messages; /* that it has sent */
	struct drv_list requests; /* struct tb_iw that no word has taken */
	struct drv_list connections;
	struct drv_list rdma; /* struct tb_rdma_iw */
	enum tb_iw_act within_request;
	/* the latest SYN that has arrived, and the latest frame that was sent */
	uint16_t syn_from, syn_to, syn_mss;
	bool sent;
	uint16_t ip_id;
	struct iw_timer *timers;
	struct event due;
};

struct tb_iwarp {
	struct tb *tb;
	/* The scenario fails, unless wrong is NULL: what was expected where that side sent or said this. */
	void (*wrong)(const struct iw_side *side, const char *wrong, const char *what);
	struct ethernet *ethernet;
	struct drv_list ways; /* struct iwarp_way */
	struct iw_side sides[TB_ENDS];
};

/* iwarp.c: connections and their listeners */

/* NULL: no memory. */
struct iw_side *iwarp_side(struct tb *tb, const struct tb_end *end);
/* False: nothing came for 60 s. */
bool iwarp_wait_for(struct tb *tb, struct drv_list *list);
bool iwarp_number_fits(int64_t want, int64_t got);

/* iwarp_hosts.c: the TCP of each end, and the cable between them */

void iwarp_host_begin(struct iw_side *side, struct ethernet_user *user);
void iwarp_host_end(struct iw_side *side);
/* A frame leaves. */
void iwarp_frame_send(struct iw_side *side, const uint8_t *frame, size_t n);

/* iwarp_wire.c: what leaves, judged by the RFCs. NULL, or what is wrong: what was expected. */

/* The TCP of that side sends a frame, or gets one. */
const char *iwarp_wire_frame(struct iw_side *side, const uint8_t *frame, size_t n);
void iwarp_wire_arrived(struct iw_side *side, const uint8_t *frame, size_t n);
/* The connection says that it has sent a message, or (text NULL) this ULPDU was sent by hand. */
const char *iwarp_wire_said(struct iw_side *side, struct iw_cm_id *id, const char *text,
			    const uint8_t *ulpdu, size_t len);
/* The connection tells a TERMINATE. */
const char *iwarp_wire_term(struct iw_side *side, struct iw_cm_id *id, enum iw_term term,
			    bool sent);
/* A Request is told with the address of its peer. */
const char *iwarp_wire_peer(struct iw_side *side, struct iw_cm_id *id, struct iw_address peer);
/* Whether the side has sent more than it has said. */
const char *iwarp_wire_left(struct iw_side *side);
void iwarp_wire_free(struct tb_iwarp *all);

/* iwarp_rdma.c: ids of librdmacm */

void iwarp_rdma_free(struct drv_list *list);
/* Fails if one of them has an event that nobody expected. */
void iwarp_rdma_judge(struct tb *tb, const char *here, struct drv_list *list);

#endif
