/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library for unchanged libibverbs programs in a simulated process. start_program of process.h
 * includes this header before the program's text; it redirects the program's calls to functions of
 * the simulated process.
 *
 * What differs from a real machine:
 * - Only the port of a server's address counts, not the host name. connect() waits for the accept()
 *   on that port. A socket supports only read, write and close. Bytes arrive after 20 us.
 * - poll() supports only reading, on descriptors of channels, contexts, sockets and eventfd().
 * - pthreads are simulated threads of the process. A thread runs until it waits, so that every run
 *   is the same. pthread_cond_signal() wakes all waiters (POSIX allows that); attributes exist but
 *   have no effect; a thread is cancelled when it waits. sched_yield() lets at most one microsecond
 *   pass. A thread that polls a variable without calling any function hangs the simulation.
 * - All memory can be registered, and is freed at the end of the process.
 * - The only signal is SIGALRM from alarm(); its handler runs in a thread of its own.
 * - There is no fork, no file with content, no exit handler. stdio is the real one.
 * Functions return what POSIX says, and set errno.
 */
#ifndef TESTBENCH_POSIX_H
#define TESTBENCH_POSIX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

void *posix_malloc(size_t bytes);
void *posix_calloc(size_t n, size_t bytes);
void *posix_aligned(size_t align, size_t bytes);
int posix_aligned_into(void **out, size_t align, size_t bytes);
void posix_free(void *p);

int posix_gettimeofday(struct timeval *tv, void *zone);
int posix_clock_gettime(clockid_t clock, struct timespec *ts);
time_t posix_time(time_t *t);
int posix_usleep(useconds_t us);
unsigned posix_sleep(unsigned seconds);
int posix_nanosleep(const struct timespec *time, struct timespec *left);
pid_t posix_getpid(void);
__attribute__((noreturn)) void posix_exit(int status);

int posix_open(const char *path, int flags, ...);
int posix_close(int fd);
ssize_t posix_read(int fd, void *bytes, size_t len);
ssize_t posix_write(int fd, const void *bytes, size_t len);
/* Supports F_GETFL, and F_SETFL with O_NONBLOCK, on descriptors of verbs. */
int posix_fcntl(int fd, int cmd, ...);
int posix_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

int posix_eventfd(unsigned count, int flags);

int posix_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			 void *arg);
int posix_pthread_join(pthread_t thread, void **result);
int posix_pthread_detach(pthread_t thread);
int posix_pthread_cancel(pthread_t thread);
pthread_t posix_pthread_self(void);
__attribute__((noreturn)) void posix_pthread_exit(void *result);
void posix_pthread_testcancel(void);
int posix_sched_yield(void);
int posix_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int posix_mutex_destroy(pthread_mutex_t *mutex);
int posix_mutex_lock(pthread_mutex_t *mutex);
int posix_mutex_trylock(pthread_mutex_t *mutex);
int posix_mutex_unlock(pthread_mutex_t *mutex);
int posix_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int posix_cond_destroy(pthread_cond_t *cond);
int posix_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int posix_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			 const struct timespec *until);
int posix_cond_broadcast(pthread_cond_t *cond);
int posix_sem_init(sem_t *sem, int shared, unsigned value);
int posix_sem_destroy(sem_t *sem);
int posix_sem_wait(sem_t *sem);
int posix_sem_trywait(sem_t *sem);
int posix_sem_post(sem_t *sem);

/* The program's alarm. The weak definition gives each loaded program one, however many source files
 * it has. */
struct posix_alarm {
	void (*handler)(int number);
	unsigned number; /* counts calls of alarm(), so that an older alarm knows it is cancelled */
};
#ifndef POSIX_NO_NAMES
__attribute__((weak)) struct posix_alarm posix_alarm_of_program;
#endif
void (*posix_signal(struct posix_alarm *a, int number, void (*handler)(int)))(int);
unsigned posix_alarm(struct posix_alarm *a, unsigned seconds);

