/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BTH opcodes as rows: what a packet is, and which extended headers it carries.
 *
 * A packet path looks its opcode up once (bth_op_find) and tests properties of the row. An opcode
 * is an enum bth_opcode, a property an enum bth_prop, a header an enum bth_ext: gcc -Wextra says
 * when one is taken for another. The table is in wire_rows.c, which firmware does not link. Source:
 * InfiniBand Architecture Specification vol. 1, 9.2 to 9.4, annex A14; masked atomics are an
 * assumption.
 */
#ifndef MODEL_INTERFACE_BTH_OPS_H
#define MODEL_INTERFACE_BTH_OPS_H

#include "model/interface/wire.h"

enum bth_prop {
	BTH_FIRST = 1 << 0,
	BTH_MIDDLE = 1 << 1,
	BTH_LAST = 1 << 2,
	BTH_ONLY = 1 << 3,
	BTH_START = 1 << 4,    /* First or Only */
	BTH_END = 1 << 5,      /* Last or Only */
	BTH_REQUEST = 1 << 6,  /* goes to the responder */
	BTH_RESPONSE = 1 << 7, /* goes to the requester */
	BTH_SEND = 1 << 8,
	BTH_WRITE = 1 << 9,
	BTH_READ = 1 << 10,      /* READ request or response */
	BTH_ATOMIC = 1 << 11,    /* atomic request or acknowledge */
	BTH_ACK = 1 << 12,       /* plain acknowledge: ACK or NAK by its AETH */
	BTH_MASKED = 1 << 13,    /* masked atomic */
	BTH_IMM = 1 << 14,       /* carries immediate data */
	BTH_INV = 1 << 15,       /* carries an R_Key to invalidate */
	BTH_PAYLOAD = 1 << 16,   /* may carry payload */
	BTH_NEEDS_RQ = 1 << 17,  /* takes a receive WQE at this packet */
	BTH_COMPLETES = 1 << 18, /* ends a receive WQE: makes a receive CQE */
	BTH_DATAGRAM = 1 << 19,  /* unreliable datagram */
	BTH_FETCH = 1 << 20,     /* request that takes a responder resource: READ or atomic */
};

/* Extended headers in the order they stand in a packet; also the index into bth_op.at. */
enum bth_ext {
	BTH_EXT_XRCETH,
	BTH_EXT_DETH,
	BTH_EXT_RETH,
	BTH_EXT_ATOMICETH,
	BTH_EXT_MASKED_CASETH,
	BTH_EXT_MASKED_FAETH,
	BTH_EXT_AETH,
	BTH_EXT_ATOMICACKETH,
	BTH_EXT_IMMDT,
	BTH_EXT_IETH,
	BTH_EXTS,
};

/* clang-format off */

/* Positions and kinds of packets, abbreviated for the rows below. */
#define BTH_P_FIRST  (BTH_FIRST | BTH_START)
#define BTH_P_MIDDLE BTH_MIDDLE
#define BTH_P_LAST   (BTH_LAST | BTH_END)
#define BTH_P_ONLY   (BTH_ONLY | BTH_START | BTH_END)
#define BTH_P_SEND   (BTH_REQUEST | BTH_SEND | BTH_PAYLOAD)
#define BTH_P_WRITE  (BTH_REQUEST | BTH_WRITE | BTH_PAYLOAD)
#define BTH_P_RRESP  (BTH_RESPONSE | BTH_READ | BTH_PAYLOAD)
#define BTH_P_ATOMIC (BTH_REQUEST | BTH_ATOMIC | BTH_FETCH | BTH_P_ONLY)
#define BTH_X(ext)   (1 << BTH_EXT_##ext)

/*
 * W(service, NAME, code, properties, extended headers). q: headers of every request of the service, r: none or those of every response.
 * SEND and WRITE exist on RC, UC and XRC; the rest on RC and XRC.
 */
