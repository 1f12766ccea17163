/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by explore.c (which schedules run), explore_child.c (one of them) and explore_told.c. */
#ifndef TESTBENCH_APP_EXPLORE_IMPL_H
#define TESTBENCH_APP_EXPLORE_IMPL_H

#include "testbench/app/explore.h"
#include "testbench/explore/explorer.h"
#include "testbench/language/tb.h"
#include "testbench/os/outdir.h"

#include <sys/types.h>

enum { FAILURE_CHARS = 512, JOBS_ROOM = 4096 };

/* What a child leaves in memory that it shares with its parent. */
struct outcome {
	bool told; /* the run came to its end, and filled in the rest */
	bool right;
	bool unclear; /* right only because what depends on exact times is not judged */
	char failure[FAILURE_CHARS]; /* one line */
	struct struck struck[SCHEDULE_TURNS_MAX];
};

struct search {
	const struct run_options *run;
	const struct explore_options *options;
	struct explorer explorer; /* in a child: of its run */
	struct notes *notes;      /* of the run that nobody disturbs; shared */
	struct outcome *verdicts; /* one for each child at a time, and one more; shared */
	struct outcome *mine;     /* in a child */
	unsigned unclear;         /* schedules so far that could not be judged */
	unsigned wall_s;          /* a child that runs longer never ends */
	char path[OUTDIR_CHARS];  /* where a failing schedule is saved */
};

/* --- explore_child.c --- */

/* Starts a run with this schedule from here. In the child it returns 0; otherwise as fork(). */
pid_t explore_child_start(struct search *s, const struct schedule *schedule,
			  struct outcome *verdict);
/* The child ends here. */
void explore_child_end(struct search *s, struct tb *tb, bool right);
/* After the child has ended with this status: fills in a verdict that it could not fill in. Returns
 * whether the run was right. */
bool explore_child_judge(const struct search *s, struct outcome *verdict, int status);

/* --- explore_told.c --- */

/* What each turn of the schedule did. */
void explore_tell_turns(const struct schedule *schedule, const struct struck *struck, FILE *out);
/* "sq_stamp (host_driver/mlx4/post.c:30)": the innermost call in the driver. */
void explore_place(const struct struck *struck, char *buf, size_t size);

#endif
