/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the known name that is most like a misspelt one, for error messages. */
#ifndef MODEL_SIM_NEAR_NAME_H
#define MODEL_SIM_NEAR_NAME_H

enum { NEAR_NAME_CHARS = 96 };

/* Initialise with {.wanted = ...}. name stays empty until a known name is similar enough. */
struct near_name {
	const char *wanted;
	unsigned int distance;
	char name[NEAR_NAME_CHARS];
};

/* Takes `known` if it is nearer than the names before. The distance is the number of letters
 * inserted, left out or replaced; it may be at most 1 plus a third of the number of letters wanted.
 * It is zero when only the part before a dot is missing. */
void near_name_try(struct near_name *n, const char *known);

#endif
