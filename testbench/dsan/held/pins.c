// SPDX-License-Identifier: Apache-2.0
/* See pins.h. */
#include "testbench/dsan/held/pins.h"

#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/checker_impl.h"

enum { PINS = 256 };

/* One process runs one simulation. */
static struct pin_of {
	unsigned thread, host;
	const void *object;
	const char *what;
	uint32_t number;
	const void *pc;
	bool back; /* given back, and the call goes on */
} pins[PINS];
static unsigned n_pins;
static bool full; /* some are not known */

void pin(unsigned host, const void *object, const char *what, uint32_t number, const void *pc)
{
	full |= n_pins == PINS;
	if (n_pins < PINS)
		pins[n_pins++] =
			(struct pin_of){ask_thread(), host, object, what, number, pc, false};
}

/* The newest one of the running thread; NULL: it has none. */
static struct pin_of *pin_of(const void *object)
{
	const unsigned thread = ask_thread();

	for (unsigned i = n_pins; i-- > 0;)
		if (pins[i].object == object && pins[i].thread == thread && !pins[i].back)
			return &pins[i];
	return NULL;
}

void pin_back(const void *object)
{
	struct pin_of *p = pin_of(object);

	if (p)
		*p = pins[--n_pins];
}

bool pin_back_in_call(const void *object, const void *pc)
{
	struct pin_of *p = pin_of(object);

	if (!p)
		return full;
	p->back = true;
	p->pc = pc;
	return true;
}

void pins_call_sleeps(void)
{
	const unsigned thread = ask_thread();

	for (unsigned i = n_pins; i-- > 0;) {
		const struct pin_of p = pins[i];
		struct checker *c = checker_of_host(p.host);

		if (p.thread != thread || !p.back)
			continue;
		pins[i] = pins[--n_pins];
		if (c)
			c->tell(c, &(struct breach){RULE_freed_in_use, {0}, p.pc, NULL},
				"%s %u is given back before its call has given its last command, "
				"so another thread may destroy it while the command runs",
				p.what, p.number);
	}
}

void pins_call_ends(void)
{
	const unsigned thread = ask_thread();

	for (unsigned i = n_pins; i-- > 0;) {
		struct checker *c = checker_of_host(pins[i].host);

		if (pins[i].thread != thread)
			continue;
		if (c && !pins[i].back)
			c->tell(c, &(struct breach){RULE_users_differ, {0}, pins[i].pc, NULL},
				"a call of user verbs has ended, and still holds %s %u, so nobody "
				"can use or destroy it",
				pins[i].what, pins[i].number);
		pins[i] = pins[--n_pins];
	}
}

bool pins_held(const void *object)
{
	for (unsigned i = 0; i < n_pins; i++)
		if (pins[i].object == object && !pins[i].back)
			return true;
	return false;
}
