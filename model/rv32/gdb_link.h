/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the remote stub: gdb_link.c carries packets, gdb.c answers them. */
#ifndef MODEL_RV32_GDB_LINK_H
#define MODEL_RV32_GDB_LINK_H

#include "model/rv32/rv32.h"

enum { RV_GDB_PACKET_MAX = 4096 };

struct rv_gdb {
	struct rv_core *core;
	int listener;
	int fd; /* -1: no debugger */
	uint16_t port;
	bool arrived;     /* connected, but rv_gdb_serve() has not run yet */
	bool running;     /* the debugger resumed the core and waits for it to stop */
	bool interrupted; /* the debugger sent ctrl-C */
	bool no_ack;
	int signal; /* of the last stop */
	uint8_t in[1024];
	size_t in_at;
	size_t in_count;
	char packet[RV_GDB_PACKET_MAX + 1];
	char reply[RV_GDB_PACKET_MAX + 1];
};

/* The functions that return bool are false when the connection ended. */
bool rv_gdb_packet_read(struct rv_gdb *gdb);
bool rv_gdb_packet_send(struct rv_gdb *gdb, const char *text);
void rv_gdb_disconnect(struct rv_gdb *gdb);
int rv_hex_digit(int c); /* -1: none */

#endif
