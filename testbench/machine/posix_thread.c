/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, mutexes, conditions and semaphores of a program in a simulated process (posix.h). Threads
 * are not preempted, so no state changes while a thread runs without waiting. All waiting threads
 * share the wait queue of the process; when woken, each checks its condition again. The program's
 * pthread_mutex_t, pthread_cond_t and sem_t hold one counter each, which the static initialisers set
 * to 0.
 */
#define POSIX_NO_NAMES
#include "testbench/machine/posix.h"

#include "testbench/process.h"

#define NS_PS UINT64_C(1000)
#define US_PS UINT64_C(1000000)
#define S_NS  UINT64_C(1000000000)

/* Allocated from the process' heap. */
struct thread {
	struct uv_process *process;
	struct process_thread *running; /* NULL: it has ended */
	void *(*start)(void *);
	void *arg, *result;
};

static unsigned *counter(void *room)
{
	return room;
}

static bool wait_until(uint64_t deadline_ps)
{
	struct uv_process *process = uv_process_current();

	return process->host->platform->ops->waitq_wait(process->host->platform, process->waitq,
							deadline_ps);
}

static void wake(struct uv_process *process)
{
	process->host->platform->ops->waitq_wake_all(process->host->platform, process->waitq);
}

static void wake_all(void)
{
	wake(uv_process_current());
}

/* --- threads --- */

static void run(void *arg)
{
	struct thread *t = arg;

	t->result = t->start(t->arg);
}

static void ended(void *arg)
{
	struct thread *t = arg;

	t->running = NULL;
	wake(t->process);
}

int posix_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			 void *arg)
{
	struct thread *t = uv_heap_alloc(uv_process_current(), sizeof(*t));

	if (!t)
		return EAGAIN;
	*t = (struct thread){.process = uv_process_current(),
			     .start = start,
			     .arg = arg,
			     .result = PTHREAD_CANCELED};
	t->running = process_spawn("pthread", run, ended, t);
	if (!t->running) {
		uv_heap_free(t);
		return EAGAIN;
	}
	*thread = (pthread_t)t;
	return 0;
}

int posix_pthread_join(pthread_t thread, void **result)
{
	struct thread *t = (struct thread *)thread;

	while (t->running)
		wait_until(UINT64_MAX);
	if (result)
		*result = t->result;
	uv_heap_free(t);
	return 0;
}

/* Does nothing: a thread's memory is freed with the process. */
int posix_pthread_detach(pthread_t thread)
{
	return 0;
}

int posix_pthread_cancel(pthread_t thread)
{
	struct thread *t = (struct thread *)thread;

	if (!t->running)
		return ESRCH;
	process_thread_cancel(t->running);
	return 0;
}

/* 0 stands for the main thread. */
pthread_t posix_pthread_self(void)
{
	return (pthread_t)process_thread_arg(run);
}

void posix_pthread_exit(void *result)
{
	struct thread *t = process_thread_arg(run);

	if (t)
		t->result = result;
	process_thread_end();
}

void posix_pthread_testcancel(void)
{
	uv_kernel_enter();
	uv_kernel_leave();
}

int posix_sched_yield(void)
{
	struct platform *p = uv_process_current()->host->platform;

	wait_until(p->ops->now_ps(p) + US_PS);
	return 0;
}

/* --- alarms --- */

void (*posix_signal(struct posix_alarm *a, int number, void (*handler)(int)))(int)
{
	void (*before)(int) = SIG_DFL;

	if (number != SIGALRM)
		return SIG_DFL;
	if (a->handler)
		before = a->handler;
	a->handler = handler;
	return before;
}

struct ringing {
	struct posix_alarm *alarm;
	unsigned number, seconds;
};

static void ring(void *arg)
{
	struct ringing *r = arg;
	void (*handler)(int);

	process_sleep_us((uint64_t)r->seconds * 1000000);
	handler = r->alarm->handler;
	if (r->alarm->number == r->number && handler && handler != SIG_IGN)
		handler(SIGALRM);
	uv_heap_free(r);
}

/* A new alarm cancels the previous one. */
unsigned posix_alarm(struct posix_alarm *a, unsigned seconds)
{
	struct ringing *r;

	a->number++;
	r = seconds ? uv_heap_alloc(uv_process_current(), sizeof(*r)) : NULL;
	if (r) {
		*r = (struct ringing){.alarm = a, .number = a->number, .seconds = seconds};
		process_thread("alarm", ring, r);
	}
	return 0;
}

/* --- mutexes: the counter is 1 while locked --- */

int posix_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	*counter(mutex) = 0;
	return 0;
}

int posix_mutex_destroy(pthread_mutex_t *mutex)
{
	return *counter(mutex) ? EBUSY : 0;
}

int posix_mutex_trylock(pthread_mutex_t *mutex)
{
	if (*counter(mutex))
		return EBUSY;
	*counter(mutex) = 1;
	return 0;
}

int posix_mutex_lock(pthread_mutex_t *mutex)
{
	while (posix_mutex_trylock(mutex))
		wait_until(UINT64_MAX);
	return 0;
}

int posix_mutex_unlock(pthread_mutex_t *mutex)
{
	*counter(mutex) = 0;
	wake_all();
	return 0;
}

/* --- conditions: the counter is the number of signals so far --- */

int posix_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	*counter(cond) = 0;
	return 0;
}

int posix_cond_destroy(pthread_cond_t *cond)
{
	return 0;
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline_ps)
{
	const unsigned before = *counter(cond);
	bool in_time = true;

	posix_mutex_unlock(mutex);
	while (*counter(cond) == before && in_time)
		in_time = wait_until(deadline_ps);
	posix_mutex_lock(mutex);
	return in_time ? 0 : ETIMEDOUT;
}

int posix_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return cond_wait(cond, mutex, UINT64_MAX);
}

int posix_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	return cond_wait(cond, mutex,
			 ((uint64_t)until->tv_sec * S_NS + (uint64_t)until->tv_nsec) * NS_PS);
}

int posix_cond_broadcast(pthread_cond_t *cond)
{
	++*counter(cond);
	wake_all();
	return 0;
}

/* --- semaphores: the counter is the value --- */

int posix_sem_init(sem_t *sem, int shared, unsigned value)
{
	*counter(sem) = value;
	return 0;
}

int posix_sem_destroy(sem_t *sem)
{
	return 0;
}

int posix_sem_trywait(sem_t *sem)
{
	if (!*counter(sem)) {
		errno = EAGAIN;
		return -1;
	}
	--*counter(sem);
	return 0;
}

int posix_sem_wait(sem_t *sem)
{
	while (posix_sem_trywait(sem))
		wait_until(UINT64_MAX);
	return 0;
}

int posix_sem_post(sem_t *sem)
{
	++*counter(sem);
	wake_all();
	return 0;
}
