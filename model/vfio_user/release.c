// SPDX-License-Identifier: Apache-2.0
/* See release.h. */
#define _GNU_SOURCE
#include "model/vfio_user/release.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A mapping is removed in pieces, so that other threads of the process that map memory wait for one
 * piece only. The number of pieces is limited, because a sparse file may be of any length. */
enum { PIECE = 16 << 20, PIECES_MAX = 1024, PATIENCE_S = 1 };

struct job {
	struct job *next;
	void *base; /* NULL: the job closes fd */
	size_t size;
	int fd;
};

struct releaser {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct job *first, **last;
	unsigned fds; /* of unfinished jobs */
	bool busy, ending;
};

/* Unmaps a mapping piece by piece. If munmap() refuses a piece, for example because pages of
 * hugetlbfs are larger, it unmaps the rest at once. */
static void mapping_release(char *base, size_t size)
{
	const size_t piece = (size / PIECE / PIECES_MAX + 1) * PIECE;

	while (size > piece && !munmap(base + size - piece, piece))
		size -= piece;
	munmap(base, size);
}

/* Does one job. Pieces are cut off at the end of the mapping, so its length is rounded up to whole
 * pages. */
static void job_do(const struct job *job)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (job->base)
		mapping_release(job->base, (job->size + page - 1) / page * page);
	else
		close(job->fd);
}

static void releaser_free(struct releaser *r)
{
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->idle);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void *run(void *arg)
{
	struct releaser *r = arg;

	pthread_mutex_lock(&r->lock);
	while (r->first || !r->ending) {
		struct job *job = r->first;

		if (!job) {
			pthread_cond_wait(&r->work, &r->lock);
			continue;
		}
		r->first = job->next;
		if (!r->first)
			r->last = &r->first;
		pthread_mutex_unlock(&r->lock);
		job_do(job);
		pthread_mutex_lock(&r->lock);
		r->fds -= !job->base;
		free(job);
	}
	r->busy = false;
	pthread_cond_signal(&r->idle);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

struct releaser *releaser_create(void)
{
	struct releaser *r = calloc(1, sizeof(*r));
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int rc;

	if (!r)
		return NULL;
	r->last = &r->first;
	r->busy = true;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_cond_init(&r->idle, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* signals are for the server's thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		releaser_free(r);
		return NULL;
	}
	return r;
}

void releaser_destroy(struct releaser *r)
{
	struct timespec until;
	bool done;

	if (!r)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&r->lock);
	r->ending = true;
	pthread_cond_signal(&r->work);
	while (r->busy && !pthread_cond_timedwait(&r->idle, &r->lock, &until))
		;
	done = !r->busy;
	pthread_mutex_unlock(&r->lock);
	if (!done) {
		pthread_detach(r->thread);
		return;
	}
	pthread_join(r->thread, NULL);
	releaser_free(r);
}

static void job_add(struct releaser *r, const struct job *what)
{
	struct job *job = r ? malloc(sizeof(*job)) : NULL;

	if (!job) {
		job_do(what);
		return;
	}
	*job = *what;
	pthread_mutex_lock(&r->lock);
	*r->last = job;
	r->last = &job->next;
	r->fds += !job->base;
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
}

void releaser_fd(struct releaser *r, int fd)
{
	job_add(r, &(struct job){.fd = fd});
}

void releaser_mapping(struct releaser *r, void *base, size_t size)
{
	job_add(r, &(struct job){.base = base, .size = size});
}

unsigned releaser_backlog(struct releaser *r)
{
	unsigned fds;

	if (!r)
		return 0;
	pthread_mutex_lock(&r->lock);
	fds = r->fds;
	pthread_mutex_unlock(&r->lock);
	return fds;
}
