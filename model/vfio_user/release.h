/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors and removes mappings that a client gave, in a thread per device, because this
 * can take long: freeing the pages of a file (70 ms for 1 GiB), a socket that lingers, or a file of
 * another process that must answer. None of this may stop the server. from: connection, guest_file.
 */
#ifndef MODEL_VFIO_USER_RELEASE_H
#define MODEL_VFIO_USER_RELEASE_H

#include <stddef.h>

struct releaser;

/* NULL if no thread can be created: then the functions below work at once. */
struct releaser *releaser_create(void);
/* Waits a while for the thread. What is still not closed then is closed when the process ends. */
void releaser_destroy(struct releaser *r);

void releaser_fd(struct releaser *r, int fd);
void releaser_mapping(struct releaser *r, void *base, size_t size);
/* The number of descriptors that are not closed yet. */
unsigned releaser_backlog(struct releaser *r);

#endif
