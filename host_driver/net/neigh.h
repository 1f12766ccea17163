/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours: which MAC an IP address has. Pure state: it touches no device and reads no clock, so that
 * tests can drive it; net.c sends what it asks for.
 *
 * Addresses are GIDs: an IPv4 address is ::ffff:a.b.c.d. An address belongs to a VLAN, or to none. The
 * states and times are those of Linux (net/core/neighbour.c and its defaults for ARP and IPv6), as
 * RFC 4861, 7.3 has them.
 */
#ifndef HOST_DRIVER_NET_NEIGH_H
#define HOST_DRIVER_NET_NEIGH_H

#include "model/interface/ethernet.h"

enum { NEIGH_MAX = 64, NEIGH_IP_BYTES = 16 };

/* S(NAME, "what it waits for", "who moves it on") */
#define NEIGH_STATES(S)                                                                            \
	S(NONE, "nothing: the entry is not in use", "a lookup, or a question to this host")        \
	S(INCOMPLETE, "the first answer", "an answer, or the end of all tries")                    \
	S(REACHABLE, "the end of its time", "the time, or an answer with another MAC")             \
	S(STALE, "somebody who sends to it", "a lookup")                                           \
	S(DELAY, "an answer to somebody else's question", "the time, or an answer")                \
	S(PROBE, "an answer to a question to its MAC alone", "an answer, or the end of all tries") \
	S(FAILED, "nothing: it did not answer", "a lookup")

enum neigh_state {
#define S(name, waits, mover) NEIGH_##name,
	NEIGH_STATES(S)
#undef S
};

struct neigh_address {
	uint8_t ip[NEIGH_IP_BYTES];
	uint16_t vlan; /* or VLAN_NONE */
};

struct neigh {
	enum neigh_state state;
	struct neigh_address address;
	uint8_t mac[MAC_BYTES];
	uint64_t due_ps; /* when the state ends by itself; UINT64_MAX: never */
	unsigned tries;  /* questions asked in this state */
	uint64_t used_ps;
};

struct neigh_table {
	struct neigh entries[NEIGH_MAX];
	/* Asks who has this address: everybody, or with a MAC that neighbour alone. */
	void (*ask)(void *arg, const struct neigh_address *address, const uint8_t *mac);
	/* A state has changed that somebody may wait for. */
	void (*changed)(void *arg);
	void *arg;
};

/* What a packet tells about its sender. */
enum neigh_news {
	NEIGH_ASKS_US, /* it asks for an address of this host, so it will soon be sent to */
	NEIGH_ANSWERS, /* it answers a question */
	NEIGH_TELLS,   /* it says so unasked */
};

/* 0 with *mac; -EAGAIN: a question is under way, wait for changed(); -ENOBUFS: the table is full of
 * addresses that are waited for. */
int neigh_lookup(struct neigh_table *t, const struct neigh_address *address, uint64_t now_ps,
		 uint8_t mac[MAC_BYTES]);
/* A packet says that the address has this MAC, which replaces the one that is known. Of an address that
 * is not in the table only NEIGH_ASKS_US is kept. */
void neigh_heard(struct neigh_table *t, const struct neigh_address *address,
		 const uint8_t mac[MAC_BYTES], enum neigh_news news, uint64_t now_ps);
/* Moves on all whose time has come. Returns when to call it again; UINT64_MAX: no state waits. */
uint64_t neigh_timers(struct neigh_table *t, uint64_t now_ps);
/* The entry, or NULL. */
const struct neigh *neigh_find(const struct neigh_table *t, const struct neigh_address *address);
const char *neigh_state_name(enum neigh_state state);

#endif
