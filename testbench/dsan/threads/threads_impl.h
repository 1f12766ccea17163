/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that judge what threads do to memory of the driver. */
#ifndef TESTBENCH_DSAN_THREADS_THREADS_IMPL_H
#define TESTBENCH_DSAN_THREADS_THREADS_IMPL_H

#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/threads/threads.h"

struct platform_waitq;
struct sleeping;

enum {
	ACCESSES = 64,
	HELD = 8,
	CHANGES = 4,
	NAMES = 160,
	TRAIL = 1024, /* a power of two */
	ENTERED = 192,
	OF_CALL = 128,
	FUNCTIONS_LOG = 12,
	FUNCTIONS = 1 << FUNCTIONS_LOG, /* of the driver */
	UNDONE = 24,
	BESIDE = 2,
	DEPTH = 32,  /* functions of the layers above mlx4 that are remembered while they run */
	CALLERS = 3, /* of those, who is told */
	SET = 16,
	BUSY = 8
};

struct access {
	uintptr_t at;
	uint32_t bytes;
	uint32_t nth; /* of all accesses */
	const void *pc;
	uint32_t caller; /* of the function, as in runner.in; 0: not known */
};

/* The newest ones. */
struct accesses {
	struct access newest[ACCESSES];
	unsigned n; /* ever added */
};

static inline unsigned accesses_kept(const struct accesses *a)
{
	return a->n < ACCESSES ? a->n : ACCESSES;
}

static inline bool access_touches(const struct access *a, uintptr_t at, size_t bytes)
{
	return a->at < at + bytes && at < a->at + a->bytes;
}

/* The newest access that touches these bytes; NULL: none. */
const struct access *accesses_find(const struct accesses *a, uintptr_t at, size_t bytes);

/* A thread of the driver. */
struct runner {
	unsigned number;
	struct checker *c;             /* of the host that it called last */
	uint32_t turn;                 /* grows when others may have run */
	struct accesses loads, stores; /* of this turn */
	struct held {
		const void *lock, *pc;
		uint32_t turn;  /* when it was taken */
		uint32_t nth;   /* as in struct lock_hold */
		unsigned depth; /* of the function that has taken it, or of its caller */
	} held[HELD];
	unsigned n_held;
	uint32_t calls;      /* of the driver's interface that have ended */
	unsigned interrupts; /* handlers that run */
	const void *handler; /* what the innermost one was called with */
	/* what it changed in this turn and a sleeper had looked at: of waits.c */
	struct change {
		unsigned long sleeper;
		const struct platform_waitq *q; /* where it sleeps */
		bool late;                      /* it was woken before */
		bool unseen;                    /* and looks too early, unless it is woken again */
		unsigned depth;                 /* of the function that has changed it */
		struct access look;
		bool last; /* one of the last looks before the sleep */
		uint64_t was;
		const void *pc, *sleeps;
	} changes[CHANGES];
	unsigned n_changes;
	/* of trail.c: code_offset() of where it has come by, from where the running call began */
	uint32_t trail[TRAIL], n_trail, trail_from;
	/* the same two numbers when it wrote a register last */
	uint32_t told, told_from;
	/* the end of its trail when it began to give back what it had taken; n_undone 0: it has not */
	uint32_t undone[UNDONE];
	unsigned n_undone;
	/* the errors with which something was refused to it since the call began, as bits of errno
	 * modulo 64; how long its trail was at the last one */
	uint64_t refused;
	uint32_t refused_at;
	/* of entered.c: the functions above mlx4 that it has entered, and those of mlx4; each once, the
	 * latest first */
	struct entered {
		uint32_t at[ENTERED]; /* code_offset() */
		uint32_t n;
	} entered, visited;
	uint32_t visited_nth; /* of all threads: when it entered one of mlx4 last */
	/* those of the running call, the first ones first, and the number of that call */
	uint32_t of_call[OF_CALL], n_of_call, call;
	uint64_t in_call[FUNCTIONS / 64]; /* bit n: functions[n] of entered.c is one of them */
	unsigned depth;                   /* how many of the functions above mlx4 it is in */
	uint32_t in[DEPTH];               /* those it is in, the outermost first */
	uint32_t returns;                 /* how often it has left the outermost one */
	/* of flags.c: flags that the running handler of interrupts has set; the depth of the function that
	 * has armed a CQ and runs, or of its caller; 0: none does */
	uintptr_t set[SET];
	unsigned n_set, armed_depth;
	struct cleared {
		uintptr_t at; /* 0: nothing was cleared behind the arming */
		const void *pc;
	} cleared;
	uintptr_t outermost;         /* its stack ends there */
	uintptr_t pointer;           /* of locals.c: where it has just stored 8 bytes; 0: nowhere */
	struct guest_object subject; /* of history.c: of the call of the driver that it made last */
	uint32_t subject_call;       /* the number of that call */
	bool asked;                  /* it is in a call that has an ask (asked/asked.h) */
	struct beside { /* of trail.c: the trails of others in a call, when this one began */
		const struct runner *r;
		uint32_t from, to;
	} beside[BESIDE];
	unsigned n_beside;
	/* of busy.c: the flags and counts that it has set; the store into one that is not made yet */
	struct busy {
		uintptr_t at;
		unsigned depth; /* of the function that has set it */
		uint32_t in;    /* that function */
		bool cleared;
		const void *pc; /* where it was cleared */
		uint32_t turn;
		const void *used; /* where the memory was used in a later turn; NULL: nowhere */
	} busy[BUSY];
	unsigned n_busy;
	struct counting {
		uintptr_t at; /* 0: none */
		unsigned bytes;
		uint32_t was;
		const void *pc;
	} counting;
	bool ends;     /* its process ends: what it still enters is not noted */
	struct woken { /* behind a wait: of waits.c */
		bool watched;
		struct accesses looks, stores; /* its own before it slept; those of who woke it */
		const void *pc;
	} woken;
};

