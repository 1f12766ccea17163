/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets go of what a client gave: descriptors and mappings. The last one to let go of a file waits
 * until its pages are free (1 GiB: 70 ms), of a socket perhaps until it has lingered, of a file of
 * another process until that answers; none of this may stop the server. So a thread of each device
 * does it. from: connection, guest_file.
 */
#ifndef MODEL_VFIO_USER_RELEASE_H
#define MODEL_VFIO_USER_RELEASE_H

#include <stddef.h>

struct releaser;

/* NULL when there is no thread to be had: the functions below then work at once. */
struct releaser *releaser_create(void);
/* Waits a while for what there is to be done; what does not end is left to the end of the process.
 */
void releaser_destroy(struct releaser *r);

void releaser_fd(struct releaser *r, int fd);
void releaser_mapping(struct releaser *r, void *base, size_t size);
/* Descriptors that are not closed yet. */
unsigned releaser_backlog(struct releaser *r);

#endif
