/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind() of a program knows which addresses are its host's: the other host's address cannot be
 * bound to, the own one, any address, and one that nobody knows can.
 */
#include "testbench/connect.h"

#include "testbench/machine/posix.h"

enum { PORT = 7 };

static int bind_to(const char *text, int family)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	const struct sockaddr *addr =
		family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	const int fd = socket(family, SOCK_STREAM, 0);
	int rc;

	if (fd < 0 ||
	    inet_pton(family, text,
		      family == AF_INET ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr) != 1)
		return -1;
	errno = 0;
	rc = bind(fd, addr, family == AF_INET ? sizeof(v4) : sizeof(v6)) ? errno : 0;
	close(fd);
	return rc;
}

static int program(void *arg)
{
	if (bind_to(IP_A, AF_INET) || bind_to("0.0.0.0", AF_INET) ||
	    bind_to("::ffff:" IP_A, AF_INET6) || bind_to("127.0.0.1", AF_INET))
		return __LINE__;
	if (bind_to(IP_B, AF_INET) != EADDRNOTAVAIL ||
	    bind_to("::ffff:" IP_B, AF_INET6) != EADDRNOTAVAIL)
		return __LINE__;
	return 0;
}

/* Without connection management nobody knows addresses. */
static int knows_none(void *arg)
{
	return bind_to(IP_B, AF_INET);
}

SCENARIO(posix_bind, "bind() to the host's own addresses, and to another host's", .no_qps = true,
	 .any_packets = true)
{
	expect_exit(start_process(a, knows_none, NULL), 0);
	start_cm();
	expect_exit(start_process(a, program, NULL), 0);
}
