/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vfio-user server: one thread that serves sockets and drives the event core.
 *
 * Simulated time follows the wall clock (CLOCK_MONOTONIC) at the ratio sim.pace. Work that a device
 * has begun is simulated as soon as possible, up to sim.pace_lead before its time, because a guest
 * expects hardware to answer within microseconds. If the simulation is slower than the wall clock
 * it runs as fast as it can. A delay beyond sim.pace_lag is forgotten, so that no timer of the
 * model hurries because this process was late. Between events the thread sleeps in epoll. It
 * answers a message after at most one slice (sim.pace_slice) of simulation. A client's messages are
 * served for one slice before the other client has its turn.
 *
 * With vfu_server_follow() simulated time is the guests' time instead (guest_clock.h).
 */
#ifndef MODEL_VFIO_USER_SERVER_H
#define MODEL_VFIO_USER_SERVER_H

#include "model/engine/base/event_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest_clock;
struct sim_params;
struct vfu_device;
struct vfu_server;

/* A descriptor that the server's epoll watches. Embed it in its owner. */
struct vfu_source {
	int fd;
	void (*ready)(struct vfu_source *source, uint32_t events);
};

/* NULL with errno set. `core` and `params` outlive it. */
struct vfu_server *vfu_server_create(struct event_core *core, const struct sim_params *params);
/* Disconnects clients and removes the sockets' files. The devices stay the caller's. */
void vfu_server_destroy(struct vfu_server *server);

/*
 * Offers a device on a UNIX socket. Replaces the socket file of a server that has ended, but not of
 * one that runs. 0, or -errno with a line in err[].
 */
int vfu_server_offer(struct vfu_server *server, struct vfu_device *device, const char *path,
		     char *err, size_t err_size);
/* True while a client uses the device. */
bool vfu_server_has_client(const struct vfu_server *server, const struct vfu_device *device);

/* events: of epoll. 0 or -errno. Call vfu_server_forget() before closing the descriptor. */
int vfu_server_watch(struct vfu_server *server, struct vfu_source *source, uint32_t events);
int vfu_server_rewatch(struct vfu_server *server, struct vfu_source *source, uint32_t events);
void vfu_server_forget(struct vfu_server *server, struct vfu_source *source);

/* From now on the core runs only as the guests' clocks say. `clock` outlives the server's last
 * turn. */
void vfu_server_follow(struct vfu_server *server, struct guest_clock *clock);
bool vfu_server_follows_guests(const struct vfu_server *server);

/* CLOCK_MONOTONIC; and whether a slice (sim.pace_slice) has passed since then. */
uint64_t vfu_server_wall_ns(void);
bool vfu_server_slice_is_over(const struct vfu_server *server, uint64_t since_ns);
/* Runs the core up to the present, for at most a slice of wall time. Guests in simulated time have
 * brought it there themselves. */
void vfu_server_catch_up(struct vfu_server *server);
/* Simulates what is due. Then waits for the next event or a descriptor, at most max_wait_ns, and
 * serves what is ready. */
void vfu_server_turn(struct vfu_server *server, uint64_t max_wait_ns);

/* Makes a listening UNIX socket as vfu_server_offer() does. The descriptor, or -errno with a
 * line in err[]. */
int vfu_listen(const char *path, char *err, size_t err_size);

#endif
