// SPDX-License-Identifier: Apache-2.0
/* See server.h. */
#define _GNU_SOURCE
#include "model/vfio_user/server.h"

#include "model/sim/params/sim.h"
#include "model/vfio_user/connection.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/guest_clock.h"
#include "model/vfio_user/pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, READY_MAX = 8, CLOCK_STRIDE = 16, BACKLOG = 4 };

/*
 * The thread sleeps for a part of each millisecond, to leave processor time to others. If a thread
 * of real-time priority leaves them less than 50 ms of each second, Linux takes that time in one
 * stretch (sched(7), sched_rt_runtime_us), and the guests would be without their devices for so
 * long.
 */
enum { WINDOW_NS = 1000000, REST_NS = 60000 };

/* A device and the socket where it is offered. */
struct offer {
	struct vfu_source listener;
	struct vfu_connection connection;
	bool closed; /* accepts no clients, because the device is clogged */
	struct offer *next;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

struct vfu_server {
	struct event_core *core;
	struct guest_clock *clock; /* NULL: the wall clock leads */
	int epoll;
	struct pace pace;
	uint64_t slice_ns, lead_ps;
	uint64_t linger_ns, awake_until_ns;
	uint64_t window_ns, slept_ns; /* the start of this window, and the time slept in it */
	struct offer *offers;
};

uint64_t vfu_server_wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

bool vfu_server_slice_is_over(const struct vfu_server *server, uint64_t since_ns)
{
	return vfu_server_wall_ns() - since_ns > server->slice_ns;
}

struct vfu_server *vfu_server_create(struct event_core *core, const struct sim_params *params)
{
	struct vfu_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->core = core;
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll < 0) {
		free(server);
		return NULL;
	}
	pace_init(&server->pace, sim_param_sim_pace(params), sim_param_sim_pace_lag(params),
		  vfu_server_wall_ns(), core->now_ps);
	server->slice_ns = sim_param_sim_pace_slice(params) / PACE_PS_PER_NS;
	server->lead_ps = sim_param_sim_pace_lead(params);
	server->linger_ns = sim_param_sim_pace_linger(params) / PACE_PS_PER_NS;
	return server;
}

void vfu_server_destroy(struct vfu_server *server)
{
	if (!server)
		return;
	while (server->offers) {
		struct offer *o = server->offers;

		server->offers = o->next;
		vfu_connection_close(&o->connection, "the server ends");
		close(o->listener.fd);
		unlink(o->path);
		free(o);
	}
	close(server->epoll);
	free(server);
}

/* --- descriptors --- */

static int epoll_do(struct vfu_server *server, int op, struct vfu_source *source, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = source};

	return epoll_ctl(server->epoll, op, source->fd, &ev) ? -errno : 0;
}

int vfu_server_watch(struct vfu_server *server, struct vfu_source *source, uint32_t events)
{
	return epoll_do(server, EPOLL_CTL_ADD, source, events);
}

int vfu_server_rewatch(struct vfu_server *server, struct vfu_source *source, uint32_t events)
{
	return epoll_do(server, EPOLL_CTL_MOD, source, events);
}

void vfu_server_forget(struct vfu_server *server, struct vfu_source *source)
{
	epoll_do(server, EPOLL_CTL_DEL, source, 0);
}

/* Removes a socket's file if nobody listens on it any more. */
static int stale_remove(const struct sockaddr_un *address)
{
	struct stat st;
	int fd, rc;

	if (lstat(address->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : -EADDRINUSE;
	close(fd);
	if (rc != -ECONNREFUSED)
		return rc;
	return unlink(address->sun_path) ? -errno : 0;
}

int vfu_listen(const char *path, char *err, size_t err_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = -1, rc = -ENAMETOOLONG;

	if (*path && strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		rc = stale_remove(&address);
	}
	if (!rc) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		rc = fd < 0 ? -errno : 0;
	}
	if (!rc &&
	    (bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG)))
		rc = -errno;
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(err, err_size, "socket %s: %s", path, strerror(-rc));
	return rc;
}

static void turn_away(struct offer *o, int fd, const char *why)
{
	vfu_device_log(o->connection.device, "%s", why);
	shutdown(fd, SHUT_RDWR);
	releaser_fd(o->connection.device->releaser, fd);
}

/* Accepts a client. A second client is turned away: its connection is closed, and it has to try
 * again when the first one has gone. */
static void listener_ready(struct vfu_source *source, uint32_t events)
{
	struct offer *o = (struct offer *)(void *)source;
	int fd, rc;

	if (vfu_device_is_clogged(o->connection.device)) {
		o->closed = !vfu_server_rewatch(o->connection.server, &o->listener, 0);
		return;
	}
	fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	rc = o->connection.source.fd >= 0 ? -EBUSY : vfu_connection_open(&o->connection, fd);
	if (rc == -EBUSY)
		turn_away(o, fd, "refused a second client");
	else if (rc)
		turn_away(o, fd, "refused a client: out of file descriptors");
}

/* Checks for conditions that arise between messages: eventfds that block, and devices that are no
 * longer clogged. */