#define BTH_OPCODES_WRITE_SEND(W, S, base, q) \
	W(S, SEND_FIRST,         base | 0x00, BTH_P_SEND | BTH_P_FIRST | BTH_NEEDS_RQ, q) \
	W(S, SEND_MIDDLE,        base | 0x01, BTH_P_SEND | BTH_P_MIDDLE, q) \
	W(S, SEND_LAST,          base | 0x02, BTH_P_SEND | BTH_P_LAST | BTH_COMPLETES, q) \
	W(S, SEND_LAST_IMM,      base | 0x03, BTH_P_SEND | BTH_P_LAST | BTH_COMPLETES | BTH_IMM, q | BTH_X(IMMDT)) \
	W(S, SEND_ONLY,          base | 0x04, BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES, q) \
	W(S, SEND_ONLY_IMM,      base | 0x05, BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_IMM, q | BTH_X(IMMDT)) \
	W(S, WRITE_FIRST,        base | 0x06, BTH_P_WRITE | BTH_P_FIRST, q | BTH_X(RETH)) \
	W(S, WRITE_MIDDLE,       base | 0x07, BTH_P_WRITE | BTH_P_MIDDLE, q) \
	W(S, WRITE_LAST,         base | 0x08, BTH_P_WRITE | BTH_P_LAST, q) \
	W(S, WRITE_LAST_IMM,     base | 0x09, BTH_P_WRITE | BTH_P_LAST | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_IMM, q | BTH_X(IMMDT)) \
	W(S, WRITE_ONLY,         base | 0x0a, BTH_P_WRITE | BTH_P_ONLY, q | BTH_X(RETH)) \
	W(S, WRITE_ONLY_IMM,     base | 0x0b, BTH_P_WRITE | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_IMM, \
	  q | BTH_X(RETH) | BTH_X(IMMDT))

#define BTH_OPCODES_RELIABLE(W, S, base, q) \
	W(S, READ_REQUEST,       base | 0x0c, BTH_REQUEST | BTH_READ | BTH_FETCH | BTH_P_ONLY, q | BTH_X(RETH)) \
	W(S, READ_RESP_FIRST,    base | 0x0d, BTH_P_RRESP | BTH_P_FIRST, BTH_X(AETH)) \
	W(S, READ_RESP_MIDDLE,   base | 0x0e, BTH_P_RRESP | BTH_P_MIDDLE, 0) \
	W(S, READ_RESP_LAST,     base | 0x0f, BTH_P_RRESP | BTH_P_LAST, BTH_X(AETH)) \
	W(S, READ_RESP_ONLY,     base | 0x10, BTH_P_RRESP | BTH_P_ONLY, BTH_X(AETH)) \
	W(S, ACKNOWLEDGE,        base | 0x11, BTH_RESPONSE | BTH_ACK | BTH_P_ONLY, BTH_X(AETH)) \
	W(S, ATOMIC_ACKNOWLEDGE, base | 0x12, BTH_RESPONSE | BTH_ATOMIC | BTH_P_ONLY, BTH_X(AETH) | BTH_X(ATOMICACKETH)) \
	W(S, COMPARE_SWAP,       base | 0x13, BTH_P_ATOMIC, q | BTH_X(ATOMICETH)) \
	W(S, FETCH_ADD,          base | 0x14, BTH_P_ATOMIC, q | BTH_X(ATOMICETH)) \
	W(S, SEND_LAST_INV,      base | 0x16, BTH_P_SEND | BTH_P_LAST | BTH_COMPLETES | BTH_INV, q | BTH_X(IETH)) \
	W(S, SEND_ONLY_INV,      base | 0x17, BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_INV, q | BTH_X(IETH))

#define BTH_OPCODES(W) \
	BTH_OPCODES_WRITE_SEND(W, RC, 0x00, 0) \
	BTH_OPCODES_RELIABLE(W, RC, 0x00, 0) \
	BTH_OPCODES_WRITE_SEND(W, UC, 0x20, 0) \
	W(UD, SEND_ONLY,           0x64, BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_DATAGRAM, BTH_X(DETH)) \
	W(UD, SEND_ONLY_IMM,       0x65, BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_DATAGRAM | BTH_IMM, \
	  BTH_X(DETH) | BTH_X(IMMDT)) \
	BTH_OPCODES_WRITE_SEND(W, XRC, 0xa0, BTH_X(XRCETH)) \
	BTH_OPCODES_RELIABLE(W, XRC, 0xa0, BTH_X(XRCETH)) \
	W(RC, MASKED_COMPARE_SWAP, 0xd3, BTH_P_ATOMIC | BTH_MASKED, BTH_X(MASKED_CASETH)) \
	W(RC, MASKED_FETCH_ADD,    0xd4, BTH_P_ATOMIC | BTH_MASKED, BTH_X(MASKED_FAETH))

