/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACK and RNR timers, and going back to a PSN. Each QP has a deadline in its state; the device has
 * one event, for the earliest deadline. from: requester; to: requester, scheduler. Time:
 * [hca.retry]: multipliers of the specification's values.
 */
#ifndef MODEL_ENGINE_RETRY_H
#define MODEL_ENGINE_RETRY_H

#include <stddef.h>
#include <stdint.h>

struct hca;
struct qp;
struct qpc;

struct retry *retry_create(struct hca *hca);
void retry_destroy(struct retry *retry);
void retry_reset(struct hca *hca);
size_t retry_footprint(const struct hca *hca);
/*
 * Arms, moves or (EVENT_NEVER) stops the QP's timer. O(log n) at worst, constant when the deadline
 * only moves later. At the deadline requester_timeout() is called, with the timer off.
 */
void retry_set_deadline(struct qp *qp, uint64_t deadline_ps);
/* Takes the QP out of the heap: its state goes away. */
void retry_forget(struct qp *qp);
/* ps of the local ACK timeout of a context (EVENT_NEVER for code 0), and of an RNR timer code, as
 * the parameters scale them. */
uint64_t retry_ack_timeout_ps(const struct hca *hca, const struct qpc *qpc);
uint64_t retry_rnr_ps(const struct hca *hca, unsigned code);
/* Goes back to `psn`, which is outstanding: everything from it on is sent again. */
void retry_rewind(struct qp *qp, uint32_t psn);

#endif
