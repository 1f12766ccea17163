/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a checker: what its parts share. */
#ifndef TESTBENCH_DSAN_CHECKER_IMPL_H
#define TESTBENCH_DSAN_CHECKER_IMPL_H

#include "model/interface/mailboxes.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rules.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/dsan/checker.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/own/headers.h"
#include "testbench/dsan/own/link.h"
#include "testbench/dsan/threads/threads.h"
#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How hooks.c names its functions. */
#define WRAP "__wrap_"

enum {
	WORD = 4,
	/* that a device may read ahead in a send queue. Source: Linux mlx4_ib, sq_spare_wqes */
	HEADROOM_BYTES = 2048,
	RECENT = 128, /* a power of two */
};

struct ask;
struct breach;
struct claims;
struct drv_device;
struct drv_event;
struct hcr;
struct late;
struct order;
struct own;

/* Who stored last into four bytes of the host's memory. */
struct stored {
	uint32_t seq;   /* of all accesses; 0: nobody, or the device */
	uint32_t epoch; /* of stores: two of one epoch have no write barrier between them */
	const void *pc; /* in the driver */
	uint32_t entry; /* of order.c: the CQE or EQE that the device has written here, 0: none */
	uint32_t value; /* what was stored */
};

/* Of function.c. */
enum { FUNCTION_VECTORS = HCA_MSIX_VECTORS, FUNCTION_WORDS = 64 };
struct function {
	struct vector {
		uint32_t entry[4]; /* as the driver wrote it */
		bool unmasked;
		int handlers;
		struct calls by;         /* the last write */
		struct calls handler_by; /* who has asked for the handler last */
	} vectors[FUNCTION_VECTORS];
	bool raw;        /* a register is written for somebody outside of the driver */
	bool reset_once; /* since the driver began */
	bool own_reset;  /* the last one was the driver's */
	bool hung;       /* a command was given up, and no command was given since */
	bool was_reset;  /* and no command was given since */
	bool restoring;  /* configuration space was written since */
	bool answers;    /* it was read since, and the device answered */
	bool semaphore;  /* it was read, and it is free */
	bool msix_on, disowned;
	uint64_t reset_ps;
	uint64_t restored; /* bit n: dword n of configuration space was written since */
	uint32_t before[FUNCTION_WORDS]; /* configuration space as the reset found it */
	struct calls reset_by, config_by, msix_by, owned_by; /* the last of each */
};

/* Of dead.c. */
struct dead {
	bool command_begun;     /* some of its words have been written, and not the last one */
	struct drv_device *dev; /* the driver's, while there is one */
	void (*fn)(void *arg, const struct drv_event *event);
	void *arg;     /* of fn */
	unsigned told; /* events that the device is dead */
	bool watched;  /* a thread reads the error buffer */
	bool seen;     /* the error buffer was read, and it held an error */
	uint64_t told_ps, seen_ps;
	struct calls told_by, seen_by;
	/* CQs whose handlers its death has still to call, while it is told */
	const struct drv_cq *owed[16];
	unsigned n_owed;
};

/* Of given.c: the commands so far. */
enum { GIVEN_GROUPS = 1 << 14 };
struct given {
	bool runs; /* between INIT_HCA, which these gave, and CLOSE_HCA */
	struct calls runs_by;
	bool has_cap;
	struct dev_cap cap;       /* the answer of QUERY_DEV_CAP */
	uint64_t aux_pages;       /* that of SET_ICM_SIZE */
	struct query_port can[3]; /* the answers of QUERY_PORT; all 0: none */
	bool port_open[3];
	struct calls port_by[3]; /* that opened it */
	uint32_t special_base;   /* of CONF_SPECIAL_QP; 0: none */
	uint32_t special_wanted; /* of the last one, which may be refused */
	struct calls special_by;
	bool synced;     /* SYNC_TPT, since an MPT was taken back last */
	uint64_t events; /* that MAP_EQ sends to event_eqn, and who gave it */
	uint32_t event_eqn;
	struct calls events_by;
	uint8_t groups[GIVEN_GROUPS / 8]; /* bit n: WRITE_MCG has written entry n */
};

/* What parts above the checker hear of (hooks_managed.c). */
/* Functions that are NULL are not called. */
struct watcher {
	void (*call_ends)(const struct checker *c); /* of the driver's interface */
	/* the driver gives a command, not a scenario; the device has answered one */
	void (*command)(struct checker *c, const struct hcr *command);
	void (*command_done)(struct checker *c, const struct hcr *command,
			     const struct hca_command_answer *answer);
	/* the driver has looked at an EQE; it is done with those so far */
	void (*eqe)(struct checker *c, const struct eqe *e, const void *pc);
	void (*eqes_end)(struct checker *c, const void *pc);
};

