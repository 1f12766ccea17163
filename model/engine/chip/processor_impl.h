/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the processor, shared by processor.c (the core and its time), processor_regs.c and
 * processor_ports.c (registers), processor_dma.c and processor_objects.c (hardware helpers).
 * Firmware starts a helper by a store to a register. The helper is busy until its own events end
 * it, and a load of its STATUS register waits until then.
 */
#ifndef MODEL_ENGINE_PROCESSOR_IMPL_H
#define MODEL_ENGINE_PROCESSOR_IMPL_H

#include "model/engine/base/engine.h"
#include "model/engine/base/jitter.h"
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
	uint8_t *fill; /* one chunk, filled with the byte that FILL writes */
	uint64_t addr;
	uint8_t *ram;
	uint32_t left, chunk, cmd;
};

struct fw_object {
	struct fw_helper helper;
	uint32_t number, type, cmd;
	struct waiter waiter; /* waits for MPT entries */
	bool mtt_known;
	uint64_t mtt_addr; /* mtt_addr of the object's queue buffer */
};

struct fw_port {
	uint32_t gid_index, pkey_index, counter_index, counter_hi, guid_hi;
	/* of an Ethernet port */
	uint32_t eth_index, eth_counter, eth_counter_hi, mac_hi;
	uint8_t gid[16];
};

struct processor {
	struct hca *hca;
	struct rv_core *core;
	struct rv_gdb *gdb;
	bool gdb_first; /* the debugger is served before the first instruction */
	uint32_t entry;
	/* contents of RAM from the ELF file: [image_base, image_base + image_size) */
	uint8_t *image;
	uint32_t image_base, image_size;

	struct event step, timer, watchdog;
	uint64_t free_ps; /* time up to which the core has executed */
	struct jitter wake_jitter;
	bool sleeping; /* in a wfi instruction */
	bool waiting;  /* a load waits for a helper */
	bool halted;
	bool watched; /* firmware's function calls are traced */

	uint32_t watchdog_us; /* the value that firmware wrote last; 0: off */
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

/* Firmware's RAM. NULL if a part of the range is not RAM. */
uint8_t *processor_ram(struct processor *p, uint32_t addr, uint32_t len);
void processor_irq_update(struct processor *p);
/* Starts the watchdog from now, unless it is off. */
void processor_watchdog_start(struct processor *p);
void processor_helper_start(struct fw_helper *helper);
void processor_helper_done(struct processor *p, struct fw_helper *helper, uint32_t status);

/* Loads and stores of the core. */
int processor_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value);
int processor_store(void *ctx, uint32_t addr, unsigned size, uint32_t value);

/* The same for the ports' registers; offset is at or above FW_PORT_BASE. */
int processor_port_load(struct processor *p, uint32_t offset, uint32_t *value);
int processor_port_store(struct processor *p, uint32_t offset, uint32_t value);

/* Starts a helper. RV_BUS_FAULT: the registers make no sense. */
int processor_dma_start(struct processor *p, uint32_t cmd);
int processor_object_start(struct processor *p, uint32_t cmd);
void processor_object_wake(struct waiter *w);
void processor_dma_create(struct processor *p);
void processor_dma_destroy(struct processor *p);

#endif
