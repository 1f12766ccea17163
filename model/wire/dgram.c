/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dgram:OWN,PEER: each frame is one datagram without FCS between two UNIX sockets, as QEMU's
 * `-netdev dgram` has it. What arrives at the socket OWN leaves by the far port; what reaches the
 * far port is sent to the socket PEER.
 *
 * The link is up while somebody has the socket PEER. That is looked up every LOOK_MS, because a
 * datagram socket is not told when its peer ends. Frames that come faster than the port's rate wait
 * in the socket, so their sender has to wait, too.
 */
#include "model/engine/base/event_core.h"
#include "model/interface/ethernet.h"
#include "model/interface/macros.h"
#include "model/sim/units.h"
#include "model/vfio_user/server.h"
#include "model/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	LOOK_MS = 100,
	FRAMES_A_TURN = 64,
	ROOM = ETHERNET_MAX +
	       64, /* one byte too many is enough to see that a datagram is too long */
};
/* No more is taken from the socket while the port has frames for so long. */
#define WINDOW_PS CFG_US(10)

struct dgram {
	struct vfu_source frames, looks; /* first: cast back */
	struct event drained;
	struct wire *wire;
	struct sockaddr_un own, peer;
	bool bound, present, paused;
};

static struct hca *far_of(const struct dgram *d)
{
	return d->wire->wires->env.far;
}

/* --- the peer comes and goes --- */

/* A socket that nobody has refuses a connection. One that is itself connected to another socket
 * forbids it (EPERM), so it exists. */
static bool is_there(const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool there;

	if (fd < 0)
		return true;
	there = !connect(fd, (const struct sockaddr *)address, sizeof(*address)) || errno == EPERM;
	close(fd);
	return there;
}

static void peer_look(struct dgram *d)
{
	const bool present = is_there(&d->peer);

	if (present != d->present) {
		if (present)
			wire_say(d->wire, "%s is there, the cable is plugged", d->peer.sun_path);
		else
			wire_say(d->wire, "nobody has %s any more, the cable is out",
				 d->peer.sun_path);
		hca_link_set(far_of(d), d->wire->port, present);
	}
	d->present = present;
}

static void look_due(struct vfu_source *source, uint32_t events)
{
	struct dgram *d = container_of(source, struct dgram, looks);
	uint64_t count;

	if (read(source->fd, &count, sizeof(count)) != sizeof(count))
		return;
	vfu_server_catch_up(d->wire->wires->env.server);
	peer_look(d);
}

/* --- frames --- */

static enum hca_outside_answer dgram_frame(struct wire *wire, const void *frame, size_t len)
{
	struct dgram *d = wire->state;

	if (sendto(d->frames.fd, frame, len, MSG_DONTWAIT | MSG_NOSIGNAL,
		   (const struct sockaddr *)&d->peer, sizeof(d->peer)) == (ssize_t)len)
		return OUTSIDE_TOOK;
	return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? OUTSIDE_LATER : OUTSIDE_LOST;
}

static void listen_again(struct event *ev)
{
	struct dgram *d = container_of(ev, struct dgram, drained);

	d->paused = vfu_server_rewatch(d->wire->wires->env.server, &d->frames, EPOLLIN);
}

/* The port has enough to do: leaves the rest in the socket until then. */
static void listen_later(struct dgram *d, uint64_t backlog_ps)
{
	struct event_core *core = d->wire->wires->env.core;

	if (!d->paused)
		d->paused = !vfu_server_rewatch(d->wire->wires->env.server, &d->frames, 0);
	event_set(core, &d->drained, core->now_ps + backlog_ps);
}

