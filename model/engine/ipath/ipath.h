/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip of the personality ipath, a QLogic 6120: it sends what its driver writes into send
 * buffers, and writes what arrives into buffers of its driver, who has the transport in software.
 * from: host (registers, send buffers), wire (packets, the port); to: link_port, pcie, interrupt.
 * Time: [hca.packet] tx_latency, rx_latency, store; [hca.link] tx_window.
 *
 * Each file has a part of the chip:
 *   ipath.c       made, reset, looked at; the struct personality
 *   registers.c   which register is where, what an access may do
 *   causes.c      errors and interrupts
 *   port.c        commands to the link, its state, the counters
 *   send.c        send buffers, and the words in host memory that say which are free
 *   receive.c     header queue, eager buffers
 *   eeprom.c      the serial EEPROM behind two pins
 * Behaviour that the Linux driver does not show is an assumption, and marked as one.
 */
#ifndef MODEL_ENGINE_IPATH_H
#define MODEL_ENGINE_IPATH_H

#include "model/engine/base/engine.h"
#include "model/interface/ipath.h"

struct packet;

/* --- the EEPROM: a part that answers every device code, and takes it as its address --- */

enum eeprom_state {
	EEPROM_IDLE,    /* waits for a start condition */
	EEPROM_ADDRESS, /* takes 7 bits of address, and the direction */
	EEPROM_WRITE,   /* takes bytes */
	EEPROM_READ,    /* gives bytes */
};

struct eeprom {
	uint8_t bytes[IPATH_EEPROM_BYTES];
	enum eeprom_state state;
	bool scl, sda;   /* as the driver lets the lines go */
	bool pulls_sda;  /* the part holds SDA low */
	bool going_on;   /* READ: the driver has acknowledged, it wants one more byte */
	unsigned bits;   /* of the byte under way; the ninth is the acknowledgement */
	uint8_t shifted; /* that byte */
	uint8_t at;      /* address of the next one */
};

void eeprom_fill(struct eeprom *eeprom, uint64_t guid);
/* The driver drives the lines: true lets one go. */
void eeprom_lines(struct eeprom *eeprom, bool scl, bool sda);
/* What the driver reads from SDA. */
static inline bool eeprom_sda(const struct eeprom *eeprom)
{
	return eeprom->sda && !eeprom->pulls_sda;
}

/* --- send buffers --- */

enum send_state {
	SEND_FREE,    /* waits for the driver's first quadword */
	SEND_FILLING, /* waits for the rest of the packet, by the driver */
	SEND_WAITING, /* stands in the queue; waits for its turn, or for sending to be enabled */
	SEND_LEAVING, /* waits for its last bit to be on the cable */
	SEND_TRIAL,   /* takes bytes that it does not send; waits for the driver to disarm it */
	SEND_WRONG,   /* was used wrongly; waits for the driver to disarm it */
};

/* Packets on VL 15 need no credits. They do not wait for those that do. */
enum { SEND_DATA, SEND_MANAGEMENT, SEND_QUEUES };

struct send_buffer {
	struct event left;
	struct ipath *ipath;
	struct send_buffer *next; /* WAITING */
	enum send_state state;
	bool generation;         /* changes each time the driver begins to use the buffer */
	uint32_t length, filled; /* of the packet, in bytes */
	_Alignas(8) uint8_t bytes[IPATH_LARGE_BYTES];
};

struct ipath {
	struct hca *hca;
	uint64_t registers[IPATH_REGISTERS_END / 8];
	uint64_t counts[IPATH_COUNTS]; /* the chip's own; added to the port's where those count */
	struct event reset;
	struct eeprom eeprom;

	struct send_buffer buffers[IPATH_BUFFERS];
	struct send_queue {
		struct send_buffer *first, *last;
	} waiting[SEND_QUEUES];
	struct event send_turn; /* the port can take more */
	uint64_t
		unreported_ps; /* when a buffer was freed first that nothing has reported; 0: none */

