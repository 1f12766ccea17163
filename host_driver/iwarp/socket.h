/* SPDX-License-Identifier: Apache-2.0 */
/* TCP of this machine as a stream (stream.h): non-blocking sockets, served by socket_net_serve(). */
#ifndef HOST_DRIVER_IWARP_SOCKET_H
#define HOST_DRIVER_IWARP_SOCKET_H

#include "host_driver/iwarp/stream.h"

struct socket_net {
	struct iw_net net; /* first */
	struct iw_stream *streams;
	struct iw_listener *listeners;
	struct iw_timer *timers;
};

void socket_net_begin(struct socket_net *net);
/* Closes what is open. Who still uses a stream hears that it has failed. */
void socket_net_end(struct socket_net *net);
/* Waits until something has happened, a timer is due, or `ms` milliseconds are over (-1: for ever),
 * and tells the users. False: there is no stream, listener or timer. */
bool socket_net_serve(struct socket_net *net, int ms);
/* The port of the newest listener, which the system has picked if it was told port 0. 0: there is
 * none. */
uint16_t socket_net_port(const struct socket_net *net);

#endif