int posix_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		      struct addrinfo **res);
void posix_freeaddrinfo(struct addrinfo *res);
int posix_socket(int domain, int type, int protocol);
int posix_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int posix_bind(int fd, const struct sockaddr *addr, socklen_t len);
int posix_listen(int fd, int backlog);
int posix_accept(int fd, struct sockaddr *addr, socklen_t *len);
int posix_shutdown(int fd);
int posix_connect(int fd, const struct sockaddr *addr, socklen_t len);

#ifndef POSIX_NO_NAMES
#define main                          program_main
#define malloc(n)                     posix_malloc(n)
#define calloc(n, size)               posix_calloc(n, size)
#define memalign(align, n)            posix_aligned(align, n)
#define aligned_alloc(align, n)       posix_aligned(align, n)
#define posix_memalign(out, align, n) posix_aligned_into(out, align, n)
#define free(p)                       posix_free(p)
#define gettimeofday(tv, zone)        posix_gettimeofday(tv, zone)
#define clock_gettime(clock, ts)      posix_clock_gettime(clock, ts)
#define time(t)                       posix_time(t)
#define usleep(us)                    posix_usleep(us)
#define sleep(s)                      posix_sleep(s)
#define nanosleep(t, left)            posix_nanosleep(t, left)
#define getpid()                      posix_getpid()
#define exit(status)                  posix_exit(status)
#define open(...)                     posix_open(__VA_ARGS__)
#define close(fd)                     posix_close(fd)
#define read(fd, bytes, n)            posix_read(fd, bytes, n)
#define write(fd, bytes, n)           posix_write(fd, bytes, n)
#define recv(fd, bytes, n, flags)     posix_read(fd, bytes, n)
#define send(fd, bytes, n, flags)     posix_write(fd, bytes, n)
#define shutdown(fd, how)             posix_shutdown(fd)
#define fcntl(...)                    posix_fcntl(__VA_ARGS__)
#define poll(fds, n, timeout)         posix_poll(fds, n, timeout)
#define eventfd(count, flags)         posix_eventfd(count, flags)
#define pthread_create                posix_pthread_create
#define pthread_join                  posix_pthread_join
#define pthread_detach                posix_pthread_detach
#define pthread_cancel                posix_pthread_cancel
#define pthread_self                  posix_pthread_self
#define pthread_exit                  posix_pthread_exit
#define signal(number, handler)       posix_signal(&posix_alarm_of_program, number, handler)
#define alarm(s)                      posix_alarm(&posix_alarm_of_program, s)
#define sched_yield                   posix_sched_yield
#define pthread_testcancel            posix_pthread_testcancel
#define pthread_mutex_init            posix_mutex_init
#define pthread_mutex_destroy         posix_mutex_destroy
#define pthread_mutex_lock            posix_mutex_lock
#define pthread_mutex_trylock         posix_mutex_trylock
#define pthread_mutex_unlock          posix_mutex_unlock
#define pthread_cond_init             posix_cond_init
#define pthread_cond_destroy          posix_cond_destroy
#define pthread_cond_wait             posix_cond_wait
#define pthread_cond_timedwait        posix_cond_timedwait
#define pthread_cond_signal           posix_cond_broadcast
#define pthread_cond_broadcast        posix_cond_broadcast
#define sem_init                      posix_sem_init
#define sem_destroy                   posix_sem_destroy
#define sem_wait                      posix_sem_wait
#define sem_trywait                   posix_sem_trywait
#define sem_post                      posix_sem_post
#define getaddrinfo(...)              posix_getaddrinfo(__VA_ARGS__)
#define freeaddrinfo(res)             posix_freeaddrinfo(res)
#define socket(domain, type, proto)   posix_socket(domain, type, proto)
#define setsockopt(...)               posix_setsockopt(__VA_ARGS__)
#define bind(fd, addr, len)           posix_bind(fd, addr, len)
#define listen(fd, n)                 posix_listen(fd, n)
#define accept(fd, addr, len)         posix_accept(fd, addr, len)
#define connect(fd, addr, len)        posix_connect(fd, addr, len)
#endif

#endif