static inline void trail_add(struct runner *r, const void *pc)
{
	const uint32_t at = code_offset(pc);

	if (r->trail[(r->n_trail - 1) % TRAIL] != at)
		r->trail[r->n_trail++ % TRAIL] = at;
}

/* The running thread; NULL: none that the driver has called from. */
struct runner *runner_now(void);
/* Who tells what that thread does, or (NULL) software in an event of the simulation: the checker of the host that it called last, or where it has called
 * none, such as software without a device, that of a host. NULL: there is none. */
struct checker *threads_checker(const struct runner *r);
/* Whether that is in the stack of a thread of the driver. */
bool runners_stack(uintptr_t at);
/* Those of threads: the first one from number `from` on; NULL: there is none. *next is where to go on. */
const struct runner *runners_from(unsigned from, unsigned *next);
/* The one that wrote a register of that host last; NULL: none has. */
struct runner *runner_told(unsigned host);

/* locks.c */
/* The running thread's own stack is nobody else's. */
bool on_own_stack(uintptr_t at);
void locks_load(struct runner *r, uintptr_t at, const void *pc);
void locks_store(struct runner *r, uintptr_t at, const void *pc);
/* A function has returned to r->depth. */
void locks_leave(struct runner *r);
/* Memory is given back. */
void locks_memory_gone(uintptr_t at, size_t bytes);

/* lockset.c */
void lockset_load(const struct runner *r, uintptr_t at, const void *pc);
void lockset_store(const struct runner *r, uintptr_t at, const void *pc);
/* The functions that had a greater depth have ended. */
void lockset_call_ends(const struct runner *r, unsigned depth);
void lockset_lock_gone(const void *lock);
void lockset_memory_gone(uintptr_t at, size_t bytes);
void lockset_forget(void);

