// SPDX-License-Identifier: Apache-2.0
/* See guest_clock.h. */
#include "model/vfio_user/guest_clock.h"

#include "model/engine/base/event_core.h"
#include "model/sim/params/sim.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/guest_link.h"
#include "model/vfio_user/protocol.h"
#include "model/vfio_user/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PS_PER_NS = 1000, TROUBLE_CHARS = 160 };
/* A read takes a microsecond. After a second the device has lost it. */
#define READ_LIMIT_PS UINT64_C(1000000000000)

struct guest {
	struct guest_link link; /* first: cast back */
	struct guest_clock *clock;
	uint32_t answered; /* questions */
	uint64_t asked_ns; /* when it asked the last one */
	uint32_t repeats;  /* how many before that at the same time */
	uint64_t time_ns;  /* and when it goes on */
	bool reads;        /* its last question is a read that is under way */
	bool admitted;     /* its link is open */
	bool ended;
	uint8_t note[GUEST_NOTE_BYTES]; /* to the other guest */
	uint64_t ticks, accesses, told;
	/* where it was when it asked the last question */
	uint64_t pc;
	struct guest_calls calls;
	bool is_heard; /* it waits at an access to memory */
	unsigned irqs;
	struct guest_irq irq[GUEST_IRQS_MAX]; /* what rose and has not been told */
};

/* A device, and the guest that has it. */
struct guest_device {
	struct vfu_device *device;
	struct guest *guest;
};

struct guest_clock {
	struct vfu_server *server;
	struct event_core *core;
	uint64_t quantum_min_ns, quantum_max_ns;
	uint64_t window_end_ns, window_ns; /* the guests' common window, and how long it was */
	uint64_t executed;                 /* events of the core when it began */
	bool accessed;                     /* a guest has accessed a device since then */
	bool went_on;                      /* a guest has been answered */
	bool hold;                         /* the next answer holds its guest */
	struct guest *held;                /* the guest that stands still, or NULL */
	unsigned count;
	struct guest guests[GUEST_CLOCKS_MAX];
	struct guest_device devices[GUEST_CLOCKS_MAX];
	unsigned device_count;
	struct guest_clock_watcher watcher;
	uint64_t began_ns; /* wall time of the first question */
	char trouble[TROUBLE_CHARS];
};

static uint64_t ns_from_ps(uint64_t ps)
{
	return ps / PS_PER_NS + (ps % PS_PER_NS != 0);
}

static unsigned guest_number(const struct guest *guest)
{
	return (unsigned)(guest - guest->clock->guests);
}

static void guest_lose(struct guest *guest, const char *why)
{
	struct guest_clock *clock = guest->clock;

	if (!guest->ended && !*clock->trouble)
		snprintf(clock->trouble, sizeof(clock->trouble), "guest %u at %.6f us: %s",
			 guest_number(guest), (double)clock->core->now_ps / 1e6, why);
	guest_link_close(&guest->link);
	guest->ended = true;
	if (clock->held == guest)
		clock->held = NULL;
}

static void link_ended(struct guest_link *link, const char *why)
{
	guest_lose((struct guest *)(void *)link, why);
}

/* --- the order of questions --- */

static bool has_asked(const struct guest *guest)
{
	return guest_link_questions(&guest->link) != guest->answered;
}

/*
 * The place of a question in the order: by time, then by how many questions its guest had asked at
 * that very time, then by the number of the guest. It does not depend on which guest's question
 * came first in wall time.
 */
struct place {
	uint64_t time_ns;
	uint32_t repeats;
	const struct guest *guest;
	bool asked; /* false: the guest runs, and this is the first place that its question can have */
};

/* The place of a question that the guest asks at this time. */
static struct place place_at(const struct guest *guest, uint64_t time_ns)
{
	return (struct place){.time_ns = time_ns,
			      .repeats = time_ns == guest->asked_ns ? guest->repeats + 1 : 0,
			      .guest = guest};
}

static bool is_before(const struct place *a, const struct place *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->repeats != b->repeats)
		return a->repeats < b->repeats;
	return a->guest < b->guest;
}

/* A guest that runs asks at the time of its last question at the earliest. One that has yet to come
 * asks after all that the others ask before their time begins. */
