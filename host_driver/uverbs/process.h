/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated processes as user verbs see them: what the machine (the test bench) must provide, what
 * it must call, and a process' descriptors, files and heap.
 *
 * The kernel/user split: what a process does by itself (posting, polling, its own structures) can
 * end at any moment at which simulated time passes; what the kernel does for it (between
 * uv_kernel_enter and uv_kernel_leave) ends first. When the last thread of a process has ended, the
 * kernel calls uv_process_exit(): all its objects are destroyed, then its memory is freed.
 */
#ifndef HOST_DRIVER_UVERBS_PROCESS_H
#define HOST_DRIVER_UVERBS_PROCESS_H

#include "host_driver/core/include/rdma/ib_verbs.h"

enum { UV_DEVICES_MAX = 2, UV_FDS_MAX = 64, UV_PATH_CHARS = 64, UV_FD_FIRST = 3 };

struct cma_process;
struct uv_file;
struct uv_channel;
struct uv_process;

/* A file of a host. It has a name and no content: XRC domains are found by it. */
struct uv_inode {
	struct drv_list link;
	char path[UV_PATH_CHARS];
	unsigned refs; /* descriptors and XRC domains */
};

/* What the processes of one host share. */
struct uv_host {
	struct platform *platform;
	struct ib_device *devices[UV_DEVICES_MAX];
	unsigned n_devices;
	struct drv_list inodes;
	struct drv_list xrcds; /* open domains: struct uv_domain */
	unsigned files;        /* contexts open in all processes */
	/* opening and closing domains sleeps: one at a time */
	struct platform_waitq *waitq;
	bool domains_busy;
};

enum uv_fd_kind { UV_FD_FREE, UV_FD_INODE, UV_FD_CHANNEL, UV_FD_ASYNC, UV_FD_SOCKET };

struct uv_fd {
	enum uv_fd_kind kind;
	bool nonblock;
	union {
		struct uv_inode *inode;
		struct uv_channel *channel; /* of completions, or the asynchronous events */
		void *socket;               /* the machine's, which also ends it */
	};
};

struct uv_process {
	struct uv_host *host;
	struct drv_list files; /* contexts */
	struct drv_list heap;  /* what the library and the process have allocated */
	struct drv_list pages; /* memory for the device */
	struct uv_fd fds[UV_FDS_MAX];
	struct platform_waitq *waitq; /* of threads that wait for an event or an acknowledgement */
	/* connections by address (host_driver/cm), and their end; NULL: none */
	struct cma_process *rdma;
	void (*rdma_exit)(struct uv_process *process);
	/*
	 * A program that polls in vain must let time pass: it sleeps until an entry of that CQ
	 * comes, at most next_ps, which doubles from look to look up to max_ps, and is first_ps
	 * again after an entry. Set by the machine after uv_process_init; first_ps 0: no time.
	 */
	struct {
		uint64_t first_ps, max_ps, next_ps;
	} poll;
};

/* --- the machine provides --- */

/* The process of the calling thread, NULL: none. */
struct uv_process *uv_process_current(void);
/* Between them the calling thread's process cannot be killed; they nest. leave() does not return
 * when it was killed meanwhile. */
void uv_kernel_enter(void);
void uv_kernel_leave(void);

/* --- the machine calls --- */

/* -ENOMEM. */
int uv_host_init(struct uv_host *host, struct platform *p);
void uv_host_cleanup(struct uv_host *host);
/* Whether nothing is left: no context, no domain, no file. */
bool uv_host_is_clean(const struct uv_host *host);
/* -ENOMEM. */
int uv_process_init(struct uv_process *process, struct uv_host *host);
/* In a thread that cannot be killed: destroys objects (newest first, again while some still hold
 * others), closes descriptors, frees memory. */
void uv_process_exit(struct uv_process *process);

/* A free descriptor, -EMFILE: none. */
int uv_fd_alloc(struct uv_process *process, enum uv_fd_kind kind);
/* NULL: not open, or of another kind (UV_FD_FREE: of any). */
struct uv_fd *uv_fd_find(struct uv_process *process, int fd, enum uv_fd_kind kind);
void uv_inode_put(struct uv_inode *inode);

/* --- for the process --- */

/* Zeroed memory of the process' heap; freed at its end. */
void *uv_heap_alloc(struct uv_process *process, size_t bytes);
void uv_heap_free(void *p);

/* Whole pages that an HCA can reach once they are registered, zeroed; freed at the process' end, or
 * before by uv_pages_free. NULL: no memory. */
void *uv_pages_alloc(struct uv_process *process, size_t bytes);
/* False: not of these. */
bool uv_pages_free(struct uv_process *process, void *addr);

/* Files: -1 with errno EMFILE, ENOMEM, ENOENT (no O_CREAT), EEXIST (O_EXCL), ENAMETOOLONG. */
int uv_open(struct uv_process *process, const char *path, int flags);
/* 0 or EBADF; descriptors of channels and contexts are closed by their objects: EINVAL. */
int uv_close(struct uv_process *process, int fd);
int uv_set_nonblock(struct uv_process *process, int fd, bool on);
/* 1: readable, 0: not; -1: no such descriptor, or a socket's. */
int uv_readable(const struct uv_process *process, int fd);
/* Sleeps until it is readable: 1, or 0 at the deadline; -1: no such descriptor. */
int uv_wait_readable(struct uv_process *process, int fd, uint64_t deadline_ps);

#endif
