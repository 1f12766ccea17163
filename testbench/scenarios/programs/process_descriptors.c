/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process is told about its files, descriptors and pages when it asks for something that is not
 * there, or for more than there is: no such file, a name that is too long, a descriptor of another kind, a
 * full table, no memory. Calls of libibverbs that need a descriptor fail with the same errno, and succeed
 * once one is free. The errors are those of open(2), close(2), poll(2) and ibv_open_xrcd(3).
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum { NAME_LEN = 300, NAME_MAX_HERE = 63, NO_FD = 1000, MANY = 100, PAGE = 4096, CHANNELS = 3 };
#define TOO_MUCH ((size_t)1 << 44)

/* A file exists while anybody has it open. */
static int files(void)
{
	char name[NAME_LEN + 1] = {0};
	int one, two;

	memset(name, 'n', NAME_LEN);
	FAILS(process_open(name, O_CREAT), ENAMETOOLONG);
	name[NAME_MAX_HERE + 1] = 0;
	FAILS(process_open(name, O_CREAT), ENAMETOOLONG);
	name[NAME_MAX_HERE] = 0;
	one = process_open(name, O_CREAT);
	if (one < 0 || process_close(one))
		return __LINE__;
	FAILS(process_open("file", 0), ENOENT);
	FAILS(process_open("file", O_EXCL), ENOENT);
	one = process_open("file", O_CREAT | O_EXCL);
	FAILS(process_open("file", O_CREAT | O_EXCL), EEXIST);
	FAILS(process_open("file2", 0), ENOENT);
	FAILS(process_open("fil", 0), ENOENT);
	two = process_open("file", O_EXCL); /* which counts only with O_CREAT */
	if (one < 0 || two < 0 || one == two || process_close(one))
		return __LINE__;
	one = process_open("file", O_CREAT);
	if (one < 0 || process_close(one) || process_close(two))
		return __LINE__;
	FAILS(process_open("file", 0), ENOENT);
	MADE_WITHOUT_MEMORY((one = process_open("file", O_CREAT)) >= 0);
	return process_close(one) ? __LINE__ : 0;
}

static int descriptors(const struct program *p, struct ibv_comp_channel *channel)
{
	const int fd = process_open("file", O_CREAT);
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *context;

	if (process_poll(fd, 0) != 1 || process_close(fd))
		return __LINE__;
	FAILS(process_close(fd), EBADF);
	FAILS(process_close(-1), EBADF);
	FAILS(process_close(NO_FD), EBADF);
	FAILS(process_close(UV_FDS_MAX), EBADF);
	FAILS(process_nonblock(fd, true), EBADF);
	FAILS(process_poll(fd, 0), EBADF);
	FAILS(process_close(p->context->async_fd), EINVAL);
	FAILS(process_close(channel->fd), EINVAL);
	if (process_poll(channel->fd, 0) || process_poll(p->context->async_fd, 0) ||
	    process_nonblock(channel->fd, true) || process_nonblock(p->context->async_fd, true))
		return __LINE__;
	FAILS(ibv_get_cq_event(channel, &cq, &context), EAGAIN);
	FAILS(ibv_get_async_event(p->context, &event), EAGAIN);
	return 0;
}

/* A context takes its channels with it, also those that have CQs. */
static int closed_with_channels(const struct program *p)
{
	struct ibv_context *c = ibv_open_device(p->context->device);
	int fds[CHANNELS];

	for (unsigned i = 0; i < CHANNELS; i++) {
		struct ibv_comp_channel *channel = c ? ibv_create_comp_channel(c) : NULL;

		if (!channel || (i & 1 && !ibv_create_cq(c, 1, NULL, channel, 0)))
			return __LINE__;
		fds[i] = channel->fd;
		if (process_poll(fds[i], 0))
			return __LINE__;
	}
	if (ibv_close_device(c))
		return __LINE__;
	for (unsigned i = 0; i < CHANNELS; i++)
		FAILS(process_poll(fds[i], 0), EBADF);
	return 0;
}