/* locals.c */
/* r->pointer is where it has stored what may be a pointer. */
void locals_stored(struct runner *r);
/* A function ends, whose variables and those of all that it called have lower addresses. */
void locals_end(const struct runner *r, uintptr_t frame);
void locals_load(const struct runner *r, uintptr_t at, const void *pc);
void locals_memory_gone(uintptr_t at, size_t bytes);
void locals_forget(void);

/* entered.c */
/* The thread works for a host without mlx4, or for none yet. */
static inline bool runner_is_software(const struct runner *r)
{
	return !r->c || r->c->memory_only;
}

void entered_call_begins(struct runner *r);
/* Adds the functions that the running call has entered first, the last one of them first, until there are
 * `max`. */
void entered_add_first(const struct runner *r, struct ran *ran, unsigned max);
void entered_note(struct runner *r, const void *pc);
void entered_note_visit(struct runner *r, const void *pc);

/* setters.c */
void setters_store(const struct runner *r, uintptr_t at, size_t bytes, const void *pc);
void setters_memory_gone(uintptr_t at, size_t bytes);
void setters_forget(void);
/* The functions that had stored last, before this call, what the thread has loaded in this turn, and who
 * called them: of the latest store first, as what has changed last is most likely what is wrong. Those
 * that are named in `besides` are left out. */
void setters_take(const struct runner *r, struct ran *ran);
void setters_format(const struct runner *r, const char *besides, char *text, size_t size);

/* waits.c */
void waits_load(struct runner *r, uintptr_t at, size_t bytes);
void waits_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc);
/* Others may run now. */
void waits_others_run(struct runner *r);
/* The functions of this depth and more have ended: what they changed behind a wake-up is told. */
void waits_tell_unseen(struct runner *r, unsigned depth);
/* The thread falls asleep, or a handler of interrupts ends: who had to be woken must be awake. */
void waits_turn_ends(struct runner *r);
/* The thread sleeps in q until it calls waits_awake(); `s` is on its stack. */
struct sleeping {
	struct sleeping *next;
	unsigned long id;
	struct runner *r;
	const struct platform_waitq *q;
	struct accesses looks; /* of its last turn */
	uint64_t values[ACCESSES];
	const void *pc;
	bool woken;
	const struct runner *waker; /* in that turn */
	uint32_t waker_turn;
	struct accesses stores; /* of who woke it */
};
void waits_sleep(struct sleeping *s, struct runner *r, const struct platform_waitq *q,
		 const void *pc);
void waits_awake(struct sleeping *s);
void waits_end(struct sleeping *s); /* also when the thread is unwound */
void waits_wake(struct runner *r, const struct platform_waitq *q);
/* Memory is given back: nobody waits for it. */
void waits_memory_gone(struct runner *r, uintptr_t at, size_t bytes);
void waits_queue_gone(struct checker *c, const struct platform_waitq *q, const void *pc);

/* In an inline function of a header. */
bool waits_of_header(const void *pc);
/* In the same function, or at least in the same file. */
bool waits_are_near(const void *pc, const void *other, bool same_file);

/* flags.c */
void flags_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc);
/* The thread sleeps without a deadline. */
void flags_sleep(struct runner *r, const void *pc);
void flags_interrupt_ends(struct runner *r);
/* The thread sleeps, or a handler of interrupts ends. */
void flags_turn_ends(struct runner *r);
void flags_memory_gone(uintptr_t at, size_t bytes);
void flags_forget(void);

/* busy.c */
void busy_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc);
void busy_stored(struct runner *r);
/* A function has returned to r->depth. */
void busy_leave(struct runner *r);
void busy_access(struct runner *r, uintptr_t at, const void *pc);
void busy_load(struct runner *r, uintptr_t at);
void busy_memory_gone(struct runner *r, uintptr_t at, size_t bytes, const void *pc);
void busy_forget(void);

/* handlers.c */
void handlers_memory_gone(struct runner *r, uintptr_t at, size_t bytes, const void *pc);
void handlers_forget(void);

/* freed.c */
void freed_check(struct runner *r, uintptr_t at, size_t bytes, bool store, const void *pc);
void freed_forget(void);

#endif
