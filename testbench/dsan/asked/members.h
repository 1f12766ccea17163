/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a structure that the driver has filled, against what they should say. */
#ifndef TESTBENCH_DSAN_ASKED_MEMBERS_H
#define TESTBENCH_DSAN_ASKED_MEMBERS_H

#include "model/interface/macros.h"
#include "testbench/dsan/checker_impl.h"

struct member {
	const char *name;
	uint64_t is, asked;
};

/* A struct member. */
#define MEMBER(name, is, asked)                                                                    \
	{                                                                                          \
		name, (uint64_t)(is), (uint64_t)(asked)                                            \
	}

/* A function that passes on what it was given, in a structure of its own. */
struct passing {
	struct checker *c; /* NULL: nothing is judged */
	enum guest_rule rule;
	struct guest_object object;
	const char *call;
	const void *at; /* the structure */
	size_t bytes;
};

/* The first that differs; NULL: none. The others follow from it more often than not. */
const struct member *member_differs(const struct member *m, size_t n);
/* Reports it, with the functions that filled the structure. */
void members_check(const struct passing *p, const struct member *m, size_t n);
#define MEMBERS_CHECK(p, ...)                                                                      \
	members_check(p, (const struct member[]){__VA_ARGS__},                                     \
		      ARRAY_SIZE(((const struct member[]){__VA_ARGS__})))
/* The same for a pointer, whose value is not told: it differs from run to run. */
void pointer_check(const struct passing *p, const char *name, const void *is, const void *asked);

#endif
