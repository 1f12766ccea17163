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
} pins[PINS];
static unsigned n_pins;

void pin(unsigned host, const void *object, const char *what, uint32_t number, const void *pc)
{
	if (n_pins < PINS)
		pins[n_pins++] = (struct pin_of){ask_thread(), host, object, what, number, pc};
}

void pin_back(const void *object)
{
	const unsigned thread = ask_thread();

	for (unsigned i = n_pins; i-- > 0;) {
		if (pins[i].object != object || pins[i].thread != thread)
			continue;
		pins[i] = pins[--n_pins];
		return;
	}
}

void pins_call_ends(void)
{
	const unsigned thread = ask_thread();

	for (unsigned i = n_pins; i-- > 0;) {
		struct checker *c = checker_of_host(pins[i].host);

		if (pins[i].thread != thread)
			continue;
		if (c)
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
		if (pins[i].object == object)
			return true;
	return false;
}
