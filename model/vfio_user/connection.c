// SPDX-License-Identifier: Apache-2.0
/* See connection.h. */
#include "model/vfio_user/connection.h"

#include "model/vfio_user/device.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* At most this many log lines about refused messages. */
enum { REFUSED_LINES = 16 };

/* The most descriptors that Linux passes with one message. If the receive buffer had room for
 * fewer, the kernel would close the rest, and the server would wait for that. */
enum { SCM_MAX = 253 };

void vfu_connection_init(struct vfu_connection *c, struct vfu_server *server,
			 struct vfu_device *device)
{
	memset(c, 0, sizeof(*c));
	c->source.fd = -1;
	c->server = server;
	c->device = device;
}

static void fds_close(struct vfu_connection *c)
{
	for (unsigned i = 0; i < c->n_fds; i++)
		if (c->fds[i] >= 0)
			releaser_fd(c->device->releaser, c->fds[i]);
	c->n_fds = 0;
}

void vfu_connection_close(struct vfu_connection *c, const char *why)
{
	if (c->source.fd < 0)
		return;
	vfu_server_forget(c->server, &c->source);
	shutdown(c->source.fd, SHUT_RDWR);
	releaser_fd(c->device->releaser, c->source.fd);
	fds_close(c);
	vfu_device_abandon(c->device);
	if (why)
		vfu_device_log(c->device, "client disconnected: %s", why);
	else
		vfu_device_log(c->device, "client disconnected");
	vfu_connection_init(c, c->server, c->device);
}

/* --- out --- */

/* Sends what is left of out[]. 0 when all is sent, -EAGAIN when some is still in out[], else
 * -errno. */
static int flush(struct vfu_connection *c)
{
	while (c->out_at < c->out_len) {
		ssize_t n = send(c->source.fd, c->out + c->out_at, c->out_len - c->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
		c->out_at += (uint32_t)n;
	}
	c->out_at = c->out_len = 0;
	return 0;
}

static void blocked_set(struct vfu_connection *c, bool blocked)
{
	if (c->blocked == blocked)
		return;
	c->blocked = blocked;
	vfu_server_rewatch(c->server, &c->source, blocked ? EPOLLOUT : EPOLLIN);
}

static int reply_send(struct vfu_connection *c, const struct vfu_message *m, int rc,
		      const struct vfu_reply *reply)
{
	uint32_t len = VFU_HEADER + (rc ? 0 : reply->len);
	uint8_t *h = c->out;

	vfu_put16(h + VFU_H_ID, m->id);
	vfu_put16(h + VFU_H_COMMAND, m->command);
	vfu_put32(h + VFU_H_SIZE, len);
	vfu_put32(h + VFU_H_FLAGS, VFU_F_REPLY | (rc ? (uint32_t)VFU_F_ERROR : 0));
	vfu_put32(h + VFU_H_ERROR, (uint32_t)-rc);
	memcpy(h + VFU_HEADER, reply->payload, len - VFU_HEADER);
	c->out_at = 0;
	c->out_len = len;
	rc = flush(c);
	if (rc == -EAGAIN) {
		blocked_set(c, true);
		return 0;
	}
	return rc;
}

/* --- in --- */

/* Takes the descriptors of a message. -EMFILE if there are more than a message may have, or more
 * than fitted: the excess is lost, and the stream cannot be used further. */
static int fds_take(struct vfu_connection *c, struct msghdr *msg)
{
	bool lost = msg->msg_flags & MSG_CTRUNC;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(msg); h; h = CMSG_NXTHDR(msg, h)) {
		size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(h) + i * sizeof(fd), sizeof(fd));
			if (c->n_fds < VFU_MAX_FDS) {
				c->fds[c->n_fds++] = fd;
			} else {
				releaser_fd(c->device->releaser, fd);
				lost = true;
			}
		}
	}
	return lost ? -EMFILE : 0;
}

/* Reads until `want` bytes of the message are in in[]. 0, -EAGAIN, -ESHUTDOWN at the end of the
 * stream, or -errno. */
static int receive(struct vfu_connection *c, uint32_t want)
{
	while (c->have < want) {
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(SCM_MAX * sizeof(int))];
		} control;
		struct iovec iov = {c->in + c->have, want - c->have};
		struct msghdr msg = {.msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = &control,
				     .msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(c->source.fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
		if (fds_take(c, &msg))
			return -EMFILE;
		if (!n)
			return -ESHUTDOWN;
		c->have += (uint32_t)n;
	}
	return 0;
}

