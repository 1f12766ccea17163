/* SPDX-License-Identifier: Apache-2.0 */
/* Of the names that there are the one most like a misspelt one, for messages. */
#ifndef MODEL_SIM_NEAR_NAME_H
#define MODEL_SIM_NEAR_NAME_H

enum { NEAR_NAME_CHARS = 96 };

/* Begin with {.wanted = ...}; then name is empty until a known one is like it. */
struct near_name {
	const char *wanted;
	unsigned int distance;
	char name[NEAR_NAME_CHARS];
};

/* Takes `known` when it is nearer than what came before: letters inserted, left out or replaced,
 * at most one and a third of those wanted; none when only a part before a dot was left out. */
void near_name_try(struct near_name *n, const char *known);

#endif
