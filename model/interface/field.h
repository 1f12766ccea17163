/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * Rows of fields, and the typed accessors made from them.
 *
 * Everything the device shares with its driver or with the wire is big-endian bytes. A layout is a
 * struct that holds nothing but those bytes: it has alignment 1 and can be laid over any buffer. A
 * field is a row. One list of rows gives
 *   - the accessors below (firmware, model, driver, tests),
 *   - the decoded view in logs and dumps (rows.h, host only).
 *
 * A list is a macro with one parameter for each kind of row:
 *
 *	#define QPC_FIELDS(F, A, B, U, E)                                        \
 *		F(qpc, 32, state, 0x00, 31, 28, "QP state")                      \
 *		A(qpc, 64, db_rec_addr, 0xa0, 63, 2, "doorbell record address")  \
 *		E(qpc, qp_path, primary, 0x18, "primary path")
 *	#define CONTEXT_LAYOUTS(L) L(qpc, 0xf8, QPC_FIELDS, "queue pair context")
 *	CONTEXT_LAYOUTS(LAYOUT_DEFINE)
 *
 * F(layout, width, name, offset, hi, lo, meaning)
 *	Bits hi..lo of the big-endian word of `width` (8, 16, 32, 64) bits at byte `offset`; bit 0 is
 *	the least significant bit of that word. The setter cuts the value to the field and keeps the
 *	other bits of the word.
 *		uint32_t layout_get_name(const struct layout *);	uint64_t for width 64
 *		void layout_set_name(struct layout *, uint32_t);
 * A(layout, width, name, offset, hi, lo, meaning)
 *	An aligned address. The value is not shifted: get returns the word's bits hi..lo in place, set
 *	stores the bits hi..lo of a plain address and keeps the others.
 * B(layout, name, offset, size, meaning)
 *	A range of bytes.
 *		uint8_t *layout_name_ptr(struct layout *);
 *		const uint8_t *layout_name_cptr(const struct layout *);
 *		enum { layout_name_size };
 * U(layout, width, name, offset, hi, lo, meaning)
 *	As F, for a second reading of bytes that other rows of the layout describe too.
 * E(layout, inner, name, offset, meaning)
 *	Another layout embedded in this one; of the same size and at offset 0, a view of the whole.
 *		struct inner *layout_name(struct layout *);
 *		const struct inner *layout_name_const(const struct layout *);
 *
 * The struct type differs for each layout, so a field used on another layout does not compile (build with
 * -Werror=incompatible-pointer-types). A row outside its layout does not compile either.
 */
/* clang-format on */
#ifndef MODEL_INTERFACE_FIELD_H
#define MODEL_INTERFACE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that store: a build that tells who stored what puts them into their callers. */
#ifdef FIELD_STORES_INLINED
#define FIELD_STORE static inline __attribute__((always_inline))
#else
#define FIELD_STORE static inline
#endif

/*
 * Big-endian words at any alignment. RV32IMC swaps no bytes and need not load a misaligned word, so
 * it goes byte by byte; elsewhere it is one load and one byte swap.
 */
