/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the processor, shared by processor.c (the core and its time), processor_regs.c and
 * processor_ports.c (registers), processor_dma.c and processor_objects.c (hardware helpers). A
 * helper is started by a register and is busy until its own events end it; a load of its STATUS
 * register waits meanwhile.
 */
#ifndef MODEL_ENGINE_PROCESSOR_IMPL_H
#define MODEL_ENGINE_PROCESSOR_IMPL_H

#include "model/engine/base/engine.h"
#include "model/engine/host/pcie.h"
#include "model/engine/chip/processor.h"
#include "model/interface/fwregs.h"
#include "model/rv32/rv32.h"

enum { FW_PLAIN_REGS = 0x160 / 4 };

struct fw_helper {
	bool busy;
	uint32_t status;
};

struct fw_dma {
	struct fw_helper helper;
	struct dma dma;
	struct dma_frag *frags;
	unsigned room;
	uint8_t *fill; /* a chunk of the byte to fill with */
	uint64_t addr;
	uint8_t *ram;
	uint32_t left, chunk, cmd;
};

struct fw_object {
	struct fw_helper helper;
	uint32_t number, type, cmd;
	struct waiter waiter; /* for the MPT of FW_OBJ_TEST */
	bool mtt_known;
	uint64_t mtt_addr; /* of its queue buffer */
};

struct fw_port {
	uint32_t gid_index, pkey_index, counter_index, counter_hi, guid_hi;
};

struct processor {
	struct hca *hca;
	struct rv_core *core;
	struct rv_gdb *gdb;
	bool gdb_first; /* the debugger is served before the first instruction */
	uint32_t entry;
	uint8_t *image; /* RAM as the ELF file fills it, [image_base, image_base + image_size) */
	uint32_t image_base, image_size;

	struct event step, timer, watchdog;
	uint64_t free_ps; /* time up to which the core has executed */
	bool sleeping;    /* in a wfi */
	bool waiting;     /* for a helper */
	bool halted;
	bool watched; /* calls of firmware are traced */

	uint32_t watchdog_ns; /* as firmware wrote it last; 0 off */
	uint32_t cause, enable, time_hi;
	uint32_t reg[FW_PLAIN_REGS]; /* registers that only store their value */
	struct fw_port ports[HCA_MAX_PORTS];
	struct fw_dma dma;
	struct fw_object object;
	struct fw_helper eqe;
};

static inline uint32_t fw_reg(const struct processor *p, enum fw_register reg)
{
	return p->reg[reg / 4];
}

static inline uint64_t fw_reg64(const struct processor *p, enum fw_register hi, enum fw_register lo)
{
	return (uint64_t)p->reg[hi / 4] << 32 | p->reg[lo / 4];
}

/* RAM of firmware, NULL when not all of it is there. */
uint8_t *processor_ram(struct processor *p, uint32_t addr, uint32_t len);
void processor_irq_update(struct processor *p);
/* Starts the watchdog from now, unless it is off. */
void processor_watchdog_start(struct processor *p);
void processor_helper_start(struct fw_helper *helper);
void processor_helper_done(struct processor *p, struct fw_helper *helper, uint32_t status);

/* Bus of the core. */
int processor_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value);
int processor_store(void *ctx, uint32_t addr, unsigned size, uint32_t value);

/* The same for the ports' registers; offset is at or above FW_PORT_BASE. */
int processor_port_load(struct processor *p, uint32_t offset, uint32_t *value);
int processor_port_store(struct processor *p, uint32_t offset, uint32_t value);

/* RV_BUS_OK, or RV_BUS_FAULT when what the registers say makes no sense. */
int processor_dma_start(struct processor *p, uint32_t cmd);
int processor_object_start(struct processor *p, uint32_t cmd);
void processor_object_wake(struct waiter *w);
void processor_dma_create(struct processor *p);
void processor_dma_destroy(struct processor *p);

#endif
