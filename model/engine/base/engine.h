/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of one HCA, shared by the stages of model/engine/. A stage is a file. Its state is a
 * struct of its own behind a pointer here, created and destroyed with the device.
 *
 * How stages work together: nothing blocks. A function may need something that is not there yet (a
 * context or translation that is being read from ICM, a free tag, credits). It then queues the
 * caller's `struct waiter` and returns -EAGAIN. When the thing is there, the waiter's wake() runs,
 * and the caller repeats the same step from its unchanged state. How long a unit is occupied is
 * arithmetic on a busy-until time. Events exist only where bytes are read or written in host
 * memory, and where a packet arrives.
 *
 * Each kind of failure is handled in one way. Software breaks a rule: guest_error(), and the device
 * goes on. A device uses up the memory that it may hold: memory_take() (base/memory.h) stops that
 * device and names the cause, and the caller goes on. The host has no memory for a device that is
 * being made: memory_create() prints one line and ends the process. An impossible state: hca_bug()
 * says where and when, and aborts.
 */
#ifndef MODEL_ENGINE_ENGINE_H
#define MODEL_ENGINE_ENGINE_H

#include "model/engine/hca.h"
#include "model/engine/base/calls.h"
#include "model/engine/base/memory.h"
#include "model/engine/base/personality.h"
#include "model/engine/base/stats.h"
#include "model/interface/fwregs.h"
#include "model/interface/regs.h"
#include "model/interface/rules.h"
#include "traces/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

enum { HCA_MAX_PORTS = 2 };

/* A table of ICM as INIT_HCA gave it. */
struct icm_table {
	uint64_t base;
	uint32_t entry_size;
	uint8_t log_num;
};

struct hca {
	unsigned index;
	const struct hca_params *params;
	struct event_core *core;
	const struct personality *personality;
	const struct hca_calls *calls; /* of the personality; a unit test has its own */
	struct hca_env env;
	const struct hca_monitor *monitor; /* NULL: nobody looks on; see monitor.h */
	struct trace *trace;
	struct trace_watch watch; /* of `trace` */

	struct hca_stats stats;
	uint64_t rule_count[RULE_COUNT];

	/* What firmware has set up. */
	struct icm_table tables[FW_TABLE_COUNT];
	uint32_t ctrl; /* FW_CTRL_* */
	uint8_t log_uar;
	uint8_t log_mcg_hash;
	uint32_t special_qp; /* base of QP0/QP1 numbers, 0: none */
	bool stopped;        /* catastrophic error: nothing works until reset */

	struct memory memory;
	struct pcie *pcie;
	struct pci_config *config;
	struct interrupt *interrupt;

	/* The stages of mlx4. */
	struct pci_function *pci;
	struct doorbell *doorbell;
	struct processor *processor;
	struct icm *icm;
	struct context_cache *context_cache;
	struct translate *translate;
	struct event_queue *event_queue;
	struct cqe_write *cqe_write;
	struct scheduler *scheduler;
	struct wqe_fetch *wqe_fetch;
	struct retry *retry;
	struct qp_table *qps;
	struct multicast *multicast;
	struct responder *responder;
	struct receive_unit *receive_unit;
	uint64_t gather_busy_ps; /* gather.c: its unit is busy until then */

	struct ipath *ipath;     /* the chip of the personality ipath */
	struct outside *outside; /* the personality outside */

	struct packet_pool *packets;
	struct link_port *ports[HCA_MAX_PORTS];          /* index: port - 1 */
	struct port_config *port_configs[HCA_MAX_PORTS]; /* index: port - 1 */
};

static inline uint64_t hca_now(const struct hca *hca)
{
	return hca->core->now_ps;
}

/* An entry of a queue. The queue's owner wakes it once. Zero-initialise it and set wake. Adding it
 * again to the same queue is allowed and does nothing. */
struct waiter {
	struct waiter *next;
	void (*wake)(struct waiter *w);
	struct waiter_queue *in; /* the queue that it is in, or NULL */
	struct keep *kept;       /* cache lines kept for it until waiter_done(): keep.h */
};

struct waiter_queue {
	struct waiter *first, *last;
};

void waiter_queue_add(struct waiter_queue *q, struct waiter *w);
/* Takes all waiters out first, then wakes them in order. */
void waiter_queue_wake(struct waiter_queue *q);
/* Wakes the waiter that has waited longest. */
void waiter_queue_wake_first(struct waiter_queue *q);
/* Removes it from the queue it is in, if any, because its owner goes away. */
void waiter_cancel(struct waiter *w);
/* Reset: removes all waiters without waking them. */
void waiter_queue_clear(struct waiter_queue *q);

/* Software has broken a rule with this object: counts it, traces it and tells the env. The text is
 * formatted only in this function, so a caller pays nothing while nothing is wrong. */
void guest_error(struct hca *hca, enum guest_rule rule, struct guest_object object,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* For an impossible state. Prints one line with file, line, device, simulated time and what is
 * wrong, and aborts the process. */
#define hca_bug(hca, ...) hca_bug_at((hca), __FILE__, __LINE__, __VA_ARGS__)
_Noreturn void hca_bug_at(const struct hca *hca, const char *file, int line, const char *format,
			  ...) __attribute__((cold, format(printf, 4, 5)));

/*
 * The chip stops. The error buffer is filled (cause, not 0), the engine is switched off, and
 * LOCAL_CATAS_ERROR is posted if that is possible. Only a reset undoes it.
 */
void hca_catastrophe(struct hca *hca, enum err_buf_cause code, uint32_t detail, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
/* The same. Calls told(hca) when that event has been written or dropped. Only for a device that is
 * not stopped yet. */
void hca_catastrophe_then(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			  uint32_t detail, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

uint64_t hca_node_guid(const struct hca *hca);
/* Cycles of the core clock since power-on. QUERY_HCA states the clock's rate. */
uint64_t hca_core_cycles(const struct hca *hca);

/* Whether trace points of one of these kinds (1 << kind) are on. The packet path asks this before
 * it prepares a record. */
static inline bool hca_watched(const struct hca *hca, uint32_t kinds)
{
	return TRACE_BUILT && __builtin_expect(hca->watch.kinds & kinds, 0);
}

static inline bool hca_traces(const struct hca *hca, enum trace_point point)
{
	return hca_watched(hca, 1u << trace_point_kinds[point]);
}

/* The same for a record with a time in the future. */
#define HCA_TRACE_AT(hca_, point_, time_ps_, ...)                                                  \
	do {                                                                                       \
		if (hca_traces((hca_), (point_))) {                                                \
			trace_advance((hca_)->trace, hca_now(hca_));                               \
			trace_emit((hca_)->trace,                                                  \
				   &(struct trace_record){.time_ps = (time_ps_),                   \
							  .point = (point_),                       \
							  .hca = (uint8_t)(hca_)->index,           \
							  __VA_ARGS__});                           \
		}                                                                                  \
	} while (0)

/* Emits a trace record when the point is on; bytes may be NULL. */
#define HCA_TRACE(hca_, point_, ...)                                                               \
	do {                                                                                       \
		if (hca_traces((hca_), (point_))) {                                                \
			trace_advance((hca_)->trace, hca_now(hca_));                               \
			trace_emit((hca_)->trace,                                                  \
				   &(struct trace_record){.time_ps = hca_now(hca_),                \
							  .point = (point_),                       \
							  .hca = (uint8_t)(hca_)->index,           \
							  __VA_ARGS__});                           \
		}                                                                                  \
	} while (0)

#endif
