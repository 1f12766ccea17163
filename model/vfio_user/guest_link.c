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
	if (link->page)
		munmap(link->page, sizeof(*link->page));
	link->page = NULL;
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

static int page_create(struct guest_link *link)
{
	void *page;

	link->page_fd = memfd_create("hcasim-guest-page", MFD_CLOEXEC);
	link->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	link->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (link->page_fd < 0 || link->wake_fd < 0 || link->bell.fd < 0 ||
	    ftruncate(link->page_fd, sizeof(struct guest_page)))
		return -errno;
	page = mmap(NULL, sizeof(struct guest_page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    link->page_fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	link->page = page;
	return vfu_server_watch(link->server, &link->bell, EPOLLIN);
}

static int hello_send(struct guest_link *link)
{
	struct guest_hello hello = {GUEST_HELLO_MAGIC, GUEST_PAGE_VERSION,
				    sizeof(struct guest_page)};
	const int fds[GUEST_HELLO_FDS] = {link->page_fd, link->wake_fd, link->bell.fd};
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

void guest_link_answer(struct guest_link *link, uint32_t answered)
{
	const uint64_t one = 1;

	shared_write(&link->page->answer.answered, answered);
	if (shared_read(&link->page->guest_sleeps))
		(void)!write(link->wake_fd, &one, sizeof(one));
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
