/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library of a program for libibverbs that runs unchanged, main() and all, in a simulated
 * process (start_program of process.h, which includes this header before the program's text): its
 * calls become those of the process.
 *
 * What differs from a real machine:
 * - A server's address is its port, whatever the host's name; connect() waits for the accept() of
 *   that port. A socket reads, writes and closes, no more. Bytes take 20 us.
 * - poll() takes one descriptor, of a completion channel or a context.
 * - Memory is freed at the end of the process; all of it can be registered.
 * - No fork, signals, pthreads, files with content, exit handlers. stdio is the real one.
 * Functions answer as POSIX says, with errno.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
pid_t posix_getpid(void);
__attribute__((noreturn)) void posix_exit(int status);

int posix_open(const char *path, int flags, ...);
int posix_close(int fd);
ssize_t posix_read(int fd, void *bytes, size_t len);
ssize_t posix_write(int fd, const void *bytes, size_t len);
/* F_GETFL, F_SETFL with O_NONBLOCK, of verbs' descriptors. */
int posix_fcntl(int fd, int cmd, ...);
int posix_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

int posix_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		      struct addrinfo **res);
void posix_freeaddrinfo(struct addrinfo *res);
int posix_socket(int domain, int type, int protocol);
int posix_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int posix_bind(int fd, const struct sockaddr *addr, socklen_t len);
int posix_listen(int fd, int backlog);
int posix_accept(int fd, struct sockaddr *addr, socklen_t *len);
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
#define getpid()                      posix_getpid()
#define exit(status)                  posix_exit(status)
#define open(...)                     posix_open(__VA_ARGS__)
#define close(fd)                     posix_close(fd)
#define read(fd, bytes, n)            posix_read(fd, bytes, n)
#define write(fd, bytes, n)           posix_write(fd, bytes, n)
#define fcntl(...)                    posix_fcntl(__VA_ARGS__)
#define poll(fds, n, timeout)         posix_poll(fds, n, timeout)
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
