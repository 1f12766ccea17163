/* SPDX-License-Identifier: Apache-2.0 */
/* See wire.h. */
#include "model/wire/wire.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { LINE_CHARS = 600 };

static const struct wire_kind *const kinds[] = {&wire_dgram, &wire_replay};

/* The value of [hca0.portN] wire: 0: a cable to the other device. */
static uint64_t wire_of(const struct config *config, unsigned port)
{
	const struct hca_params *p = &config->hca[0];

	return port > p->hca_ports ? 0 : port == 1 ? p->port1_wire : p->port2_wire;
}

bool wires_wanted(const struct config *config)
{
	return wire_of(config, 1) || wire_of(config, 2);
}

int wires_suit(struct config *config, FILE *err)
{
	struct hca_params *far = &config->hca[1];
	const uint64_t types[] = {config->hca[0].port1_type, config->hca[0].port2_type};

	if (!wires_wanted(config)) {
		if (!far->port1_wire && !far->port2_wire)
			return 0;
		fprintf(err, "hcasim: hca1.port%u.wire: only ports of hca0 have a wire\n",
			far->port1_wire ? 1 : 2);
		return -EINVAL;
	}
	for (unsigned port = 1; port <= ARRAY_SIZE(types); port++)
		if (wire_of(config, port) && types[port - 1] == CFG_PORT_IB) {
			fprintf(err,
				"hcasim: hca0.port%u.wire: an Ethernet port has a wire; set "
				"hca0.port%u.type=eth\n",
				port, port);
			return -EINVAL;
		}
	far->hca_personality = CFG_PERSONALITY_outside;
	far->hca_ports = config->hca[0].hca_ports;
	far->port1_type = far->port2_type = CFG_PORT_ETH;
	return 0;
}

void wire_say(const struct wire *wire, const char *format, ...)
{
	char line[LINE_CHARS];
	int n = snprintf(line, sizeof(line), "port %u: %s: ", wire->port, wire->kind->name);
	va_list args;

	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	va_end(args);
	wire->wires->env.say(wire->wires->env.arg, line);
}

static enum hca_outside_answer frame_came(void *ctx, unsigned port, const void *frame, size_t len)
{
	struct wires *wires = ctx;
	struct wire *wire = &wires->wire[port - 1];
	enum hca_outside_answer answer;

	answer = wire->kind ? wire->kind->frame(wire, frame, len) : OUTSIDE_LOST;
	wire->sent += answer == OUTSIDE_TOOK;
	wire->lost += answer == OUTSIDE_LOST;
	return answer;
}

/* The kind whose name the text begins with, which configuration has checked. */
static const struct wire_kind *kind_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(text, kinds[i]->name, strlen(kinds[i]->name)))
			return kinds[i];
	return NULL;
}

static int wire_open(struct wire *wire, const char *text, FILE *err)
{
	const struct wire_kind *kind = kind_of(text);
	int rc;

	if (kind->is_live && !wire->wires->env.server) {
		fprintf(err,
			"hcasim: hca0.port%u.wire: %s: is for hcasim serve, whose time follows a "
			"clock\n",
			wire->port, kind->name);
		return -EINVAL;
	}
	hca_link(wire->wires->env.near, wire->port, wire->wires->env.far, wire->port,
		 wire->wires->env.plan);
	wire->kind = kind;
	rc = kind->open(wire, text + strlen(kind->name) + 1, err);
	if (rc)
		wire->kind = NULL;
	return rc;
}

int wires_open(struct wires *wires, const struct wires_env *env, const struct config *config,
	       FILE *err)
{
	int rc = 0;

	*wires = (struct wires){.env = *env, .world = {.ctx = wires, .frame = frame_came}};
	for (unsigned port = 1; port <= ARRAY_SIZE(wires->wire) && !rc; port++) {
		struct wire *wire = &wires->wire[port - 1];

		wire->wires = wires;
		wire->port = port;
		if (wire_of(config, port))
			rc = wire_open(wire, cfg_text(wire_of(config, port)), err);
		if (wire->kind)
			wires->world.pause |= wire->kind->pause;
	}
	if (rc)
		wires_close(wires);
	else
		hca_outside_set(env->far, &wires->world);
	return rc;
}

void wires_close(struct wires *wires)
{
	for (size_t i = 0; i < ARRAY_SIZE(wires->wire); i++) {
		struct wire *wire = &wires->wire[i];

		if (!wire->kind)
			continue;
		wire_say(wire, "%" PRIu64 " frames out, %" PRIu64 " in, %" PRIu64 " found nobody",
			 wire->sent, wire->received, wire->lost);
		wire->kind->close(wire);
		wire->kind = NULL;
	}
}
