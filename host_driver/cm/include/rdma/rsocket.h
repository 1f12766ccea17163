/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets over RDMA are not supported. Programs for librdmacm compile with these names; each call
 * returns -1 with EOPNOTSUPP.
 */
#ifndef RDMA_RSOCKET_H
#define RDMA_RSOCKET_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

enum { SOL_RDMA = 0x10000 };
enum { RDMA_SQSIZE, RDMA_RQSIZE, RDMA_INLINE, RDMA_IOMAPSIZE, RDMA_ROUTE };

/* For this header only. */
static inline int rsocket_absent(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

#define RSOCKET_ABSENT(type, name, ...)                                                            \
	static inline type name(__VA_ARGS__)                                                       \
	{                                                                                          \
		return rsocket_absent();                                                           \
	}
RSOCKET_ABSENT(int, rsocket, int domain, int type, int protocol)
RSOCKET_ABSENT(int, rbind, int socket, const struct sockaddr *addr, socklen_t len)
RSOCKET_ABSENT(int, rlisten, int socket, int backlog)
RSOCKET_ABSENT(int, raccept, int socket, struct sockaddr *addr, socklen_t *len)
RSOCKET_ABSENT(int, rconnect, int socket, const struct sockaddr *addr, socklen_t len)
RSOCKET_ABSENT(int, rshutdown, int socket, int how)
RSOCKET_ABSENT(int, rclose, int socket)
RSOCKET_ABSENT(ssize_t, rrecv, int socket, void *buf, size_t len, int flags)
RSOCKET_ABSENT(ssize_t, rrecvfrom, int socket, void *buf, size_t len, int flags,
	       struct sockaddr *addr, socklen_t *addr_len)
RSOCKET_ABSENT(ssize_t, rsend, int socket, const void *buf, size_t len, int flags)
RSOCKET_ABSENT(ssize_t, rsendto, int socket, const void *buf, size_t len, int flags,
	       const struct sockaddr *addr, socklen_t addr_len)
RSOCKET_ABSENT(ssize_t, rread, int socket, void *buf, size_t len)
RSOCKET_ABSENT(ssize_t, rwrite, int socket, const void *buf, size_t len)
RSOCKET_ABSENT(int, rpoll, struct pollfd *fds, nfds_t n, int timeout)
RSOCKET_ABSENT(int, rsetsockopt, int socket, int level, int name, const void *value, socklen_t len)
RSOCKET_ABSENT(int, rgetsockopt, int socket, int level, int name, void *value, socklen_t *len)
RSOCKET_ABSENT(int, rfcntl, int socket, int cmd, ...)
#undef RSOCKET_ABSENT

#endif