static struct place place_of(const struct guest *guest)
{
	/* looked at once, because the guest may ask at any moment */
	const bool asked = has_asked(guest);
	struct place place;

	if (!guest->link.page)
		return (struct place){.repeats = UINT32_MAX, .guest = guest};
	place = place_at(guest, asked ? guest->link.page->question.time_ns : guest->asked_ns);
	place.asked = asked;
	return place;
}

/*
 * The guest whose question is the first in the order; NULL if a guest that runs may still ask
 * something before it, or if there is none. Guests whose read is under way ask nothing.
 */
static struct guest *next_to_serve(struct guest_clock *clock)
{
	struct guest *first = NULL;
	struct place first_place;

	for (struct guest *g = clock->guests; g < clock->guests + clock->count; g++) {
		struct place place = place_of(g);

		if (g->ended || g->reads || (first && is_before(&first_place, &place)))
			continue;
		first = g;
		first_place = place;
	}
	return first && first_place.asked ? first : NULL;
}

/* All guests wait for the answer to a read. */
static bool all_read(const struct guest_clock *clock)
{
	bool any = false;

	for (const struct guest *g = clock->guests; g < clock->guests + clock->count; g++) {
		if (!g->ended && !g->reads)
			return false;
		any = any || g->reads;
	}
	return any;
}

/* --- how far a guest may go --- */

