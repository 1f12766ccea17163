/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vfio-user server: one thread that serves sockets and drives the event core.
 *
 * Simulated time follows the wall clock (CLOCK_MONOTONIC) at the ratio sim.pace; what a device has
 * under way is done as soon as it can be computed, up to sim.pace_lead before its time, because a
 * guest supposes that hardware needs microseconds. Where the simulation is slower than the wall
 * clock it runs as fast as it can, and the wall clock's lead beyond sim.pace_lag is forgotten, so
 * that no timer of the model hurries because this process was late. Between events the thread
 * sleeps in epoll; a message is answered within a slice (sim.pace_slice) of simulation.
 * A client has a slice of messages before the other has its turn.
 */
#ifndef MODEL_VFIO_USER_SERVER_H
#define MODEL_VFIO_USER_SERVER_H

#include "model/engine/base/event_core.h"
#include "model/sim/params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vfu_device;
struct vfu_server;

/* A descriptor that the server's epoll looks after. Embedded by its owner. */
struct vfu_source {
	int fd;
	void (*ready)(struct vfu_source *source, uint32_t events);
};

/* NULL with errno set. `core` and `params` outlive it. */
struct vfu_server *vfu_server_create(struct event_core *core, const struct sim_params *params);
/* Disconnects clients and removes the sockets' files. The devices stay the caller's. */
void vfu_server_destroy(struct vfu_server *server);

/*
 * Offers a device on a UNIX socket. A file left by a server that is gone is replaced; one that is
 * served is not. 0, or -errno with a line in err[].
 */
int vfu_server_offer(struct vfu_server *server, struct vfu_device *device, const char *path,
		     char *err, size_t err_size);
/* True while a client has the device. */
bool vfu_server_has_client(const struct vfu_server *server, const struct vfu_device *device);

/* events: of epoll. 0 or -errno. Removing is vfu_server_forget(), before the descriptor is closed.
 */
int vfu_server_watch(struct vfu_server *server, struct vfu_source *source, uint32_t events);
int vfu_server_rewatch(struct vfu_server *server, struct vfu_source *source, uint32_t events);
void vfu_server_forget(struct vfu_server *server, struct vfu_source *source);

/* CLOCK_MONOTONIC; and whether a slice (sim.pace_slice) has gone by since then. */
uint64_t vfu_server_wall_ns(void);
bool vfu_server_slice_is_over(const struct vfu_server *server, uint64_t since_ns);
/* Brings the core to the present, within a slice of wall time. */
void vfu_server_catch_up(struct vfu_server *server);
/* Simulates what is due, then waits for the next event or for a descriptor, at most max_wait_ns,
 * and serves what is ready. */
void vfu_server_turn(struct vfu_server *server, uint64_t max_wait_ns);

/* A listening UNIX socket at path, as vfu_server_offer() makes it. The descriptor or -errno with a
 * line in err[]. */
int vfu_listen(const char *path, char *err, size_t err_size);

#endif