/* A work request that the device has fetched: its address (0: outside the host's memory) and the size
 * that it says, one chunk at least. */
struct fetched {
	uint32_t qpn;
	uintptr_t at;
	size_t bytes;
};

/* Of guest.c: the pages whose loads and stores are heard. */
struct guest_watch {
	void (*page)(void *ctx, uint64_t page, bool watched); /* NULL: nothing is heard */
	void *ctx;
	uint32_t load_fences, store_fences; /* that were heard last */
};

struct checker {
	struct checker_host host;
	bool memory_only;       /* of checker_create_software() */
	struct headers headers; /* there */
	struct link_told link;  /* there */
	bool guest; /* of guest.c: its driver is another one, and tells nothing but what it does */
	/* Of a guest: whether its driver is held to this rule there. NULL: to every one. */
	bool (*judges)(const struct checker *c, const struct breach *b);
	/* writes where a place in the driver is */
	void (*place)(const void *pc, char *buf, size_t size);
	/* checker_report(), for parts that stand below it */
	void (*tell)(struct checker *c, const struct breach *b, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
	const struct platform_ops *ops; /* the host's own */
	struct { /* the answer that is looked at is of a command that was given up */
		bool is;
		uint32_t token;
	} late_answer;
	struct hca_monitor monitor;
	struct callout_listener listener;
	struct stored *shadow; /* a word of memory each */
	uint32_t seq;
	struct {
		uintptr_t at;
		size_t bytes;
		unsigned thread; /* that makes it: ask_thread() */
		bool ends;       /* it is made, and looked at now; another thread may run already */
	} storing;               /* the newest store, whose value is not known yet */
	/* of a guest that is not watched there are only the claims; the others are NULL */
	struct order *order;
	struct claims *claims;
	struct own *own;
	struct late *late;        /* NULL: stores are visible at once */
	struct report_seen *seen; /* of checker.c */
	unsigned n_seen;
	char *first; /* the text of the first one; NULL: there was none */
	struct {
		uintptr_t at, from;
		size_t bytes;
		unsigned long since; /* wrote_count() when the call began */
	} copied;                    /* the newest copy from the driver's memory into the host's */
	/* Of asked/context.c: which EQ has which interrupt vector (EQN + 1), and the completions of
	 * which vector (EQN); 0: none yet. */
	unsigned eq_of_vector[FUNCTION_VECTORS], vector_eqn[FUNCTION_VECTORS], async_eqn;
	bool async_eqn_known;
	uint32_t kernel_page; /* the doorbell page of what the kernel makes; 0: not known yet */
	struct calls kernel_page_by; /* that gave the first context that page */
	/* Where the driver was last, in order: code_offset() of its accesses to shared memory and
	 * registers. */
	uint32_t recent[RECENT], n_recent;
	struct function function;
	struct interrupt interrupts[FUNCTION_VECTORS];
	bool maps_unheard; /* code that is not watched has mapped memory: mappings are not all known */
	bool hears_buffers; /* buffers.c is told of those that the driver makes */
	struct dead dead;
	struct given given;
	const struct watcher *watcher; /* or NULL */
	struct guest_watch watch;      /* of a guest */
	bool maps;                     /* of a guest: all that is mapped is its driver's */
	struct entered_lately sends_posted, receives_posted,
		shared_posted;      /* by the newest calls */
	struct calls errors_polled; /* what came by when a completion with an error was polled */
	struct fetched fetched[16]; /* of the queue pairs, the newest of each */
	uint8_t hcr[28];            /* the command register, as it was written so far */
	uint32_t hcr_epoch;    /* of stores, as its last word before that with GO was written */
	const void *hcr_by[7]; /* who stored each word of it, before it was written */
	/* that was held when a command was written whose answer is read there; NULL: none */
	struct lock_hold hcr_lock;
	unsigned repeats; /* breaches at this simulated time that were reported before */
	uint64_t repeats_ps;
};

/* A program counter in 32 bits, and back. */
uint32_t code_offset(const void *pc);
const void *code_pc(uint32_t offset);

static inline bool checker_has(const struct checker *c, uintptr_t at)
{
	return at - (uintptr_t)c->host.memory < c->host.bytes;
}

static inline struct stored *checker_stored(const struct checker *c, uintptr_t at)
{
	return &c->shadow[(at - (uintptr_t)c->host.memory) / WORD];
}

/* The CPU's address of a bus address, 0 when it is not in the host's memory. */
static inline uintptr_t checker_address(const struct checker *c, uint64_t bus)
{
	return bus - c->host.bus < c->host.bytes ? (uintptr_t)c->host.memory + (bus - c->host.bus)
						 : 0;
}

/* Copies memory at a bus address; false: there is none. */
static inline bool checker_read(const struct checker *c, uint64_t bus, void *buf, size_t len)
{
	const uintptr_t at = checker_address(c, bus);

	if (c->host.read)
		return c->host.read(c->host.read_ctx, bus, buf, len);
	if (!at || !checker_has(c, at + len - 1))
		return false;
	memcpy(buf, (const void *)at, len);
	return true;
}

/* With nothing in it but the host and how it tells. NULL: no memory. */
struct checker *checker_new(const struct checker_host *host);
/* From now on the platform's operations are these: a copy, for the caller to put its own into. */
void checker_hear_platform(struct checker *c, struct platform_ops *ops);
/* Makes the table of who has stored what. false: no memory. */
bool checker_shadow(struct checker *c);
/* From now on the device tells what it does. */
void checker_hear_device(struct checker *c);
/* Frees what there is of it, which may be less than all. */
void checker_free(struct checker *c);

/* Whether the driver's store is still what stands there. Scenarios and programs write as well, and
 * they have no call-outs. */
static inline bool checker_still_stored(const struct checker *c, uintptr_t at)
{
	const struct stored *s = checker_stored(c, at);

	return s->seq && s->value == *(const uint32_t *)at;
}

/* A breach of a rule. Of the two places in the driver the first is to blame; the second, and in a
 * command both, may be NULL. */
struct breach {
	enum guest_rule rule;
	struct guest_object object;
	const void *pc, *then;
};

/* The place in the driver of this process, past what is inlined there from the rows of the interface. */
void report_place(const void *pc, char *buf, size_t size);

/* Reports it, once for each pair of places; without places, once for each text. */
void checker_report(struct checker *c, const struct breach *b, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The numbers of objects begin anew; the checker goes. */
void report_texts_forget(struct checker *c);
void reports_free(struct checker *c);
/* The functions that have stored into [from, to) since then, each once; an empty text if none has. */
void checker_storers(const struct checker *c, uintptr_t from, uintptr_t to, uint32_t since,
		     char *text, size_t size);
/* The functions that have come by since n_recent was `since`, each once, the latest first. */
void checker_recent(const struct checker *c, uint32_t since, char *text, size_t size);
/* The same places, which checker_functions() turns into a text. */
void checker_recent_calls(const struct checker *c, uint32_t since, struct calls *calls);
/* The functions of these places, each once. */
void checker_functions_add(const void *pc, char *text, size_t size);
/* Whether that name is one of those in the text. */
static inline bool checker_names_have(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += n)
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

void checker_functions(const void *const *pcs, unsigned n, char *text, size_t size);
/* Whether that place is in the driver, and not in a scenario or program. */
bool checker_in_driver(const void *pc);
/* Whether that place is in a part of the driver that is built with call-outs. */
bool checker_hears(const void *pc);
/* Whether it is in the lowest layer, which knows the device. */
bool checker_in_mlx4(const void *pc);
/* A store is heard of before it is made: the driver has made its last one. */
void checker_settle(struct checker *c);
/* The checker of a host with mlx4; NULL: it has none. */
struct checker *checker_of_host(unsigned host);
/* That of a host with any device. */
struct checker *checker_of_software(unsigned host);

/* --- asked*.c: what the driver was asked for --- */

/* The driver has given a request to the device: a send by its owner bit, a receive by the record.
 * false: it is not known which request it is. */
bool asked_send_given(struct checker *c, uint32_t qpn, uintptr_t wqe, uint64_t *wr_id);
bool asked_receive_given(struct checker *c, bool srq, uint32_t number, uintptr_t wqe, size_t bytes,
			 uint64_t *wr_id);
/* It has rung a doorbell; `qpn` is that of the queue. */
void asked_send_rung(struct checker *c, uint32_t qpn);
void asked_cq_armed(struct checker *c, uint32_t cqn, unsigned command, const void *pc);
/* It gives CQEs back: from and up to these indexes. */
void asked_entries_back(struct checker *c, uint32_t cqn, uint32_t from, uint32_t to);
/* It gives a command to the device. */
void asked_command(struct checker *c, const struct hcr *command);
/* The device has answered it. */
/* The driver looks at this EQE; the handler has done with it. */
void asked_answer_seen(struct checker *c, const struct eqe *e);
void asked_answer_end(struct checker *c);
void asked_command_done(struct checker *c, const struct hcr *command,
			const struct hca_command_answer *answer);

/* --- own.c --- */

struct object_memory;
struct holder;

struct own *own_create(struct checker *c);
/* Before the claims are destroyed. */
void own_destroy(struct own *o);
/* An object has become the device's (fresh), or has changed. */
void own_object(struct own *o, struct holder *h, const struct object_memory *m, bool fresh);
void own_load(struct own *o, uintptr_t at, size_t bytes, const void *pc);
void own_store(struct own *o, uintptr_t at, size_t bytes, const void *pc);
/* The newest store has ended. */
void own_stored(struct own *o, uintptr_t at);
void own_register(struct own *o, uint64_t offset, const void *bytes, const void *pc);
/* A line is written through BlueFlame; a call that posts to that queue has ended. */
void own_blueflame(struct own *o, uint64_t offset, const void *line);
void own_blueflame_end(struct own *o, uint32_t qpn);
/* Memory is freed. */
void own_freed(struct own *o, uintptr_t at, size_t bytes, const void *pc);
void own_dma(struct own *o, const struct hca_dma_seen *dma);
/* The device goes on in another buffer of this CQ. */
void own_buffer_changes(struct holder *h);
/* Whether the owner bits, or the record, of this queue's requests are followed. */
bool own_follows(const struct own *o, enum hca_object type, uint32_t number, bool sends);
/* How many requests of a queue are posted, and not known to software as completed. */
unsigned own_open(const struct own *o, uint32_t qpn, bool sends);
/* Where the next send of a queue pair must be; 0: it is not known. */
uintptr_t own_next_send(const struct own *o, uint32_t qpn);
/* A completion that software has taken. */
struct own_taken {
	struct cqe entry; /* as the device wrote it */
	bool has_id;      /* of its request */
	uint64_t wr_id;
	bool shared; /* the receive is one of an SRQ */
};

/* Completions of a CQ wait in the order in which the device wrote them, wherever software moves them.
 * Takes the first; false: none waits, or it is not known. */
bool own_completion_take(struct own *o, uint32_t cqn, struct own_taken *taken);
unsigned own_completions_waiting(const struct own *o, uint32_t cqn);
void own_completion_waiting(const struct own *o, uint32_t cqn, uint32_t nth, struct own_taken *is);
/* How many wait that are of that queue pair; discards them, `shared` of which are receives of an SRQ. */
unsigned own_completions_of(const struct own *o, uint32_t cqn, uint32_t qpn);
void own_completions_discard(struct own *o, uint32_t cqn, uint32_t qpn, unsigned *shared);
/* Whether those that wait stand in the queue from its consumer index on; `nth` does not. */
bool own_entries_match(const struct own *o, uint32_t cqn, unsigned *nth);
/* Then the indexes of a CQ are not followed. */
bool own_was_resized(const struct own *o, uint32_t cqn);
void own_wqe(struct own *o, const struct hca_wqe_seen *wqe);

/* How often software has armed it since it is the device's. */
uint32_t own_eq_arms(const struct own *o, uint32_t eqn);
/* This interrupt handler has ended, and had found the EQ armed so often. */
void own_eq_served(struct own *o, uint32_t eqn, uint32_t arms, const void *handler);
/* Reports event queues whose events nobody takes, because they are not armed. */
void own_tell_waits(struct own *o);

/* --- order.c --- */

struct order *order_create(struct checker *c);
void order_destroy(struct order *o);
void order_load(struct order *o, uintptr_t at, size_t bytes, const void *pc);
void order_store(struct order *o, uintptr_t at, size_t bytes, const void *pc);
void order_fence(struct order *o, unsigned fence);
/* The present epoch of the running thread's stores. */
uint32_t order_epoch(struct order *o);
/* A write of a register that makes the device read memory: a doorbell, or GO of a command. */
void order_trigger(struct order *o, const void *pc);
void order_dma(struct order *o, const struct hca_dma_seen *dma);
/* A WQE has got its owner bit. */
void order_owner(struct order *o, uintptr_t at, uint32_t qpn);
void order_wqe(struct order *o, const struct hca_wqe_seen *wqe);

#endif
