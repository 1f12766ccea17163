/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware of the embedded processor. It executes one command at a time, from the command register
 * to its completion, and handles changes of the ports between commands. Contexts live in ICM; the
 * firmware itself keeps only struct fw.
 */
#ifndef FW_FW_H
#define FW_FW_H

#include "fw/lib.h"
#include "model/interface/ethernet.h"
#include "model/interface/mailboxes.h"
#include "model/interface/queues.h"
#include "model/interface/wire.h"

enum fw_version { FW_VERSION_MAJOR = 2, FW_VERSION_MINOR = 42, FW_VERSION_SUBMINOR = 5000 };

enum fw_limits {
	FW_PORTS_MAX = 2,
	FW_AREA_PAGES = 1, /* pages that MAP_FA must give; the firmware keeps nothing there */
	FW_LOG_MAX_CMD = 4,
	FW_LOG_MAX_ICM = 40,
	FW_LOG_MAX_MCG = 13,
	/* the first entries of each table are the device's own */
	FW_LOG_RSVD_QPS = 6,
	FW_LOG_RSVD_SRQS = 6,
	FW_LOG_RSVD_CQS = 7,
	FW_LOG_RSVD_EQS = 2,
	FW_LOG_RSVD_MTTS = 4,
	FW_LOG_RSVD_MPTS = 4,
	FW_LOG_MAX_WQE = 14,
	FW_LOG_MAX_CQE = 22,
	FW_LOG_MAX_RDMA = 4,
	FW_LOG_MTTS = 31, /* the most that the driver uses; INIT_HCA does not give the number */
	FW_LOG_MAX_PAGE = 31,
	FW_EVENT_TYPES = 64, /* bits of the MAP_EQ mask */
	FW_VLS = 8,
	FW_VLARB_ENTRIES = 8,
	FW_VLARB_BLOCKS = 4,
	FW_PRIO2TC_BYTES = 4,     /* a nibble for each priority */
	FW_SCHEDULER_BYTES = 128, /* 16 bytes for each traffic class */
};

/* Bytes of an entry of each table. */
enum fw_entry_size {
	FW_QPC_SIZE = 256,
	FW_CQC_SIZE = 64,
	FW_EQC_SIZE = 64,
	FW_SRQC_SIZE = 64,
	FW_DMPT_SIZE = 64,
	FW_CMPT_SIZE = 64,
	FW_MTT_SIZE = 8,
	FW_RDMARC_SIZE = 32,
	FW_ALTC_SIZE = 64,
	FW_AUXC_SIZE = 64,
};

/* In this order. The row of a command names the first state in which it is legal. */
enum fw_state {
	FW_STATE_RESET, /* waits for RUN_FW */
	FW_STATE_RUN,   /* waits for INIT_HCA */
	FW_STATE_HCA,   /* the engine works */
};

struct fw_table {
	uint64_t base;
	uint32_t log_num;
	uint32_t entry_size;
};

/* State of a port that its registers do not hold. */
struct fw_port {
	bool open; /* INIT_PORT was executed */
	bool ethernet;
	uint32_t cap_mask;
	uint8_t mtu_cap, vl_cap; /* codes of PortInfo */
	uint8_t logical; /* port state as last seen; software gets events for ACTIVE and its end */
	uint8_t width_enabled, speed_enabled, ext_speed_enabled;
	uint8_t down_default, mkey_protect;
	uint8_t init_type, subnet_timeout, error_thresholds;
	uint16_t mkey_lease, mkey_violations;
	uint64_t mkey;
	uint64_t lease_end_ns; /* UINT64_MAX: no lease runs */
	struct smp trap;       /* the last one; sent again at trap_ns, unless that is UINT64_MAX */
	uint64_t trap_tid, trap_ns;
	uint64_t counter_base[4]; /* XMIT_DATA.. of the last Set(PortCounters) */
	/* Ethernet: which priority has which traffic class, and what each class gets, as SET_PORT
	 * gave them. The device has one class (assumption: mlx4_en's default sets nothing else). */
	uint8_t prio2tc[FW_PRIO2TC_BYTES], scheduler[FW_SCHEDULER_BYTES];
};

struct fw {
	enum fw_state state;
	uint32_t fa_pages;
	uint32_t aux_wanted, aux_pages; /* aux_wanted 0: no SET_ICM_SIZE yet */
	uint32_t num_ports;
	uint64_t node_guid, sys_guid;
	struct fw_table tables[FW_TABLE_COUNT];
	struct init_hca hca;  /* as INIT_HCA gave it */
	uint64_t event_types; /* types that are routed to event_eqn[] */
	uint16_t event_eqn[FW_EVENT_TYPES];
	struct fw_port ports[FW_PORTS_MAX];
	struct node_desc description;
	uint32_t watchdog_us;
	/* mailboxes of the current command */
	uint8_t in[HCR_MBOX_SIZE] __attribute__((aligned(8)));
	uint8_t out[HCR_MBOX_SIZE] __attribute__((aligned(8)));
};

extern struct fw fw;

/* Sets the state after reset and enables the causes. */
void fw_boot(void);
/* Handles all pending causes; false: there was none. */
bool fw_poll(void);

#endif
