/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link between serve and the plugin in a guest's QEMU: a socket, of which only the end matters
 * after the first message, and a page of memory (guest_page.h). from: the plugin; to: guest_clock.
 */
#ifndef MODEL_VFIO_USER_GUEST_LINK_H
#define MODEL_VFIO_USER_GUEST_LINK_H

#include "model/vfio_user/guest_page.h"
#include "model/vfio_user/server.h"

#include <sys/un.h>

struct guest_link {
	struct vfu_source socket; /* fd -1: no guest */
	struct vfu_source bell;   /* the eventfd on which this thread sleeps */
	struct vfu_source listener;
	struct vfu_server *server;
	struct guest_page *page; /* NULL: no guest */
	uint8_t *watched;        /* a byte for each page of the guest's memory */
	int page_fd, wake_fd;    /* wake_fd: the eventfd on which the guest sleeps */
	int watched_fd;
	bool used; /* it had a guest */
	void (*ended)(struct guest_link *link, const char *why);
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* Makes the socket. `ended` is called when the guest has gone, or could not be linked. 0, or -errno
 * with a line in err[]. */
int guest_link_listen(struct guest_link *link, struct vfu_server *server, const char *path,
		      void (*ended)(struct guest_link *link, const char *why), char *err,
		      size_t err_size);
/* Lets a guest in, one and only once: simulated time does not begin again. 0 or -errno. */
int guest_link_admit(struct guest_link *link);
void guest_link_close(struct guest_link *link);
/* Closes it and removes the socket's file. */
void guest_link_destroy(struct guest_link *link);

/* How many questions the guest has asked; 0 without a guest. */
uint32_t guest_link_questions(const struct guest_link *link);
/* The answer is in the page: lets the guest go on. `answered` counts all answers. */
void guest_link_answer(struct guest_link *link, uint32_t answered);
/* Whether the guest has told of an access to memory, and waits. */
bool guest_link_tells(const struct guest_link *link);
/* It has been heard: lets the guest go on. */
void guest_link_heard(struct guest_link *link);
/* Device `device` watches this page of the guest's memory from now on, or no longer. */
void guest_link_watch(struct guest_link *link, unsigned device, uint64_t page, bool watched);
/* Lets a guest go on that an answer has held. */
void guest_link_go(struct guest_link *link);
/* Tells the guest whether it must wake this thread when it asks. */
void guest_link_sleeps(struct guest_link *link, bool sleeps);

#endif