/* clang-format on */

#define BTH_OPCODE_ENUM(service, name, code, props, exts) BTH_##service##_##name = (code),
enum bth_opcode { BTH_OPCODES(BTH_OPCODE_ENUM) };

struct bth_op {
	const char *name;        /* "RC_SEND_ONLY"; NULL when the opcode is not known */
	enum qp_service service; /* UD serves QP_ST_UD and QP_ST_MLX */
	uint32_t props;          /* enum bth_prop; 0 when the opcode is not known */
	uint32_t exts;           /* 1 << enum bth_ext */
	uint8_t ext_bytes;       /* of all extended headers */
	uint8_t at[BTH_EXTS]; /* offset of an extended header from the BTH, 0 when it is absent */
};

extern const struct bth_op bth_ops[256];

/* Never NULL: an unknown opcode gets a row with name NULL and no properties. */
static inline const struct bth_op *bth_op_find(uint8_t opcode)
{
	return &bth_ops[opcode];
}

/* Whether the opcode belongs to a service that answers unknown opcodes: OpCode[7:5] is RC or
 * XRC. */
static inline bool bth_code_is_reliable(uint32_t opcode)
{
	return opcode >> 5 == BTH_RC_SEND_FIRST >> 5 || opcode >> 5 == BTH_XRC_SEND_FIRST >> 5;
}

static inline bool bth_op_is(const struct bth_op *op, enum bth_prop prop)
{
	return (op->props & (uint32_t)prop) != 0;
}

static inline bool bth_op_has(const struct bth_op *op, enum bth_ext ext)
{
	return op->at[ext] != 0;
}

/* Bytes from the LRH to the payload. */
static inline uint32_t bth_op_header_bytes(const struct bth_op *op, bool grh)
{
	return LRH_BYTES + (grh ? (uint32_t)GRH_BYTES : 0) + BTH_BYTES + op->ext_bytes;
}

/* Offset of an extended header from the LRH; the packet must have it. */
static inline uint32_t bth_op_ext_offset(const struct bth_op *op, enum bth_ext ext, bool grh)
{
	return LRH_BYTES + (grh ? (uint32_t)GRH_BYTES : 0) + op->at[ext];
}

/* What follows the position (FIRST, LAST..) in the name of a SEND or WRITE opcode. */
enum bth_suffix { BTH_SUFFIX_NONE, BTH_SUFFIX_IMM, BTH_SUFFIX_INV };

/*
 * Opcode of one packet of a SEND (write false) or RDMA WRITE message. The suffix is used only on
 * the last packet. A WRITE takes no BTH_SUFFIX_INV. A UD packet is always first and last.
 */
static inline uint8_t bth_message_opcode(enum qp_service service, bool write, bool first, bool last,
					 enum bth_suffix suffix)
{
	const uint8_t base = service == QP_ST_UC                           ? BTH_UC_SEND_FIRST
			     : service == QP_ST_XRC                        ? BTH_XRC_SEND_FIRST
			     : service == QP_ST_UD || service == QP_ST_MLX ? BTH_UD_SEND_ONLY - 4
									   : BTH_RC_SEND_FIRST;
	const uint8_t kind = write ? BTH_RC_WRITE_FIRST : BTH_RC_SEND_FIRST;

	if (!last)
		return base + kind + !first;
	if (suffix == BTH_SUFFIX_INV)
		return base + (first ? BTH_RC_SEND_ONLY_INV : BTH_RC_SEND_LAST_INV);
	return base + kind + (first ? BTH_RC_SEND_ONLY : BTH_RC_SEND_LAST) +
	       (suffix == BTH_SUFFIX_IMM);
}

/* The opcode that means the same on another reliable service: takes BTH_RC_x, and the service is RC
 * or XRC. */
static inline uint8_t bth_service_opcode(enum qp_service service, enum bth_opcode rc_opcode)
{
	return (uint8_t)(rc_opcode + (service == QP_ST_XRC ? BTH_XRC_SEND_FIRST : 0));
}

#endif