static void refuse_log(struct vfu_connection *c, const struct vfu_message *m, int rc)
{
	const char *name = vfu_command_name(m->command);

	if (!name || ++c->refused > REFUSED_LINES)
		return;
	vfu_device_log(c->device, "%s of %u bytes refused: %s%s", name, m->len, strerror(-rc),
		       c->refused == REFUSED_LINES ? "; further ones are not logged" : "");
}

/* A whole message is in in[]. Returns why the connection must be closed, or NULL. */
static const char *serve(struct vfu_connection *c)
{
	struct vfu_message m = {
		.id = vfu_get16(c->in + VFU_H_ID),
		.command = vfu_get16(c->in + VFU_H_COMMAND),
		.flags = vfu_get32(c->in + VFU_H_FLAGS),
		.payload = c->in + VFU_HEADER,
		.len = c->have - VFU_HEADER,
		.fds = c->fds,
		.n_fds = c->n_fds,
	};
	struct vfu_reply reply;
	int rc;

	reply.len = 0;
	if (m.flags & ~(uint32_t)VFU_F_NO_REPLY)
		return "it sent a message that is not a request";
	if (c->greeted != (m.command != VFU_VERSION))
		return c->greeted ? "it sent a second version message"
				  : "it sent a request before the version message";
	vfu_server_catch_up(c->server);
	rc = vfu_request(c, &m, &reply);
	c->have = 0;
	fds_close(c);
	if (rc)
		refuse_log(c, &m, rc);
	if (!(m.flags & VFU_F_NO_REPLY) && reply_send(c, &m, rc, &reply))
		return "it does not read its replies";
	if (!c->greeted)
		return "its version message is not valid";
	if (vfu_device_is_blocked(c->device))
		return "writing to its eventfd blocks";
	if (vfu_device_is_clogged(c->device))
		return "its file descriptors cannot be closed";
	return NULL;
}

/* Handles one message, or as much of it as has arrived. Returns why the connection must be closed,
 * or NULL. *more is false when no whole message has arrived. */
static const char *step(struct vfu_connection *c, bool *more)
{
	uint32_t size;
	int rc = receive(c, VFU_HEADER);

	*more = false;
	if (!rc) {
		size = vfu_get32(c->in + VFU_H_SIZE);
		if (size < VFU_HEADER || size > sizeof(c->in))
			return "it sent a message of impossible size";
		rc = receive(c, size);
	}
	if (rc == -EAGAIN)
		return NULL;
	if (rc == -ESHUTDOWN)
		return c->have ? "the connection ended inside a message" : "";
	if (rc)
		return rc == -EMFILE ? "it sent too many file descriptors in one message"
				     : strerror(-rc);
	*more = true;
	return serve(c);
}

static void connection_ready(struct vfu_source *source, uint32_t events)
{
	struct vfu_connection *c = (struct vfu_connection *)(void *)source;
	const uint64_t start = vfu_server_wall_ns();
	const char *why = NULL;
	bool more = true;

	if (c->blocked) {
		int rc = flush(c);

		if (rc == -EAGAIN)
			return;
		if (rc) {
			vfu_connection_close(c, "it does not read its replies");
			return;
		}
		blocked_set(c, false);
	}
	do
		why = step(c, &more);
	while (more && !why && !c->blocked && !vfu_server_slice_is_over(c->server, start));
	/* A guest in simulated time has ended then (guest_clock.h). Its device stays as it is,
	 * because this moment is none of simulated time, and another guest may go on. */
	if (why && !*why && vfu_server_follows_guests(c->server))
		vfu_server_forget(c->server, &c->source);
	else if (why)
		vfu_connection_close(c, *why ? why : NULL);
}

int vfu_connection_open(struct vfu_connection *c, int fd)
{
	int rc;

	vfu_connection_init(c, c->server, c->device);
	c->source.fd = fd;
	c->source.ready = connection_ready;
	rc = vfu_server_watch(c->server, &c->source, EPOLLIN);
	if (rc)
		c->source.fd = -1;
	else
		vfu_device_log(c->device, "client connected");
	return rc;
}
