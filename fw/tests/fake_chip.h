/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip made of arrays, for tests of the firmware. Its registers only remember values; it has host
 * memory, an ICM map into that memory, and valid bits. There is one chip, as there is one firmware.
 */
#ifndef FW_TESTS_FAKE_CHIP_H
#define FW_TESTS_FAKE_CHIP_H

#include "fw/fw.h"
#include "model/interface/rules.h"

enum {
	HOST_BYTES = 4 << 20, /* at bus addresses from 0 */
	ICM_PAGES = 1024,     /* ICM page addresses from 0 */
	OBJ_LOG = 256,
	EQE_LOG = 64,
	BUS_IN = 0x1000, /* mailboxes of cmd() */
	BUS_OUT = 0x2000,
	BUS_ICM = 0x100000, /* where bring_up() maps ICM address 0, 2 MiB */
	BUS_QUEUE = 0x300000,
	/* tables of bring_up() in ICM */
	ICM_QPC = 0x00000,  /* 2^8 */
	ICM_CQC = 0x20000,  /* 2^8 */
	ICM_EQC = 0x30000,  /* 2^5 */
	ICM_SRQC = 0x40000, /* 2^8 */
	ICM_MPT = 0x50000,  /* 2^8 */
	ICM_MTT = 0x60000,
	ICM_MCG = 0x80000, /* 2^6 */
	ICM_ALTC = 0xb0000,
	ICM_AUXC = 0xc0000,
	ICM_CMPT = 0x10000000,
	CQ_EVENT_EQN = 4,
};

struct fake_object {
	uint32_t command, table, number;
};

struct fake_port {
	uint32_t reg[0x400 / 4];
	uint64_t guids[128];
	uint32_t pkeys[128];
	uint64_t counters[FW_PC_COUNT];
};

struct fake_chip {
	uint32_t reg[0x1000 / 4];
	struct fake_port port[2];
	uint8_t host[HOST_BYTES];
	uint64_t icm[ICM_PAGES]; /* bus address, 1: not mapped */
	uint8_t valid[8][1 << 16];
	uint32_t table_log[FW_TABLE_COUNT];
	struct fake_object object[OBJ_LOG];
	unsigned objects;
	struct eqe eqe[EQE_LOG];
	unsigned eqes;
	unsigned errors[RULE_COUNT];
	uint32_t event_map[256];
	uint32_t done; /* last status, or ~0 */
	uint64_t now_ns;
	/* the firmware runs on a core of its own: its RAM, and the function that lets it serve a
	 * command */
	uint8_t *ram;
	void (*serve)(void);
	/* called as hardware executes an object command, may be NULL */
	void (*on_object)(uint32_t command, uint32_t table, uint32_t number);
};

extern struct fake_chip chip;

/* Powers the chip on with the parameters of a usual device, and starts the firmware. */
void chip_reset(void);
/* The same without starting the firmware. */
void chip_power_on(void);
/* Runs the bring-up to the end of INIT_HCA, with memory windows enabled, and creates an EQ with
 * number CQ_EVENT_EQN. */
void bring_up(void);
void bring_up_to_run(void);

uint8_t *in_box(void);  /* cleared */
uint8_t *out_box(void); /* as the last command left it */
/* Executes a command in polling mode and returns its status. */
uint32_t cmd(uint32_t op, uint32_t op_mod, uint32_t in_mod, uint64_t in, uint64_t out);
/* The same with both mailboxes. */
uint32_t cmd_box(uint32_t op, uint32_t op_mod, uint32_t in_mod);
/* out_param of the last command. */
uint64_t cmd_out(void);
/* Errors of this rule since the last call. */
unsigned errors_taken(unsigned rule);
unsigned all_errors_taken(void);
/* An entry of a table, at its place in ICM as bring_up() mapped it. */
uint8_t *icm_at(uint32_t va);
/* Writes MTT entries from @index on: @n pages of 4 KiB, starting at BUS_QUEUE + first, present. */
void mtt_set(uint32_t index, uint32_t first, uint32_t n);
/* Whether this was the object command @back commands before the last one. */
bool object_was(unsigned back, uint32_t command, uint32_t table, uint32_t number);

#endif