/* The last descriptor goes to whoever asks first, and comes back with its object. */
static int full(const struct program *p)
{
	const unsigned pieces = heap_pieces(uv_process_current());
	struct ibv_comp_channel *channel;
	int fds[MANY], n = 0, last;

	while (n < MANY && (fds[n] = process_open("file", O_CREAT)) >= 0)
		n++;
	if (n < 2 || n == MANY || errno != EMFILE)
		return __LINE__;
	REFUSED(ibv_create_comp_channel(p->context), EMFILE);
	GIVES(heap_pieces(uv_process_current()), pieces);
	REFUSED(ibv_open_device(p->context->device), EMFILE);
	GIVES(heap_pieces(uv_process_current()), pieces);
	last = fds[--n];
	if (process_close(last))
		return __LINE__;
	channel = ibv_create_comp_channel(p->context);
	if (!channel || channel->fd != last)
		return __LINE__;
	FAILS(process_open("file", O_CREAT), EMFILE);
	if (ibv_destroy_comp_channel(channel) || process_open("file", 0) != last)
		return __LINE__;
	for (fds[n++] = last; n--;)
		if (process_close(fds[n]))
			return __LINE__;
	return 0;
}

/* Pages are zeroed. An address that is nobody's is left alone. */
static int pages(void)
{
	uint8_t *mem;

	for (unsigned nth = 1;; nth++) {
		lack_memory(nth);
		mem = process_memory(PAGE);
		if (!lack_memory(0))
			break;
		if (mem)
			return __LINE__;
	}
	if (process_memory(TOO_MUCH))
		return __LINE__;
	for (unsigned i = 0; i < PAGE; i++)
		if (mem[i])
			return __LINE__;
	process_memory_free(mem + 1);
	for (unsigned i = 0; i < PAGE; i++) /* freed pages are not zero */
		if (mem[i])
			return __LINE__;
	memset(mem, 1, PAGE);
	process_memory_free(mem);
	return 0;
}

static int program(void *arg)
{
	struct program p = {.file = "domain"};
	struct ibv_comp_channel *channel;
	int rc = program_open(&p) ? __LINE__ : 0;

	if (rc)
		return rc;
	channel = ibv_create_comp_channel(p.context);
	rc = channel ? files() : __LINE__;
	if (!rc)
		rc = descriptors(&p, channel);
	if (!rc)
		rc = closed_with_channels(&p);
	if (!rc)
		rc = full(&p);
	if (!rc)
		rc = pages();
	if (rc)
		return rc;
	return ibv_destroy_comp_channel(channel) || ibv_dereg_mr(p.mr) || ibv_destroy_cq(p.cq) ||
			       ibv_dealloc_pd(p.pd) || ibv_close_device(p.context)
		       ? __LINE__
		       : 0;
}

/* Its files are closed with it. */
static int leaves_all(void *arg)
{
	unsigned n = 0;

	(void)arg;
	while (process_open("file", O_CREAT) >= 0)
		n++;
	return n > 2 ? 0 : __LINE__;
}

SCENARIO(process_descriptors, "a process asks for files, descriptors and pages that are not there",
	 .no_qps = true)
{
	struct process *worker = start_worker(a);
	struct program p = {.file = "domain"};

	run_in(worker, program_open, &p);
	if (!still_right())
		return;
	/* the body is a thread of no process */
	errno = 0;
	expect_true(!ibv_get_device_list(NULL));
	expect_equal((uint64_t)errno, ENOSYS);
	errno = 0;
	expect_true(!ibv_open_device(p.context->device));
	expect_equal((uint64_t)errno, ENOSYS);
	end_worker(worker);
	expect_exit(start_process(a, program, NULL), 0);
	expect_exit(start_process(a, leaves_all, NULL), 0);
	expect_true(uv_host_is_clean(tb_uv_host(tb, a)));
}
