/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay:FILE or replay:FILE@TIME: the frames that came to this port in the capture FILE (the
 * packets.pcapng of a run, or its folder) come to it again, each at its recorded time; with @TIME
 * the first one at TIME, and the others as long after it as in the capture. The peer of the capture
 * is not there, so nothing answers what the port sends now. Each frame that it sends is compared
 * with the one that the peer got: as long as they are equal, the run repeats the recorded one.
 *
 * A capture also has the copies of its own frames that a port gives to its own host: multicast, and
 * frames to its own MAC. Such a frame is known by an equal one that the same port has sent within
 * OWN_WITHIN_PS; the port makes that copy again by itself.
 */
#include "model/engine/base/event_core.h"
#include "model/interface/ethernet.h"
#include "model/interface/macros.h"
#include "model/sim/units.h"
#include "model/wire/wire.h"
#include "traces/pcapng_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_CHARS = 32, PATH_CHARS = 4096 };
#define OWN_WITHIN_PS CFG_MS(1)

struct recorded {
	uint64_t at_ps;
	uint32_t len; /* without FCS */
	bool own;     /* a copy of what the port has sent; or a sent frame that has its copy */
	uint8_t *bytes;
};

struct recording {
	struct recorded *frames;
	size_t count, room;
};

struct replay {
	struct event next;
	struct wire *wire;
	struct recording in;   /* what came to the port */
	struct recording out;  /* what came from it to its peer */
	size_t came, compared; /* so many of each are done */
	bool differs;
};

/* --- reading the capture --- */

