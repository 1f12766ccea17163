/* SPDX-License-Identifier: Apache-2.0 */
/* The C library functions that a program in a simulated process uses. See posix.h. */
#define POSIX_NO_NAMES
#include "testbench/machine/posix.h"

#include "host_driver/cm/cma.h"
#include "testbench/process.h"

#include <stdarg.h>

enum {
	FIRST_PID = 1000,
	NS_PER_US = 1000,
	NAME_CHARS = 32,
};

/* What the descriptor of a socket or of an eventfd() refers to. */
struct socket {
	struct oob *oob; /* NULL: not connected */
	unsigned port;   /* the port it is bound to, in network order */
	bool counter;
	uint64_t count;
};

static int fail(int error)
{
	errno = error;
	return -1;
}

/* --- memory: pages that can be registered --- */

void *posix_malloc(size_t bytes)
{
	void *p = process_memory(bytes ? bytes : 1);

	if (!p)
		errno = ENOMEM;
	return p;
}

void *posix_calloc(size_t n, size_t bytes)
{
	if (bytes && n > SIZE_MAX / bytes) {
		errno = ENOMEM;
		return NULL;
	}
	return posix_malloc(n * bytes);
}

void *posix_aligned(size_t align, size_t bytes)
{
	void *p;

	errno = posix_aligned_into(&p, align, bytes);
	return errno ? NULL : p;
}

int posix_aligned_into(void **out, size_t align, size_t bytes)
{
	void *p;

	if (!align || align & (align - 1) || align > PLATFORM_PAGE_SIZE)
		return EINVAL;
	p = posix_malloc(bytes);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void posix_free(void *p)
{
	struct uv_process *process = uv_process_current();

	/* memory from strdup() or asprintf() belongs to the real C library */
	if (p && (!process || !uv_pages_free(process, p)))
		free(p);
}

/* --- time --- */

int posix_gettimeofday(struct timeval *tv, void *zone)
{
	const uint64_t us = process_now_ns() / NS_PER_US;

	*tv = (struct timeval){.tv_sec = (time_t)(us / 1000000),
			       .tv_usec = (suseconds_t)(us % 1000000)};
	return 0;
}

int posix_clock_gettime(clockid_t clock, struct timespec *ts)
{
	const uint64_t ns = process_now_ns();

	*ts = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};
	return 0;
}

time_t posix_time(time_t *t)
{
	const time_t now = (time_t)(process_now_ns() / 1000000000);

	if (t)
		*t = now;
	return now;
}

int posix_usleep(useconds_t us)
{
	process_sleep_us(us);
	return 0;
}

unsigned posix_sleep(unsigned seconds)
{
	process_sleep_us((uint64_t)seconds * 1000000);
	return 0;
}

int posix_nanosleep(const struct timespec *t, struct timespec *left)
{
	process_sleep_us((uint64_t)t->tv_sec * 1000000 +
			 ((uint64_t)t->tv_nsec + NS_PER_US - 1) / NS_PER_US);
	return 0;
}

pid_t posix_getpid(void)
{
	return (pid_t)(FIRST_PID + uv_process_current()->host->platform->host);
}

void posix_exit(int status)
{
	fflush(stdout);
	process_exit(status);
}

/* --- descriptors --- */

static struct socket *socket_of(int fd)
{
	struct uv_fd *f = uv_fd_find(uv_process_current(), fd, UV_FD_SOCKET);

	return f ? f->socket : NULL;
}

int posix_open(const char *path, int flags, ...)
{
	return process_open(path, flags);
}

int posix_close(int fd)
{
	struct socket *s = socket_of(fd);

	if (!s)
		return process_close(fd);
	if (s->oob)
		oob_close(s->oob);
	uv_fd_find(uv_process_current(), fd, UV_FD_SOCKET)->kind = UV_FD_FREE;
	uv_heap_free(s);
	return 0;
}

static ssize_t counter_read(struct socket *s, void *bytes, size_t len)
{
	struct uv_process *process = uv_process_current();
	struct platform *p = process->host->platform;

	if (len < sizeof(s->count))
		return fail(EINVAL);
	while (!s->count)
		p->ops->waitq_wait(p, process->waitq, UINT64_MAX);
	memcpy(bytes, &s->count, sizeof(s->count));
	s->count = 0;
	return sizeof(s->count);
}

static ssize_t counter_write(struct socket *s, const void *bytes, size_t len)
{
	struct uv_process *process = uv_process_current();
	struct platform *p = process->host->platform;
	uint64_t n;

	if (len < sizeof(n))
		return fail(EINVAL);
	memcpy(&n, bytes, sizeof(n));
	s->count += n;
	p->ops->waitq_wake_all(p, process->waitq);
	return sizeof(n);
}

ssize_t posix_read(int fd, void *bytes, size_t len)
{
	struct socket *s = socket_of(fd);

	if (!s)
		return fail(EBADF);
	if (s->counter)
		return counter_read(s, bytes, len);
	return s->oob ? oob_read_some(s->oob, bytes, len) : fail(ENOTCONN);
}

ssize_t posix_write(int fd, const void *bytes, size_t len)
{
	struct socket *s = socket_of(fd);

	if (!s)
		return fail(EBADF);
	if (s->counter)
		return counter_write(s, bytes, len);
	if (!s->oob)
		return fail(ENOTCONN);
	return oob_write(s->oob, bytes, len) ? -1 : (ssize_t)len;
}