static void offers_check(struct vfu_server *server)
{
	for (struct offer *o = server->offers; o; o = o->next) {
		if (vfu_device_is_blocked(o->connection.device))
			vfu_connection_close(&o->connection, "writing to its eventfd blocks");
		if (o->closed && !vfu_device_is_clogged(o->connection.device))
			o->closed = vfu_server_rewatch(server, &o->listener, EPOLLIN);
	}
}

int vfu_server_offer(struct vfu_server *server, struct vfu_device *device, const char *path,
		     char *err, size_t err_size)
{
	struct offer *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return -ENOMEM;
	vfu_connection_init(&o->connection, server, device);
	o->listener.ready = listener_ready;
	o->listener.fd = vfu_listen(path, err, err_size);
	if (o->listener.fd < 0) {
		rc = o->listener.fd;
		goto free_offer;
	}
	strcpy(o->path, path);
	rc = vfu_server_watch(server, &o->listener, EPOLLIN);
	if (rc) {
		snprintf(err, err_size, "socket %s: %s", path, strerror(-rc));
		goto close_listener;
	}
	o->next = server->offers;
	server->offers = o;
	return 0;
close_listener:
	close(o->listener.fd);
	unlink(o->path);
free_offer:
	free(o);
	return rc;
}

bool vfu_server_has_client(const struct vfu_server *server, const struct vfu_device *device)
{
	for (const struct offer *o = server->offers; o; o = o->next)
		if (o->connection.device == device)
			return o->connection.source.fd >= 0;
	return false;
}

/* --- time --- */

/*
 * Runs the events that are due or fall within the lead, for at most one slice of wall time. The
 * core's time becomes the time of the last event, or the wall clock's time if that is later. A
 * guest that was not running meanwhile then finds everything done that should have been. Returns
 * the time up to which events may be run.
 */
static uint64_t simulate(struct vfu_server *server)
{
	struct event_core *core = server->core;
	const uint64_t start = vfu_server_wall_ns();
	const uint64_t target = pace_target_ps(&server->pace, start, event_core_next_ps(core));
	const uint64_t limit = target + server->lead_ps;

	while (event_core_next_ps(core) <= limit) {
		for (unsigned i = 0; i < CLOCK_STRIDE && event_core_next_ps(core) <= limit; i++)
			event_core_step(core);
		if (vfu_server_slice_is_over(server, start))
			return limit;
	}
	if (core->now_ps < target)
		event_core_run_until(core, target);
	return limit;
}

void vfu_server_catch_up(struct vfu_server *server)
{
	if (!server->clock)
		simulate(server);
}

void vfu_server_follow(struct vfu_server *server, struct guest_clock *clock)
{
	server->clock = clock;
}

bool vfu_server_follows_guests(const struct vfu_server *server)
{
	return server->clock;
}

/* Simulates what is due. Returns how long there is nothing to do, in wall time. */
static uint64_t paced_turn(struct vfu_server *server, uint64_t max_wait_ns)
{
	uint64_t limit = simulate(server), next = event_core_next_ps(server->core), wait = 0;

	if (next == EVENT_NEVER)
		wait = max_wait_ns;
	else if (next > limit)
		wait = pace_wall_ns(&server->pace, next - limit);
	return wait < max_wait_ns ? wait : max_wait_ns;
}

/* The same for guests in simulated time. */
static uint64_t followed_turn(struct vfu_server *server, uint64_t max_wait_ns)
{
	if (guest_clock_serve(server->clock)) {
		server->awake_until_ns = vfu_server_wall_ns() + server->linger_ns;
		return 0;
	}
	if (vfu_server_wall_ns() < server->awake_until_ns || !guest_clock_doze(server->clock))
		return 0;
	return max_wait_ns;
}

static void rest(struct vfu_server *server, uint64_t now_ns)
{
	const struct timespec left = {0, (long)REST_NS - (long)server->slept_ns};

	if (now_ns - server->window_ns < WINDOW_NS)
		return;
	if (server->slept_ns < REST_NS)
		nanosleep(&left, NULL);
	server->window_ns = vfu_server_wall_ns();
	server->slept_ns = 0;
}

void vfu_server_turn(struct vfu_server *server, uint64_t max_wait_ns)
{
	struct epoll_event ready[READY_MAX];
	uint64_t wait = server->clock ? followed_turn(server, max_wait_ns)
				      : paced_turn(server, max_wait_ns);
	uint64_t start;
	struct timespec ts;
	int n;

	offers_check(server);
	start = vfu_server_wall_ns();
	if (start < server->awake_until_ns)
		wait = 0;
	ts = (struct timespec){(time_t)(wait / NS_PER_S), (long)(wait % NS_PER_S)};
	n = epoll_pwait2(server->epoll, ready, READY_MAX, &ts, NULL);
	if (wait)
		server->slept_ns += vfu_server_wall_ns() - start;
	if (server->clock)
		guest_clock_wake(server->clock);
	for (int i = 0; i < n; i++) {
		struct vfu_source *source = ready[i].data.ptr;

		source->ready(source, ready[i].events);
	}
	start = vfu_server_wall_ns();
	if (n > 0)
		server->awake_until_ns = start + server->linger_ns;
	if (!server->clock)
		rest(server, start);
}
