/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a port tells its firmware's agents about packets with wrong keys, and how those agents put a
 * MAD of their own into the host's hands: traps are forwarded to the subnet manager by software (it
 * knows the path).
 */
#ifndef MODEL_ENGINE_PORT_NOTE_H
#define MODEL_ENGINE_PORT_NOTE_H

#include "model/engine/wire/link_port.h"

enum { PORT_MAD_BYTES = 256 };

/* A packet's P_Key or, with `qkey`, its Q_Key does not match its queue pair. Counts that, and notes
 * the first such packet since firmware last looked. */
void port_violation(struct hca *hca, const struct packet *pkt, bool qkey);
/* FW_PORT_NOTE and those behind it. False: another register. */
bool port_note_load(const struct port_config *c, uint32_t reg, uint32_t *value);
/* FW_PORT_SELF_MAD: `mad` of 256 bytes to QP0 of the port, SLID 0. */
void port_self_mad(struct hca *hca, unsigned port, const uint8_t *mad);

#endif
