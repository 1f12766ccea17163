/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded processor in its chip: an rv32 core stepped by the event core, its registers
 * (model/interface/fwregs.h) and hardware helpers. from: pci_function (a command), link_port and
 * port_note (a port), its own timer. Time: [hca.fw] clock, cycles per instruction.
 */
#ifndef MODEL_ENGINE_PROCESSOR_H
#define MODEL_ENGINE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct err_buf;

/* Loads the ELF file. Nothing runs before processor_reset(). On failure returns NULL and writes one
 * line to err. */
struct processor *processor_create(struct hca *hca, const char *elf, char *err, size_t err_size);
void processor_destroy(struct processor *processor);
/* Starts firmware again after the time fw.reset_time: from its entry, with RAM filled from the
 * file. */
void processor_reset(struct hca *hca);
/* Sets causes (FW_IRQ_*) pending. */
void processor_raise(struct hca *hca, uint32_t causes);
/* hca_jitter(): each time that firmware is woken it begins up to the parameter fw.jitter later. */
void processor_jitter(struct hca *hca, uint64_t seed);
/* Listens for a debugger on a TCP port, 0: any free one. The port, or -errno, printed. */
int processor_debug(struct hca *hca, unsigned port);
/* Waits for the debugger before the first instruction, and serves it from then on. 0 or -errno. */
int processor_debug_wait(struct hca *hca);
/* Serves a debugger that has come or wants firmware to halt, also while no simulated time passes. */
void processor_debug_poll(struct hca *hca);
/* Firmware stops for good, until processor_reset(). */
void processor_halt(struct hca *hca);
/* Ends the helpers under way with an error, because a reset has dropped their work. */
void processor_abort_helpers(struct hca *hca);
/* Fills the fields of @errors that describe firmware's state: its pc and its last trap. */
void processor_dump(const struct hca *hca, struct err_buf *errors);
/* Bytes of firmware's RAM, for dumps and tests. NULL if a part of the range is not RAM. */
const uint8_t *processor_memory(const struct hca *hca, uint32_t addr, uint32_t len);
size_t processor_footprint(const struct hca *hca);
bool processor_is_quiet(const struct hca *hca);

#endif