static int recording_add(struct recording *r, const struct pcapng_packet *pkt)
{
	const uint32_t len = pkt->len - pkt->fcs;
	struct recorded *grown = r->frames;

	if (r->count == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		grown = realloc(r->frames, r->room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->frames = grown;
	}
	grown[r->count] = (struct recorded){pkt->time_ps, len, false, malloc(len)};
	if (!grown[r->count].bytes)
		return -ENOMEM;
	memcpy(grown[r->count++].bytes, pkt->bytes, len);
	return 0;
}

static void recording_free(struct recording *r)
{
	while (r->count)
		free(r->frames[--r->count].bytes);
	free(r->frames);
	*r = (struct recording){0};
}

static int by_time(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	return (x->at_ps > y->at_ps) - (x->at_ps < y->at_ps);
}

static bool is_copy(const struct recorded *in, const struct recorded *sent)
{
	return !sent->own && sent->len == in->len && !memcmp(sent->bytes, in->bytes, in->len);
}

/* Marks each frame of `in` that the port itself has sent. */
static void own_find(struct recording *in, struct recording *sent)
{
	size_t first = 0;

	for (size_t i = 0; i < in->count; i++) {
		const uint64_t at = in->frames[i].at_ps;

		while (first < sent->count && sent->frames[first].at_ps + OWN_WITHIN_PS < at)
			first++;
		for (size_t k = first;
		     k < sent->count && sent->frames[k].at_ps < at + OWN_WITHIN_PS; k++)
			if (is_copy(&in->frames[i], &sent->frames[k])) {
				in->frames[i].own = sent->frames[k].own = true;
				break;
			}
	}
}

/* Leaves only what came from the other end of the cable, in the order of time. */
static void own_leave_out(struct recording *in, struct recording *sent)
{
	size_t kept = 0;

	if (in->count)
		qsort(in->frames, in->count, sizeof(*in->frames), by_time);
	if (sent->count)
		qsort(sent->frames, sent->count, sizeof(*sent->frames), by_time);
	own_find(in, sent);
	for (size_t i = 0; i < in->count; i++)
		if (in->frames[i].own)
			free(in->frames[i].bytes);
		else
			in->frames[kept++] = in->frames[i];
	in->count = kept;
}

/* The two ends of a cable in a capture: [0] is the port of hca0, [1] that of hca1. */
struct ends {
	char name[2][NAME_CHARS];
	struct recording in[2], out[2];
};

static int packet_take(struct ends *ends, const struct pcapng_packet *pkt, const char *path,
		       FILE *err)
{
	const unsigned end = strcmp(pkt->name, ends->name[0]) != 0;
	int rc;

	if (!pkt->ethernet || !pkt->fcs || strcmp(pkt->name, ends->name[end]))
		return 0;
	if (pkt->len < pkt->wire_len || pkt->len <= pkt->fcs) {
		fprintf(err,
			"hcasim: %s: a frame at %" PRIu64
			" ps is cut; record whole frames (sim.pcapng.snaplen)\n",
			path, pkt->time_ps);
		return -EINVAL;
	}
	rc = recording_add((pkt->flags & PCAPNG_OUTBOUND) == PCAPNG_OUTBOUND ? &ends->out[end]
									     : &ends->in[end],
			   pkt);
	if (rc)
		fprintf(err, "hcasim: %s: %s\n", path, strerror(-rc));
	return rc;
}

static int capture_read(struct ends *ends, const char *path, FILE *err)
{
	struct pcapng_reader *reader;
	struct pcapng_packet pkt;
	int rc = pcapng_reader_open(&reader, path, err);

	if (rc)
		return rc;
	while ((rc = pcapng_reader_next(reader, &pkt, err)) > 0) {
		rc = packet_take(ends, &pkt, path, err);
		if (rc)
			break;
	}
	pcapng_reader_close(reader);
	return rc;
}

/* --- time --- */

/* A frame leaves the far port so that it arrives when it did. */
static void next_set(struct replay *r)
{
	const struct wires_env *env = &r->wire->wires->env;
	const uint64_t ahead = env->core->now_ps + hca_outside_flight_ps(env->far, r->wire->port);
	const struct recorded *frame = &r->in.frames[r->came];

	if (r->came < r->in.count)
		event_set(env->core, &r->next,
			  env->core->now_ps + (frame->at_ps > ahead ? frame->at_ps - ahead : 0));
}

static void come(struct event *ev)
{
	struct replay *r = container_of(ev, struct replay, next);
	const struct recorded *frame = &r->in.frames[r->came++];
	struct wire *wire = r->wire;

	wire->received++;
	hca_outside_put(wire->wires->env.far, wire->port, frame->bytes, frame->len);
	next_set(r);
}

static enum hca_outside_answer replay_frame(struct wire *wire, const void *bytes, size_t len)
{
	struct replay *r = wire->state;
	const struct recorded *was =
		r->compared < r->out.count ? &r->out.frames[r->compared] : NULL;

	if (r->differs)
		return OUTSIDE_TOOK;
	r->differs = !was || was->len != len || memcmp(was->bytes, bytes, len);
	if (!r->differs)
		r->compared++;
	else if (was)
		wire_say(wire,
			 "frame %zu from this port is another one than at %" PRIu64 ".%06" PRIu64
			 " us of the capture",
			 r->compared + 1, was->at_ps / 1000000, was->at_ps % 1000000);
	else
		wire_say(wire, "this port has sent all %zu frames of the capture, and sends more",
			 r->out.count);
	return OUTSIDE_TOOK;
}

/* --- life --- */

static void replay_close(struct wire *wire)
{
	struct replay *r = wire->state;

	wire_say(wire, "%zu of %zu recorded frames came, %zu of %zu answers were as recorded",
		 r->came, r->in.count, r->compared, r->out.count);
	event_cancel(wire->wires->env.core, &r->next);
	recording_free(&r->in);
	recording_free(&r->out);
	free(r);
}

/* Splits FILE@TIME, and puts the name of the capture for that of its folder. */
static void path_of(const char *text, char path[PATH_CHARS], uint64_t *at_ps)
{
	const char *at = strrchr(text, '@');
	struct stat st;
	int n;

	*at_ps = EVENT_NEVER;
	if (at && cfg_value_parse(CFG_TIMEOUT, at + 1, at_ps))
		at = NULL; /* it is a part of the name */
	n = snprintf(path, PATH_CHARS, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		snprintf(path + n, (size_t)(PATH_CHARS - n), "/packets.pcapng");
}

static void move_to(struct recording *in, uint64_t at_ps)
{
	const uint64_t first = in->count ? in->frames[0].at_ps : 0;

	for (size_t i = 0; i < in->count && at_ps != EVENT_NEVER; i++)
		in->frames[i].at_ps += at_ps - first;
}

static int replay_open(struct wire *wire, const char *text, FILE *err)
{
	struct replay *r = calloc(1, sizeof(*r));
	struct ends ends = {0};
	char path[PATH_CHARS];
	uint64_t at_ps;
	int rc;

	if (!r)
		return -ENOMEM;
	r->wire = wire;
	for (unsigned i = 0; i < 2; i++)
		snprintf(ends.name[i], NAME_CHARS, "hca%u.port%u", i, wire->port);
	path_of(text, path, &at_ps);
	rc = capture_read(&ends, path, err);
	for (unsigned i = 0; i < 2; i++) {
		own_leave_out(&ends.in[i], &ends.out[i]);
		recording_free(&ends.out[i]);
	}
	r->in = ends.in[0];
	r->out = ends.in[1];
	move_to(&r->in, at_ps);
	if (!rc && !r->in.count) {
		fprintf(err, "hcasim: %s: no frame came to %s in it\n", path, ends.name[0]);
		rc = -EINVAL;
	}
	if (rc) {
		recording_free(&r->in);
		recording_free(&r->out);
		free(r);
		return rc;
	}
	wire->state = r;
	r->next.job = come;
	next_set(r);
	return 0;
}

const struct wire_kind wire_replay = {
	.name = "replay",
	.open = replay_open,
	.frame = replay_frame,
	.close = replay_close,
};
