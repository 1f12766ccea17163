/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cables whose other end is outside of the simulation: the parameters [hca0.port1] and [hca0.port2]
 * wire. The second device then has the personality outside (model/engine/outside/), and its port n
 * is the other end of the cable of port n. wire.c makes the cables; a kind of wire is where frames
 * come from and go to: dgram.c (sockets), replay.c (a capture). README.md says what users need.
 */
#ifndef MODEL_WIRE_WIRE_H
#define MODEL_WIRE_WIRE_H

#include "model/engine/hca.h"

#include <stdio.h>

struct config;
struct vfu_server;
struct wire;
struct wires;

/* A wire is told of the frames that reach its port, and sends others. */
struct wire_kind {
	const char *name; /* as a value of the parameter begins */
	bool is_live;     /* it needs an event loop that follows the wall clock or a guest */
	bool pause;       /* as in struct hca_outside */
	/* `text` stands behind "name:". 0, or -errno after a line to err. */
	int (*open)(struct wire *wire, const char *text, FILE *err);
	enum hca_outside_answer (*frame)(struct wire *wire, const void *frame, size_t len);
	void (*close)(struct wire *wire);
};

extern const struct wire_kind wire_dgram, wire_replay;

struct wire {
	const struct wire_kind *kind; /* NULL: this port has none */
	struct wires *wires;
	unsigned port;
	void *state; /* of the kind */
	uint64_t sent, lost;
	uint64_t received; /* counted by the kind */
};

struct wires_env {
	struct hca *near, *far; /* hca0, and the device of personality outside */
	struct event_core *core;
	struct fault_plan *plan;
	struct vfu_server *server; /* NULL: no event loop */
	/* Takes a line for people, without a newline. */
	void (*say)(void *arg, const char *line);
	void *arg;
};

struct wires {
	struct wires_env env;
	struct hca_outside world;
	struct wire wire[2]; /* index: port - 1 */
};

/* Whether a port has a wire to the outside. */
bool wires_wanted(const struct config *config);
/* Makes the second device the outside where one is wanted. 0, or -EINVAL after a line to err. */
int wires_suit(struct config *config, FILE *err);
/* Connects the devices. 0, or -errno after a line to err. Undone by wires_close(). */
int wires_open(struct wires *wires, const struct wires_env *env, const struct config *config,
	       FILE *err);
/* Each wire says what it has to say of the run. Call it before the devices are destroyed. */
void wires_close(struct wires *wires);

/* For the kinds: a line about this wire. */
__attribute__((format(printf, 2, 3))) void wire_say(const struct wire *wire, const char *format,
						    ...);

#endif