	/* context 0 */
	uint32_t header_head, header_tail; /* dwords */
	uint32_t eager_head, eager_tail;
	bool interrupt_armed;
	bool armed_since_status; /* since IntStatus was read */
	bool link_unread; /* a change of the link was cleared, and IBCStatus not read since */
	uint32_t eager[IPATH_CONTEXTS * IPATH_EAGERS];
	uint32_t tids[IPATH_CONTEXTS * IPATH_TIDS];
	unsigned landing; /* packets whose payload is on its way to host memory */
};

static inline uint64_t *ipath_register(struct ipath *ipath, enum ipath_register name, unsigned i)
{
	return &ipath->registers[name / 8 + i];
}

static inline uint64_t ipath_get(const struct ipath *ipath, enum ipath_register name)
{
	return ipath->registers[name / 8];
}

/* A number in the chip's byte order; bytes beyond 8 are 0. */
static inline uint64_t ipath_load(const void *bytes, unsigned size)
{
	const uint8_t *b = bytes;
	uint64_t value = 0;

	for (unsigned i = 0; i < size && i < sizeof(value); i++)
		value |= (uint64_t)b[i] << (8 * i);
	return value;
}

static inline void ipath_store(void *bytes, unsigned size, uint64_t value)
{
	uint8_t *b = bytes;

	for (unsigned i = 0; i < size; i++)
		b[i] = i < sizeof(value) ? (uint8_t)(value >> (8 * i)) : 0;
}

/* --- registers.c --- */

void ipath_registers_reset(struct ipath *ipath);
void ipath_bar_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
		     unsigned size);
void ipath_bar_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size);
/* The chip's registers, link and queues as at power-on, now. */
void ipath_chip_reset(struct hca *hca);

/* --- causes.c --- */

/* IPATH_ERR_* have happened; IPATH_INT_* are pending. */
void ipath_error(struct ipath *ipath, uint64_t errors);
void ipath_interrupt(struct ipath *ipath, uint64_t causes);
void ipath_int_mask_write(struct ipath *ipath, uint64_t value);
void ipath_int_clear_write(struct ipath *ipath, uint64_t value);
uint64_t ipath_int_status_read(struct ipath *ipath);
void ipath_err_mask_write(struct ipath *ipath, uint64_t value);
void ipath_err_clear_write(struct ipath *ipath, uint64_t value);

/* --- port.c --- */

void ipath_control_write(struct ipath *ipath, uint64_t value);
void ipath_ibc_ctrl_write(struct ipath *ipath, uint64_t value);
uint64_t ipath_ibc_status_read(struct ipath *ipath);
void ipath_port_changed(struct hca *hca, unsigned port);
/* A counter by its offset from IPATH_COUNTERS; -ENOENT when there is none. */
int ipath_counter_read(struct ipath *ipath, uint32_t offset, uint64_t *value);
int ipath_counter_write(struct ipath *ipath, uint32_t offset, uint64_t value);

/* --- send.c --- */

void ipath_send_create(struct ipath *ipath);
/* All buffers become free, nothing that waits is sent. */
void ipath_send_reset(struct ipath *ipath);
void ipath_send_ctrl_write(struct ipath *ipath, uint64_t value);
void ipath_send_avail_write(struct ipath *ipath, uint64_t value);
/* An access between IPATH_SEND and the last buffer. */
void ipath_send_write(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size);
/* Sends what waits, as far as the port and the enables let it. */
void ipath_send_go_on(struct ipath *ipath);
unsigned ipath_send_busy(const struct ipath *ipath);

/* --- receive.c --- */

void ipath_rcv_ctrl_write(struct ipath *ipath, uint64_t value);
/* An address of context 0 is written. */
void ipath_rcv_address_write(struct ipath *ipath, enum ipath_register name, uint64_t value);
uint32_t ipath_user_read(const struct ipath *ipath, enum ipath_user name);
void ipath_user_write(struct ipath *ipath, enum ipath_user name, uint64_t value);
void ipath_eager_write(struct ipath *ipath, uint32_t index, uint32_t value);
void ipath_receive(struct hca *hca, struct packet *pkt);
void ipath_receive_bad(struct hca *hca, struct packet *pkt, unsigned bad);

#endif
