/* SPDX-License-Identifier: Apache-2.0 */
/* The 256 rows of BTH opcodes and the rows of verdicts, made from the lists in bth_ops.h and
 * syndromes.h. */
#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"

#define HAS(exts, ext)        (((exts) >> BTH_EXT_##ext) & 1)
#define SIZE(exts, ext, type) (HAS(exts, ext) * sizeof(struct type))

/* Bytes of all headers before the named one, in the order of enum bth_ext. */
#define BEFORE_XRCETH(x)        0
#define BEFORE_DETH(x)          (BEFORE_XRCETH(x) + SIZE(x, XRCETH, xrceth))
#define BEFORE_RETH(x)          (BEFORE_DETH(x) + SIZE(x, DETH, deth))
#define BEFORE_ATOMICETH(x)     (BEFORE_RETH(x) + SIZE(x, RETH, reth))
#define BEFORE_MASKED_CASETH(x) (BEFORE_ATOMICETH(x) + SIZE(x, ATOMICETH, atomiceth))
#define BEFORE_MASKED_FAETH(x)  (BEFORE_MASKED_CASETH(x) + SIZE(x, MASKED_CASETH, masked_caseth))
#define BEFORE_AETH(x)          (BEFORE_MASKED_FAETH(x) + SIZE(x, MASKED_FAETH, masked_faeth))
#define BEFORE_ATOMICACKETH(x)  (BEFORE_AETH(x) + SIZE(x, AETH, aeth))
#define BEFORE_IMMDT(x)         (BEFORE_ATOMICACKETH(x) + SIZE(x, ATOMICACKETH, atomicacketh))
#define BEFORE_IETH(x)          (BEFORE_IMMDT(x) + SIZE(x, IMMDT, immdt))
#define ALL_EXTS(x)             (BEFORE_IETH(x) + SIZE(x, IETH, ieth))

#define AT(x, ext) [BTH_EXT_##ext] = HAS(x, ext) ? BTH_BYTES + BEFORE_##ext(x) : 0

#define BTH_OP(svc, op, code, properties, x)                                                       \
	[code] = {                                                                                 \
		.name = #svc "_" #op,                                                              \
		.service = QP_ST_##svc,                                                            \
		.props = properties,                                                               \
		.exts = x,                                                                         \
		.ext_bytes = ALL_EXTS(x),                                                          \
		.at = {AT(x, XRCETH), AT(x, DETH), AT(x, RETH), AT(x, ATOMICETH),                  \
		       AT(x, MASKED_CASETH), AT(x, MASKED_FAETH), AT(x, AETH),                     \
		       AT(x, ATOMICACKETH), AT(x, IMMDT), AT(x, IETH)},                            \
	},

const struct bth_op bth_ops[256] = {BTH_OPCODES(BTH_OP)};

/* Syndrome a requester reports for a NAK code: NAK_CQE_<name>. */
#define NAK_CQE(name, code, cqe, verdict, meaning) NAK_CQE_##name = CQE_SYND_##cqe,
enum nak_cqe { NAK_CODES(NAK_CQE) };

/* OF_NAK is not a syndrome. It stands for the syndrome that belongs to the row's NAK code. */
enum { CQE_SYND_OF_NAK = 0x100 };
#define REQUESTER_CQE(nak, cqe)                                                                    \
	(enum cqe_syndrome)((int)CQE_SYND_##cqe == CQE_SYND_OF_NAK ? (int)NAK_CQE_##nak            \
								   : (int)CQE_SYND_##cqe)

#define VERDICT_ROW(id, answer, code, resp_cqe, req_cqe, state, ev, ur, text)                      \
	[VERDICT_##id] = {                                                                         \
		.name = #id,                                                                       \
		.meaning = text,                                                                   \
		.reply = VERDICT_REPLY_##answer,                                                   \
		.nak = NAK_##code,                                                                 \
		.responder_cqe = CQE_SYND_##resp_cqe,                                              \
		.requester_cqe = REQUESTER_CQE(code, req_cqe),                                     \
		.qp = VERDICT_QP_##state,                                                          \
		.event = (enum event_type)(ev),                                                    \
		.unreliable = VERDICT_UR_##ur,                                                     \
	},

const struct verdict_row verdict_rows[VERDICT_COUNT] = {VERDICTS(VERDICT_ROW)};
