/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes packets with wrong keys for the agents of a port's firmware. Also delivers a MAD that these
 * agents make to the host's own QP0: a trap is forwarded to the subnet manager by software, which
 * knows the path.
 */
#ifndef MODEL_ENGINE_PORT_NOTE_H
#define MODEL_ENGINE_PORT_NOTE_H

#include "model/engine/wire/link_port.h"

enum { PORT_MAD_BYTES = 256 };

/* A packet's P_Key, or with `qkey` its Q_Key, does not match its queue pair. Counts that, and notes
 * the first such packet since firmware last looked. */
void port_violation(struct hca *hca, const struct packet *pkt, bool qkey);
/* Loads FW_PORT_NOTE and the registers that follow it. False: `reg` is none of them. */
bool port_note_load(const struct port_config *c, uint32_t reg, uint32_t *value);
/* FW_PORT_SELF_MAD: sends `mad` (256 bytes) to QP0 of the port itself, with SLID 0. */
void port_self_mad(struct hca *hca, unsigned port, const uint8_t *mad);

#endif