#if defined(__riscv) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
static inline uint16_t be16_load(const void *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t be32_load(const void *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline uint64_t be64_load(const void *p)
{
	return (uint64_t)be32_load(p) << 32 | be32_load((const uint8_t *)p + 4);
}

FIELD_STORE void be16_store(void *p, uint16_t v)
{
	uint8_t *b = (uint8_t *)p;

	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

FIELD_STORE void be32_store(void *p, uint32_t v)
{
	be16_store(p, (uint16_t)(v >> 16));
	be16_store((uint8_t *)p + 2, (uint16_t)v);
}

FIELD_STORE void be64_store(void *p, uint64_t v)
{
	be32_store(p, (uint32_t)(v >> 32));
	be32_store((uint8_t *)p + 4, (uint32_t)v);
}
#else
static inline uint16_t be16_load(const void *p)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t be32_load(const void *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t be64_load(const void *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

FIELD_STORE void be16_store(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

FIELD_STORE void be32_store(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

FIELD_STORE void be64_store(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	__builtin_memcpy(p, &v, sizeof(v));
}
#endif

static inline uint8_t be8_load(const void *p)
{
	return *(const uint8_t *)p;
}

FIELD_STORE void be8_store(void *p, uint8_t v)
{
	*(uint8_t *)p = v;
}

#ifdef __cplusplus
#define FIELD_ASSERT static_assert
#else
#define FIELD_ASSERT _Static_assert
#endif

/* Type that the accessors use for a field of a word of that width. */
#define FIELD_VALUE_8  uint32_t
#define FIELD_VALUE_16 uint32_t
#define FIELD_VALUE_32 uint32_t
#define FIELD_VALUE_64 uint64_t

#define FIELD_MASK(hi, lo) ((UINT64_MAX >> (63 - (hi) + (lo))) << (lo))

#define FIELD_CHECK(layout, width, name, offset, hi, lo)                                           \
	FIELD_ASSERT((hi) < (width) && (lo) <= (hi) &&                                             \
			     (offset) + (width) / 8 <= sizeof(struct layout),                      \
		     #layout "." #name " does not fit")

#define FIELD_F(layout, width, name, offset, hi, lo, meaning)                                      \
	FIELD_CHECK(layout, width, name, offset, hi, lo);                                          \
	static inline FIELD_VALUE_##width layout##_get_##name(const struct layout *c)              \
	{                                                                                          \
		return (FIELD_VALUE_##width)((be##width##_load(c->b + (offset)) &                  \
					      (uint##width##_t)FIELD_MASK(hi, lo)) >>              \
					     (lo));                                                \
	}                                                                                          \
	FIELD_STORE void layout##_set_##name(struct layout *c, FIELD_VALUE_##width v)              \
	{                                                                                          \
		const uint##width##_t mask = (uint##width##_t)FIELD_MASK(hi, lo);                  \
                                                                                                   \
		be##width##_store(                                                                 \
			c->b + (offset),                                                           \
			(uint##width##_t)(((hi) - (lo) + 1 == (width)                              \
						   ? 0                                             \
						   : be##width##_load(c->b + (offset)) & ~mask) |  \
					  ((uint##width##_t)(v << (lo)) & mask)));                 \
	}

#define FIELD_A(layout, width, name, offset, hi, lo, meaning)                                      \
	FIELD_CHECK(layout, width, name, offset, hi, lo);                                          \
	static inline FIELD_VALUE_##width layout##_get_##name(const struct layout *c)              \
	{                                                                                          \
		return be##width##_load(c->b + (offset)) & (uint##width##_t)FIELD_MASK(hi, lo);    \
	}                                                                                          \
	FIELD_STORE void layout##_set_##name(struct layout *c, FIELD_VALUE_##width v)              \
	{                                                                                          \
		const uint##width##_t mask = (uint##width##_t)FIELD_MASK(hi, lo);                  \
                                                                                                   \
		be##width##_store(c->b + (offset),                                                 \
				  (uint##width##_t)((be##width##_load(c->b + (offset)) & ~mask) |  \
						    (v & mask)));                                  \
	}

#define FIELD_B(layout, name, offset, size, meaning)                                               \
	FIELD_ASSERT((offset) + (size) <= sizeof(struct layout),                                   \
		     #layout "." #name " does not fit");                                           \
	enum { layout##_##name##_size = (size) };                                                  \
	static inline uint8_t *layout##_##name##_ptr(struct layout *c)                             \
	{                                                                                          \
		return c->b + (offset);                                                            \
	}                                                                                          \
	static inline const uint8_t *layout##_##name##_cptr(const struct layout *c)                \
	{                                                                                          \
		return c->b + (offset);                                                            \
	}

#define FIELD_U FIELD_F

#define FIELD_E(layout, inner, name, offset, meaning)                                              \
	FIELD_ASSERT((offset) + sizeof(struct inner) <= sizeof(struct layout),                     \
		     #layout "." #name " does not fit");                                           \
	static inline struct inner *layout##_##name(struct layout *c)                              \
	{                                                                                          \
		return (struct inner *)(void *)(c->b + (offset));                                  \
	}                                                                                          \
	static inline const struct inner *layout##_##name##_const(const struct layout *c)          \
	{                                                                                          \
		return (const struct inner *)(const void *)(c->b + (offset));                      \
	}

/* L(layout, size in bytes, list of its rows, meaning) */
#define LAYOUT_DEFINE(layout, size, rows, meaning)                                                 \
	struct layout {                                                                            \
		uint8_t b[size];                                                                   \
	};                                                                                         \
	rows(FIELD_F, FIELD_A, FIELD_B, FIELD_U, FIELD_E)

/*
 * Rows of codes: K(PREFIX, NAME, code, meaning) makes PREFIX_NAME = code in an enum; rows.h has the
 * names for the log.
 *
 *	#define QP_STATES(K) K(QP_STATE, RST, 0, "reset") K(QP_STATE, INIT, 1, "initialised")
 *	#define CONTEXT_CODES(T) T(qp_state, QP_STATES)
 *	CONTEXT_CODES(CODES_DEFINE)
 */
#define CODE_ENUM(prefix, name, code, meaning) prefix##_##name = (code),

/* T(name, list of its rows) */
#define CODES_DEFINE(name, rows) enum name { rows(CODE_ENUM) };

#endif
