// SPDX-License-Identifier: Apache-2.0
/* rdma_getaddrinfo(), for numeric addresses only. */
#include "host_driver/uverbs/process.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>

enum { PORT_MAX = 0xffff, DECIMAL = 10 };

struct info {
	struct rdma_addrinfo rdma;
	struct sockaddr_storage addr;
};

/* -1: not a port number. */
static int port_of(const char *service)
{
	char *end;
	long n;

	if (!service)
		return 0;
	n = strtol(service, &end, DECIMAL);
	return *end || end == service || n < 0 || n > PORT_MAX ? -1 : (int)n;
}

static bool parse(const char *node, int family, uint16_t port, struct sockaddr_storage *addr)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;

	if (family != AF_INET6 && (!node || inet_pton(AF_INET, node, &v4->sin_addr) == 1)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return true;
	}
	if (family != AF_INET && (!node || inet_pton(AF_INET6, node, &v6->sin6_addr) == 1)) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		return true;
	}
	return false;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	const int flags = hints ? hints->ai_flags : 0,
		  family = flags & RAI_FAMILY ? hints->ai_family : AF_UNSPEC,
		  port = port_of(service);
	struct uv_process *process = uv_process_current();
	struct sockaddr_storage addr = {0};
	struct info *info;

	if ((!node && !service) || (!node && !(flags & RAI_PASSIVE)) || !process) {
		errno = EINVAL;
		return -1;
	}
	if (port < 0 || !parse(node, family, (uint16_t)port, &addr))
		return EAI_NONAME;
	info = uv_heap_alloc(process, sizeof(*info));
	if (!info) {
		errno = ENOMEM;
		return -1;
	}
	info->addr = addr;
	info->rdma = (struct rdma_addrinfo){.ai_flags = flags,
					    .ai_family = addr.ss_family,
					    .ai_qp_type = hints ? hints->ai_qp_type : 0,
					    .ai_port_space = hints ? hints->ai_port_space : 0};
	if (!info->rdma.ai_port_space)
		info->rdma.ai_port_space =
			info->rdma.ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
	if (!info->rdma.ai_qp_type)
		info->rdma.ai_qp_type =
			info->rdma.ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	if (flags & RAI_PASSIVE) {
		info->rdma.ai_src_addr = (struct sockaddr *)&info->addr;
		info->rdma.ai_src_len = addr.ss_family == AF_INET ? sizeof(struct sockaddr_in)
								  : sizeof(struct sockaddr_in6);
	} else {
		info->rdma.ai_dst_addr = (struct sockaddr *)&info->addr;
		info->rdma.ai_dst_len = addr.ss_family == AF_INET ? sizeof(struct sockaddr_in)
								  : sizeof(struct sockaddr_in6);
	}
	*res = &info->rdma;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	if (res)
		uv_heap_free(container_of(res, struct info, rdma));
}