static uint64_t within(uint64_t low, uint64_t value, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static unsigned guests_left(const struct guest_clock *clock)
{
	unsigned n = 0;

	for (unsigned i = 0; i < clock->count; i++)
		n += !clock->guests[i].ended;
	return n;
}

/*
 * All guests have reached the end of the window: opens the next one. A single guest needs no short
 * windows, because its own limit is the next event. For two guests the windows are short as soon as
 * one accesses a device or an event runs, and each quiet window is twice as long as the last one.
 */
static void window_open(struct guest_clock *clock, uint64_t time_ns)
{
	const bool quiet = !clock->accessed && clock->executed == clock->core->executed;

	clock->window_ns =
		guests_left(clock) == 1 ? clock->quantum_max_ns
		: quiet ? within(clock->quantum_min_ns, 2 * clock->window_ns, clock->quantum_max_ns)
			: clock->quantum_min_ns;
	clock->window_end_ns = time_ns + clock->window_ns;
	clock->accessed = false;
	clock->executed = clock->core->executed;
}

static uint64_t limit_ns(struct guest_clock *clock, uint64_t time_ns)
{
	const uint64_t next_ps = event_core_next_ps(clock->core);

	if (time_ns >= clock->window_end_ns)
		window_open(clock, time_ns);
	if (next_ps == EVENT_NEVER)
		return clock->window_end_ns;
	return within(time_ns + clock->quantum_min_ns, ns_from_ps(next_ps), clock->window_end_ns);
}

/* --- answers --- */

static struct vfu_device *device_of(const struct guest *guest, uint32_t number)
{
	const struct guest_clock *clock = guest->clock;

	for (unsigned i = 0; i < clock->device_count; i++)
		if (clock->devices[i].guest == guest && clock->devices[i].device->index == number)
			return clock->devices[i].device;
	return NULL;
}

static void irqs_tell(struct guest *guest)
{
	const struct guest_clock *clock = guest->clock;

	memcpy(guest->link.page->answer.irq, guest->irq, guest->irqs * sizeof(*guest->irq));
	guest->link.page->answer.irqs = guest->irqs;
	guest->irqs = 0;
	guest->link.page->answer.intx = 0;
	for (const struct guest_device *d = clock->devices;
	     d < clock->devices + clock->device_count; d++)
		if (d->guest == guest && irqs_intx_is_up(&d->device->irqs))
			guest->link.page->answer.intx |= UINT32_C(1) << d->device->index;
}

/* The guest goes on. */
static void answer(struct guest *guest, int status)
{
	struct guest_page *page = guest->link.page;

	page->answer.status = status;
	page->answer.time_ns = guest->time_ns;
	page->answer.next_ns = limit_ns(guest->clock, guest->time_ns);
	page->answer.held = guest->clock->hold && !guest->ended;
	irqs_tell(guest);
	if (page->answer.held) {
		guest->clock->hold = false;
		guest->clock->held = guest;
	}
	guest->clock->went_on = true;
	guest_link_answer(&guest->link, ++guest->answered);
}

/* The access is to the note. */
static bool note_access(struct guest *guest, uint32_t region, uint64_t offset, uint32_t count,
			bool is_read)
{
	struct guest_clock *clock = guest->clock;
	const uint64_t end = vfu_region_size(clock->devices[0].device, VFU_REGION_CONFIG);
	const uint64_t begin = end - GUEST_NOTE_BYTES;
	uint8_t *data = guest->link.page->data;

	if (region != VFU_REGION_CONFIG || offset < begin || offset > end || count > end - offset)
		return false;
	if (!is_read)
		memcpy(guest->note + (offset - begin), data, count);
	else if (clock->count == GUEST_CLOCKS_MAX)
		memcpy(data, clock->guests[!guest_number(guest)].note + (offset - begin), count);
	else
		memset(data, 0, count);
	return true;
}

static void read_done(void *arg)
{
	struct guest *guest = arg;
	const uint64_t now_ns = ns_from_ps(guest->clock->core->now_ps);

	guest->reads = false;
	if (!guest->link.page)
		return;
	if (guest->time_ns < now_ns)
		guest->time_ns = now_ns;
	answer(guest, 0);
}

static void access_begin(struct guest *guest, bool is_read)
{
	struct guest_page *page = guest->link.page;
	const uint32_t region = page->question.region, count = page->question.count;
	const uint64_t offset = page->question.offset;
	struct vfu_device *device = device_of(guest, page->question.device);
	int rc;

	if (!device || count > sizeof(page->data)) {
		answer(guest, -EINVAL);
		return;
	}
	guest->clock->accessed = true;
	if (note_access(guest, region, offset, count, is_read)) {
		answer(guest, 0);
		return;
	}
	if (!is_read && guest->clock->watcher.write)
		guest->clock->watcher.write(guest->clock->watcher.arg, device, region, offset,
					    page->data, count, &page->question.code, page->machine);
	device->pc = region == VFU_REGION_CONFIG ? 0 : page->question.code.pc;
	guest->reads = is_read;
	if (is_read)
		rc = vfu_device_read_timed(device, region, offset, page->data, count, read_done,
					   guest);
	else
		rc = vfu_device_write_timed(device, region, offset, page->data, count);
	if (is_read && !rc)
		return;
	guest->reads = false;
	answer(guest, rc);
}

static void question_begin(struct guest *guest, uint64_t time_ns)
{
	const uint32_t kind = guest->link.page->question.kind;

	guest->clock->held = NULL;
	if (!guest->clock->began_ns)
		guest->clock->began_ns = vfu_server_wall_ns();
	guest->repeats = place_at(guest, time_ns).repeats;
	guest->asked_ns = guest->time_ns = time_ns;
	guest->pc = guest->link.page->question.code.pc;
	guest->calls = guest->link.page->calls;
	guest->ticks += kind == GUEST_TICK;
	if (kind == GUEST_READ || kind == GUEST_WRITE) {
		guest->accesses++;
		access_begin(guest, kind == GUEST_READ);
		return;
	}
	guest->ended = kind == GUEST_END;
	answer(guest, 0);
}

/*
 * Runs the core up to the next question. Returns false if a guest went on before that, because its
 * read was done: it may ask something earlier.
 */
static bool core_reaches(struct guest_clock *clock, uint64_t until_ps)
{
	struct event_core *core = clock->core;

	clock->went_on = false;
	while (!clock->went_on && event_core_peek(core) && event_core_next_ps(core) <= until_ps)
		event_core_step(core);
	if (!clock->went_on)
		event_core_run_until(core, until_ps);
	return !clock->went_on;
}

static void reads_lose(struct guest_clock *clock)
{
	for (struct guest *g = clock->guests; g < clock->guests + clock->count; g++)
		if (g->reads)
			guest_lose(g, "the device did not answer a read");
}

static void question_serve(struct guest *guest)
{
	const uint64_t time_ns = guest->link.page->question.time_ns;

	if (time_ns < guest->asked_ns || time_ns > EVENT_NEVER / PS_PER_NS)
		guest_lose(guest, "its clock went back");
	else if (core_reaches(guest->clock, time_ns * PS_PER_NS))
		question_begin(guest, time_ns);
}

/*
 * While a guest's machine is made, QEMU also sends messages that are no questions, such as a reset
 * of the device. So that the messages of two guests do not mix, each guest is let in when the time
 * of those before it has begun; its QEMU waits for that before it makes its machine.
 */
static void guests_admit(struct guest_clock *clock)
{
	for (struct guest *g = clock->guests; g < clock->guests + clock->count; g++) {
		if (!g->admitted)
			g->admitted = !guest_link_admit(&g->link);
		if (!g->ended && (!g->link.page || !place_of(g).time_ns))
			return;
	}
}

/* --- accesses to memory --- */

static void access_hear(struct guest *guest)
{
	const struct guest_clock *clock = guest->clock;
	const struct guest_page *page = guest->link.page;
	const struct guest_access access = {.address = page->access.address,
					    .bytes = page->access.count,
					    .store = page->access.store};

	guest->is_heard = true;
	for (const struct guest_device *d = clock->devices;
	     d < clock->devices + clock->device_count && clock->watcher.access; d++)
		if (d->guest == guest && page->access.devices >> d->device->index & 1)
			clock->watcher.access(clock->watcher.arg, d->device, &access,
					      &page->access.code, page->machine);
	guest->is_heard = false;
	guest->told++;
	guest_link_heard(&guest->link);
}

/* They take no time and have no place in the order of questions: memory is as the guest sees it. */
static bool accesses_hear(struct guest_clock *clock)
{
	bool any = false;

	for (struct guest *g = clock->guests; g < clock->guests + clock->count; g++) {
		if (!guest_link_tells(&g->link))
			continue;
		access_hear(g);
		any = true;
	}
	return any;
}

static bool any_tells(const struct guest_clock *clock)
{
	for (const struct guest *g = clock->guests; g < clock->guests + clock->count; g++)
		if (guest_link_tells(&g->link))
			return true;
	return false;
}

void guest_clock_watch(struct guest_clock *clock, const struct guest_clock_watcher *watcher)
{
	clock->watcher = *watcher;
}

void guest_clock_watch_page(struct guest_clock *clock, const struct vfu_device *device,
			    uint64_t page, bool watched)
{
	for (struct guest_device *d = clock->devices; d < clock->devices + clock->device_count; d++)
		if (d->device == device)
			guest_link_watch(&d->guest->link, device->index, page, watched);
}

/* --- where its drivers are --- */

static const struct guest *guest_of(const struct guest_clock *clock,
				    const struct vfu_device *device)
{
	for (const struct guest_device *d = clock->devices;
	     d < clock->devices + clock->device_count; d++)
		if (d->device == device)
			return d->guest;
	return NULL;
}

/* Returns how long the text is then. */
static size_t code_write(char *text, size_t used, const char *before, uint64_t address)
{
	return used + (size_t)snprintf(text + used, GUEST_CALLS_TEXT - used, "%scode 0x%" PRIx64,
				       before, address);
}

void guest_clock_calls(const struct guest_clock *clock, const struct vfu_device *device,
		       char text[static GUEST_CALLS_TEXT])
{
	const struct guest *guest = guest_of(clock, device);
	const struct guest_calls *calls;
	const char *before;
	uint64_t pc;
	size_t used = 0;

	*text = '\0';
	if (!guest)
		return;
	calls = guest->is_heard ? &guest->link.page->calls : &guest->calls;
	pc = guest->is_heard ? guest->link.page->access.code.pc : guest->pc;
	if (pc >> 63) /* of the kernel, and not of a program */
		used = code_write(text, used, "", pc);
	/* the call's last byte, because what lies behind it may be another function */
	for (unsigned i = 0; i < GUEST_CALLS_OPEN && calls->open[i]; i++)
		used = code_write(text, used, used ? ", " : "", calls->open[i] - 1);
	before = used ? "; returned: " : "returned: ";
	for (unsigned i = 0; i < GUEST_CALLS_RETURNED && calls->returned[i]; i++)
		used = code_write(text, used, i ? ", " : before, calls->returned[i] - 1);
}

bool guest_clock_serve(struct guest_clock *clock)
{
	const uint64_t start_ns = vfu_server_wall_ns();
	bool any = false;

	guests_admit(clock);
	do {
		const bool heard = accesses_hear(clock);
		struct guest *guest = next_to_serve(clock);

		if (heard)
			;
		else if (guest)
			question_serve(guest);
		else if (!all_read(clock))
			return any;
		else if (core_reaches(clock, clock->core->now_ps + READ_LIMIT_PS))
			reads_lose(clock);
		any = true;
	} while (!vfu_server_slice_is_over(clock->server, start_ns));
	return any;
}

bool guest_clock_doze(struct guest_clock *clock)
{
	for (unsigned i = 0; i < clock->count; i++)
		guest_link_sleeps(&clock->guests[i].link, true);
	return !next_to_serve(clock) && !all_read(clock) && !any_tells(clock);
}

void guest_clock_wake(struct guest_clock *clock)
{
	for (unsigned i = 0; i < clock->count; i++)
		guest_link_sleeps(&clock->guests[i].link, false);
}

/* A vector that has not been told yet is told once. */
static void vector_rise(void *arg, unsigned vector)
{
	const struct guest_device *d = arg;
	const struct guest_irq irq = {d->device->index, vector};
	struct guest *guest = d->guest;

	for (unsigned i = 0; i < guest->irqs; i++)
		if (!memcmp(&guest->irq[i], &irq, sizeof(irq)))
			return;
	guest->irq[guest->irqs++] = irq;
}

/* --- holding it --- */

void guest_clock_hold(struct guest_clock *clock)
{
	clock->hold = true;
}

bool guest_clock_is_held(const struct guest_clock *clock)
{
	return clock->held;
}

bool guest_clock_go(struct guest_clock *clock)
{
	if (!clock->held)
		return false;
	guest_link_go(&clock->held->link);
	clock->held = NULL;
	return true;
}

/* --- making it --- */

struct guest_clock *guest_clock_create(struct vfu_server *server, struct event_core *core,
				       const struct sim_params *params)
{
	struct guest_clock *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return NULL;
	clock->server = server;
	clock->core = core;
	clock->quantum_min_ns = ns_from_ps(sim_param_sim_guest_quantum_min(params));
	clock->quantum_max_ns = ns_from_ps(sim_param_sim_guest_quantum_max(params));
	return clock;
}

void guest_clock_destroy(struct guest_clock *clock)
{
	if (!clock)
		return;
	for (unsigned i = 0; i < clock->count; i++)
		guest_link_destroy(&clock->guests[i].link);
	free(clock);
}

int guest_clock_listen(struct guest_clock *clock, const char *path, char *err, size_t err_size)
{
	struct guest *guest = &clock->guests[clock->count];
	int rc = guest_link_listen(&guest->link, clock->server, path, link_ended, err, err_size);

	if (rc)
		return rc;
	guest->clock = clock;
	clock->count++;
	return 0;
}

void guest_clock_attach(struct guest_clock *clock, unsigned guest, struct vfu_device *device)
{
	struct guest_device *d = &clock->devices[clock->device_count++];

	*d = (struct guest_device){device, &clock->guests[guest]};
	irqs_vectors_to(&device->irqs, vector_rise, d);
}

void guest_clock_report(const struct guest_clock *clock, FILE *out)
{
	const double simulated = (double)clock->core->now_ps / 1e12;
	const double wall =
		clock->began_ns ? (double)(vfu_server_wall_ns() - clock->began_ns) / 1e9 : 0;

	fprintf(out, "guests: %.6f s of simulated time in %.1f s of wall time", simulated, wall);
	for (const struct guest *g = clock->guests; g < clock->guests + clock->count; g++)
		fprintf(out, "; guest %u: %" PRIu64 " ticks, %" PRIu64 " accesses", guest_number(g),
			g->ticks, g->accesses);
	fputc('\n', out);
}

bool guest_clock_is_over(const struct guest_clock *clock)
{
	return *clock->trouble || !guests_left(clock);
}

const char *guest_clock_trouble(const struct guest_clock *clock)
{
	return *clock->trouble ? clock->trouble : NULL;
}