static void frames_came(struct vfu_source *source, uint32_t events)
{
	struct dgram *d = container_of(source, struct dgram, frames);
	struct wires *wires = d->wire->wires;
	uint8_t frame[ROOM];

	vfu_server_catch_up(wires->env.server);
	for (unsigned i = 0; i < FRAMES_A_TURN; i++) {
		const uint64_t backlog = hca_outside_backlog_ps(wires->env.far, d->wire->port);
		ssize_t n;

		if (backlog > WINDOW_PS) {
			listen_later(d, backlog);
			return;
		}
		n = recv(source->fd, frame, sizeof(frame), MSG_DONTWAIT);
		if (n < 0)
			return;
		d->wire->received++;
		hca_outside_send(wires->env.far, d->wire->port, frame, (size_t)n);
	}
}

/* --- life --- */

static int address_set(struct sockaddr_un *address, const char *path, size_t n)
{
	address->sun_family = AF_UNIX;
	if (!n || n >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memcpy(address->sun_path, path, n);
	return 0;
}

/* Removes the file of a socket that nobody has any more. */
static int stale_remove(const struct sockaddr_un *address)
{
	struct stat st;

	if (lstat(address->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (is_there(address))
		return -EADDRINUSE;
	return unlink(address->sun_path) ? -errno : 0;
}

static int own_open(struct dgram *d)
{
	int rc = stale_remove(&d->own);

	if (rc)
		return rc;
	d->frames.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->frames.fd < 0 ||
	    bind(d->frames.fd, (const struct sockaddr *)&d->own, sizeof(d->own)))
		return -errno;
	d->bound = true;
	return 0;
}

static int looks_open(struct dgram *d)
{
	const struct timespec every = {.tv_nsec = LOOK_MS * 1000000L};
	const struct itimerspec times = {.it_interval = every, .it_value = every};

	d->looks.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->looks.fd < 0 || timerfd_settime(d->looks.fd, 0, &times, NULL))
		return -errno;
	return 0;
}

static int watch(struct dgram *d)
{
	struct vfu_server *server = d->wire->wires->env.server;
	const int rc = vfu_server_watch(server, &d->frames, EPOLLIN);

	return rc ? rc : vfu_server_watch(server, &d->looks, EPOLLIN);
}

static void dgram_close(struct wire *wire)
{
	struct dgram *d = wire->state;

	event_cancel(wire->wires->env.core, &d->drained);
	for (struct vfu_source *s = &d->frames; s <= &d->looks; s++) {
		if (s->fd < 0)
			continue;
		vfu_server_forget(wire->wires->env.server, s);
		close(s->fd);
	}
	if (d->bound)
		unlink(d->own.sun_path);
	free(d);
}

static int dgram_open(struct wire *wire, const char *text, FILE *err)
{
	const size_t own = strcspn(text, ",");
	struct dgram *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	if (!text[own] || strchr(text + own + 1, ',')) {
		free(d);
		fprintf(err,
			"hcasim: hca0.port%u.wire: expected dgram:OWN,PEER with the paths of two "
			"sockets, got dgram:%s\n",
			wire->port, text);
		return -EINVAL;
	}
	if (!d)
		goto failed;
	wire->state = d;
	d->wire = wire;
	d->frames = (struct vfu_source){-1, frames_came};
	d->looks = (struct vfu_source){-1, look_due};
	d->drained.job = listen_again;
	hca_link_set(far_of(d), wire->port, false);
	rc = address_set(&d->peer, text + own + 1, strlen(text + own + 1));
	if (!rc)
		rc = address_set(&d->own, text, own);
	if (!rc && !strcmp(d->own.sun_path, d->peer.sun_path))
		rc = -EINVAL;
	if (!rc)
		rc = own_open(d);
	if (!rc)
		rc = looks_open(d);
	if (!rc)
		rc = watch(d);
	if (!rc) {
		peer_look(d);
		return 0;
	}
	dgram_close(wire);
failed:
	fprintf(err, "hcasim: hca0.port%u.wire: dgram:%s: %s\n", wire->port, text, strerror(-rc));
	return rc;
}

const struct wire_kind wire_dgram = {
	.name = "dgram",
	.is_live = true,
	.pause = true,
	.open = dgram_open,
	.frame = dgram_frame,
	.close = dgram_close,
};