int posix_fcntl(int fd, int cmd, ...)
{
	struct uv_fd *f = uv_fd_find(uv_process_current(), fd, UV_FD_FREE);
	va_list args;
	int flags;

	if (!f)
		return fail(EBADF);
	if (cmd == F_GETFL)
		return O_RDWR | (f->nonblock ? O_NONBLOCK : 0);
	if (cmd != F_SETFL)
		return fail(EINVAL);
	va_start(args, cmd);
	flags = va_arg(args, int);
	va_end(args);
	return process_nonblock(fd, flags & O_NONBLOCK);
}

/* The time at which it becomes readable; up to now: it is readable; UINT64_MAX: not known yet. */
static uint64_t readable_ps(struct uv_process *process, int fd)
{
	const struct socket *s = socket_of(fd);

	if (!s)
		return uv_readable(process, fd) ? 0 : UINT64_MAX;
	if (s->counter)
		return s->count ? 0 : UINT64_MAX;
	return s->oob ? oob_readable_ps(s->oob) : UINT64_MAX;
}

int posix_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct uv_process *process = uv_process_current();
	struct platform *p = process->host->platform;
	uint64_t now = p->ops->now_ps(p);
	const uint64_t end = timeout_ms < 0 ? UINT64_MAX : now + CFG_MS(1) * (uint64_t)timeout_ms;

	for (;; now = p->ops->now_ps(p)) {
		uint64_t next = end;
		int ready = 0;

		for (nfds_t i = 0; i < n; i++) {
			const bool open =
				fds[i].fd >= 0 && uv_fd_find(process, fds[i].fd, UV_FD_FREE);
			const uint64_t at = open ? readable_ps(process, fds[i].fd) : UINT64_MAX;

			fds[i].revents = 0;
			if (open && at <= now)
				fds[i].revents = POLLIN;
			else if (!open && fds[i].fd >= 0)
				fds[i].revents = POLLNVAL;
			ready += fds[i].revents != 0;
			next = at < next ? at : next;
		}
		if (ready || now >= end)
			return ready;
		p->ops->waitq_wait(p, process->waitq, next);
	}
}

/* --- sockets --- */

int posix_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		      struct addrinfo **res)
{
	struct room {
		struct addrinfo info;
		struct sockaddr_in addr;
	} *r = posix_calloc(1, sizeof(*r));

	if (!r)
		return EAI_MEMORY;
	r->addr.sin_family = AF_INET;
	if (node)
		inet_pton(AF_INET, node, &r->addr.sin_addr);
	r->addr.sin_port = htons(service ? (uint16_t)strtoul(service, NULL, 10) : 0);
	r->info = (struct addrinfo){.ai_family = AF_INET,
				    .ai_socktype = SOCK_STREAM,
				    .ai_addrlen = sizeof(r->addr),
				    .ai_addr = (struct sockaddr *)(void *)&r->addr};
	*res = &r->info;
	return 0;
}

void posix_freeaddrinfo(struct addrinfo *res)
{
	posix_free(res);
}

/* Returns -1 with errno EMFILE or ENOMEM on failure. */
static int socket_new(struct oob *oob)
{
	struct uv_process *process = uv_process_current();
	struct socket *s = uv_heap_alloc(process, sizeof(*s));
	int fd = s ? uv_fd_alloc(process, UV_FD_SOCKET) : -ENOMEM;

	if (fd < 0) {
		uv_heap_free(s);
		return fail(-fd);
	}
	s->oob = oob;
	uv_fd_find(process, fd, UV_FD_SOCKET)->socket = s;
	return fd;
}

int posix_socket(int domain, int type, int protocol)
{
	if (!uv_process_current())
		return fail(ENOSYS);
	return type & SOCK_STREAM ? socket_new(NULL) : fail(EPROTONOSUPPORT);
}

int posix_eventfd(unsigned count, int flags)
{
	const int fd = socket_new(NULL);

	if (fd >= 0) {
		socket_of(fd)->counter = true;
		socket_of(fd)->count = count;
	}
	return fd;
}

int posix_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	return socket_of(fd) ? 0 : fail(EBADF);
}

/* Has no effect: data in flight still arrives. */
int posix_shutdown(int fd)
{
	return socket_of(fd) ? 0 : fail(EBADF);
}

static unsigned port_of(const struct sockaddr *addr)
{
	return ((const struct sockaddr_in *)(const void *)addr)->sin_port;
}

int posix_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct socket *s = socket_of(fd);

	if (!s)
		return fail(EBADF);
	if (cma_addr_is_foreign(uv_process_current()->host, addr))
		return fail(EADDRNOTAVAIL);
	s->port = port_of(addr);
	return 0;
}

int posix_listen(int fd, int backlog)
{
	return socket_of(fd) ? 0 : fail(EBADF);
}

/* Connects the accept() and the connect() on a port: the first of the two waits for the other. */
static struct oob *meet(unsigned port)
{
	char name[NAME_CHARS];
	struct oob *oob;

	snprintf(name, sizeof(name), "port %u", ntohs((uint16_t)port));
	oob = oob_open(name);
	if (!oob)
		errno = ENOMEM;
	return oob;
}

int posix_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct socket *s = socket_of(fd);
	struct oob *oob;
	int rc;

	if (!s)
		return fail(EBADF);
	oob = meet(s->port);
	if (!oob)
		return -1;
	rc = socket_new(oob);
	if (rc < 0)
		oob_close(oob);
	return rc;
}

int posix_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct socket *s = socket_of(fd);

	if (!s)
		return fail(EBADF);
	if (s->oob)
		return fail(EISCONN);
	s->oob = meet(port_of(addr));
	return s->oob ? 0 : -1;
}
