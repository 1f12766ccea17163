/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICRC and FCS of an Ethernet frame.
 *
 * ICRC: the same CRC-32 as InfiniBand's (crc.h), over eight bytes of ones in place of the LRH, and
 * then from the GRH or IP header to the pad. It reads as ones: TClass, FlowLabel and HopLmt of GRH
 * or IPv6; TOS, TTL and checksum of IPv4; the checksum of UDP; BTH byte 4. FCS: CRC-32 of the whole
 * frame. Both are sent low byte first. Sources: IBA annexes A16.4.5, A17.9.2; IEEE 802.3 3.2.9.
 */
#ifndef MODEL_ENGINE_ROCE_CRC_H
#define MODEL_ENGINE_ROCE_CRC_H

#include "model/interface/ethernet.h"

enum { CRC_BAD_FCS = 4 }; /* beside CRC_BAD_ICRC of crc.h */

uint32_t roce_icrc(const uint8_t *frame, const struct roce_places *at);
uint32_t frame_fcs(const uint8_t *frame, size_t len_without_fcs);

/* Writes the ICRC (not where at->kind is ROCE_NONE) and the FCS, which is at the end of `len`. */
void roce_crcs_make(uint8_t *frame, size_t len, const struct roce_places *at);
/* Writes the FCS alone. */
void frame_fcs_make(uint8_t *frame, size_t len);
bool frame_fcs_is_right(const uint8_t *frame, size_t len);
bool roce_icrc_is_right(const uint8_t *frame, const struct roce_places *at);

#endif
