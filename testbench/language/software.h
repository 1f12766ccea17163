/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices whose transport is in software (hca.personality). A scenario that asks for what such a
 * device does not have is refused: it fails, and the account says what the device lacks.
 */
#ifndef TESTBENCH_SOFTWARE_H
#define TESTBENCH_SOFTWARE_H

#include "testbench/language/tb.h"

/* There is nobody at that end of the cable: hca0.port1.wire leads out of the simulation. Then the end
 * is not brought up, and its `dev` stays NULL. */
bool tb_is_outside(const struct tb_end *end);
/* The end's device does not have what the text says: the run fails. What a driver refuses makes it fail,
 * too, at the moment of the refusal. */
__attribute__((format(printf, 4, 5))) void
tb_lacks(struct tb *tb, const char *here, const struct tb_end *end, const char *format, ...);
/*
 * With the transport of an end in software the two ends have another speed, so ACKs are merged in
 * another way (IBA 9.7.5.1.2 leaves that to the responder). The packet at the head of the queue
 * stands for the ACK that is expected, or is one too many:
 */
enum tb_merged {
	TB_MERGED_NOT,  /* neither */
	TB_MERGED_INTO, /* a later answer acknowledges what is expected; it stays in the queue */
	TB_MERGED_EXTRA /* an ACK of what another one acknowledges; it is taken */
};
enum tb_merged tb_merged(const struct tb *tb, struct seen_queue *q, const struct seen_pkt *seen,
			 uint8_t opcode, const struct tb_pkt *want);

#endif
