// SPDX-License-Identifier: Apache-2.0
/* See guest_link.h. */
#define _GNU_SOURCE
#include "model/vfio_user/guest_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void source_close(struct guest_link *link, struct vfu_source *source)
{
	if (source->fd >= 0)
		vfu_server_forget(link->server, source);
	fd_close(&source->fd);
}

void guest_link_close(struct guest_link *link)
{
	source_close(link, &link->socket);
	source_close(link, &link->bell);
	fd_close(&link->wake_fd);
	fd_close(&link->page_fd);
	fd_close(&link->watched_fd);
	if (link->page)
		munmap(link->page, sizeof(*link->page));
	if (link->watched)
		munmap(link->watched, GUEST_MEMORY_PAGES);
	link->page = NULL;
	link->watched = NULL;
}

void guest_link_destroy(struct guest_link *link)
{
	guest_link_close(link);
	source_close(link, &link->listener);
	unlink(link->path);
}

/* The plugin says nothing on its socket, so whatever comes is its end. */
static void socket_ready(struct vfu_source *source, uint32_t events)
{
	struct guest_link *link = (struct guest_link *)(void *)source;

	link->ended(link, "it is gone without having been powered off");
}

static void bell_ready(struct vfu_source *source, uint32_t events)
{
	uint64_t count;

	(void)!read(source->fd, &count, sizeof(count));
}

/* Memory that is shared with the guest; NULL, and errno, if there is none. */
static void *shared_create(const char *name, size_t bytes, int *fd)
{
	void *at;

	*fd = memfd_create(name, MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)bytes))
		return NULL;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

static int page_create(struct guest_link *link)
{
	link->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	link->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (link->wake_fd < 0 || link->bell.fd < 0)
		return -errno;
	/* only what is written takes memory */
	link->watched =
		shared_create("hcasim-guest-watched", GUEST_MEMORY_PAGES, &link->watched_fd);
	if (!link->watched)
		return -errno;
	link->page = shared_create("hcasim-guest-page", sizeof(struct guest_page), &link->page_fd);
	if (!link->page)
		return -errno;
	return vfu_server_watch(link->server, &link->bell, EPOLLIN);
}

static int hello_send(struct guest_link *link)
{
	struct guest_hello hello = {GUEST_HELLO_MAGIC, GUEST_PAGE_VERSION,
				    sizeof(struct guest_page)};
	const int fds[GUEST_HELLO_FDS] = {link->page_fd, link->wake_fd, link->bell.fd,
					  link->watched_fd};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control = {0};
	struct iovec iov = {&hello, sizeof(hello)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	return sendmsg(link->socket.fd, &msg, MSG_NOSIGNAL) == sizeof(hello) ? 0 : -errno;
}

static void listener_ready(struct vfu_source *source, uint32_t events)
{
	struct guest_link *link =
		(struct guest_link *)(void *)((char *)source -
					      offsetof(struct guest_link, listener));
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), rc;

	if (fd < 0)
		return;
	if (link->used) {
		close(fd);
		return;
	}
	link->used = true;
	link->socket.fd = fd;
	rc = vfu_server_watch(link->server, &link->socket, EPOLLIN);
	if (!rc)
		rc = page_create(link);
	if (!rc)
		rc = hello_send(link);
	if (rc)
		link->ended(link, strerror(-rc));
}

int guest_link_listen(struct guest_link *link, struct vfu_server *server, const char *path,
		      void (*ended)(struct guest_link *link, const char *why), char *err,
		      size_t err_size)
{
	int fd = vfu_listen(path, err, err_size), rc;

	if (fd < 0)
		return fd;
	*link = (struct guest_link){.socket = {-1, socket_ready},
				    .bell = {-1, bell_ready},
				    .listener = {fd, listener_ready},
				    .server = server,
				    .page_fd = -1,
				    .wake_fd = -1,
				    .watched_fd = -1,
				    .ended = ended};
	strcpy(link->path, path);
	rc = vfu_server_watch(server, &link->listener, 0);
	if (!rc)
		return 0;
	snprintf(err, err_size, "socket %s: %s", path, strerror(-rc));
	guest_link_destroy(link);
	return rc;
}

int guest_link_admit(struct guest_link *link)
{
	return vfu_server_rewatch(link->server, &link->listener, EPOLLIN);
}

/* --- the page --- */

/* Both sides write the page, and sleep by what they read there: sequentially consistent order. */
static uint32_t shared_read(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void shared_write(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

uint32_t guest_link_questions(const struct guest_link *link)
{
	return link->page ? shared_read(&link->page->question.asked) : 0;
}

/* Writes what the guest waits for, and wakes it if it sleeps. */
static void go_on(struct guest_link *link, uint32_t *word, uint32_t value)
{
	const uint64_t one = 1;

	shared_write(word, value);
	if (shared_read(&link->page->guest_sleeps))
		(void)!write(link->wake_fd, &one, sizeof(one));
}

void guest_link_answer(struct guest_link *link, uint32_t answered)
{
	go_on(link, &link->page->answer.answered, answered);
}

bool guest_link_tells(const struct guest_link *link)
{
	return link->page && shared_read(&link->page->access.told) != link->page->heard;
}

void guest_link_heard(struct guest_link *link)
{
	go_on(link, &link->page->heard, link->page->heard + 1);
}

void guest_link_watch(struct guest_link *link, unsigned device, uint64_t page, bool watched)
{
	const uint8_t bit = (uint8_t)(1 << device);

	if (!link->watched || page >= GUEST_MEMORY_PAGES)
		return;
	link->watched[page] =
		(uint8_t)(watched ? link->watched[page] | bit : link->watched[page] & ~bit);
}

void guest_link_go(struct guest_link *link)
{
	const uint64_t one = 1;

	if (!link->page)
		return;
	shared_write(&link->page->answer.held, 0);
	(void)!write(link->wake_fd, &one, sizeof(one));
}

void guest_link_sleeps(struct guest_link *link, bool sleeps)
{
	if (link->page)
		shared_write(&link->page->server_sleeps, sleeps);
}
