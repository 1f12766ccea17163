/* SPDX-License-Identifier: Apache-2.0 */
/* See near_name.h. */
#include "model/sim/near_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Counts insertions, deletions and replacements from a to b. Of long names only the part that fits
 * is compared. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[NEAR_NAME_CHARS], i, j, diagonal, above;
	size_t n = strlen(b) < NEAR_NAME_CHARS ? strlen(b) : NEAR_NAME_CHARS - 1;

	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (j = 1; j <= n; j++) {
			above = row[j];
			row[j] = diagonal + (a[i] != b[j - 1]);
			if (row[j] > above + 1)
				row[j] = above + 1;
			if (row[j] > row[j - 1] + 1)
				row[j] = row[j - 1] + 1;
			diagonal = above;
		}
	}
	return row[n];
}

static bool is_tail(const char *whole, const char *tail)
{
	size_t n = strlen(whole), k = strlen(tail);

	return k && n > k && whole[n - k - 1] == '.' && !strcmp(whole + n - k, tail);
}

void near_name_try(struct near_name *n, const char *known)
{
	unsigned int distance = is_tail(known, n->wanted) ? 0 : edit_distance(n->wanted, known);

	if (distance > 1 + strlen(n->wanted) / 3 || (n->name[0] && distance >= n->distance))
		return;
	n->distance = distance;
	snprintf(n->name, sizeof(n->name), "%s", known);
}
