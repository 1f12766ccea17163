/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client on its socket: messages in, replies out. from: server; to: device (requests.c).
 *
 * A wrong message gets an error reply if the stream is still readable; otherwise the connection is
 * closed. Both are logged, up to a number of lines per client. A client that does not read its
 * replies is not served until it does.
 */
#ifndef MODEL_VFIO_USER_CONNECTION_H
#define MODEL_VFIO_USER_CONNECTION_H

#include "model/vfio_user/protocol.h"
#include "model/vfio_user/server.h"

struct vfu_device;

struct vfu_message {
	uint16_t id, command;
	uint32_t flags;
	uint8_t *payload;
	uint32_t len;
	int *fds; /* a request sets those that it takes over to -1 */
	unsigned n_fds;
};

struct vfu_reply {
	uint8_t payload[VFU_A_DATA + VFU_MAX_XFER];
	uint32_t len;
};

struct vfu_connection {
	struct vfu_source source; /* fd -1: no client */
	struct vfu_server *server;
	struct vfu_device *device;
	bool greeted, blocked;
	unsigned refused;
	uint32_t have;
	unsigned n_fds;
	int fds[VFU_MAX_FDS];
	uint8_t in[VFU_HEADER + VFU_MAX_PAYLOAD];
	/* A reply that the socket did not take: [out_at, out_len). */
	uint32_t out_at, out_len;
	uint8_t out[VFU_HEADER + sizeof(struct vfu_reply)];
};

void vfu_connection_init(struct vfu_connection *c, struct vfu_server *server,
			 struct vfu_device *device);
/* Takes over the descriptor of a client. 0 or -errno. */
int vfu_connection_open(struct vfu_connection *c, int fd);
/* Resets the device and drops everything that the client gave. `why` NULL: the client left. */
void vfu_connection_close(struct vfu_connection *c, const char *why);

/*
 * requests.c: executes one request. 0 with *reply, or -errno. *known says whether the protocol has
 * this command. The caller logs errors of requests that want no reply.
 */
int vfu_request(struct vfu_connection *c, struct vfu_message *m, struct vfu_reply *reply);
const char *vfu_command_name(unsigned command);

#endif
