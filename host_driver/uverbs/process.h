/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated processes as user verbs see them: what the machine (the test bench) must provide, what
 * it must call, and a process' descriptors, files and heap.
 *
 * A process can be killed whenever simulated time passes while it runs its own code (posting,
 * polling, its own structures). The kernel's work for it, between uv_kernel_enter and
 * uv_kernel_leave, is always finished first. When the last thread of a process has ended, the
 * kernel calls uv_process_exit(): it destroys all objects of the process, then frees its memory.
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
	unsigned refs; /* descriptors and XRC domains that use it */
};

/* State that the processes of one host share. */
struct uv_host {
	struct platform *platform;
	struct ib_device *devices[UV_DEVICES_MAX];
	unsigned n_devices;
	struct drv_list inodes;
	struct drv_list xrcds; /* open domains: struct uv_domain */
	unsigned files;        /* contexts open in all processes */
	/* Opening and closing a domain sleeps, so only one call at a time does it. The others wait
	 * here. */
	struct platform_waitq *waitq;
	bool domains_busy;
};

enum uv_fd_kind { UV_FD_FREE, UV_FD_INODE, UV_FD_CHANNEL, UV_FD_ASYNC, UV_FD_SOCKET };

struct uv_fd {
	enum uv_fd_kind kind;
	bool nonblock;
	union {
		struct uv_inode *inode;
		/* completion channel, or the channel of asynchronous events */
		struct uv_channel *channel;
		void *socket; /* belongs to the machine, which also closes it */
	};
};

struct uv_process {
	struct uv_host *host;
	struct drv_list files; /* contexts */
	unsigned kept; /* closed ones with an object that the device has refused to destroy */
	struct drv_list heap;  /* what the library and the process have allocated */
	struct drv_list pages; /* pages of uv_pages_alloc() */
	struct uv_fd fds[UV_FDS_MAX];
	struct platform_waitq *waitq; /* threads that wait for an event or for an acknowledgement */
	/* connections by address (host_driver/cm), and the function that ends them; NULL: not
	 * used */
	struct cma_process *rdma;
	void (*rdma_exit)(struct uv_process *process);
	/*
	 * A program that polls an empty CQ must let simulated time pass. It sleeps until that CQ
	 * gets an entry, but not longer than next_ps. next_ps doubles with each poll that finds
	 * nothing, up to max_ps, and goes back to first_ps after an entry. The machine sets it
	 * after uv_process_init. first_ps 0: polling takes no time.
	 */
	struct {
		uint64_t first_ps, max_ps, next_ps;
	} poll;
};

/* --- the machine provides --- */

/* The process of the calling thread, or NULL. */
struct uv_process *uv_process_current(void);
/* The calling thread's process cannot be killed between these two. They nest. leave() does not
 * return if the process has been killed meanwhile. */
void uv_kernel_enter(void);
void uv_kernel_leave(void);

/* --- the machine calls --- */

/* 0 or -ENOMEM. */
int uv_host_init(struct uv_host *host, struct platform *p);
void uv_host_cleanup(struct uv_host *host);
/* Whether no context, no domain and no file is left. */
bool uv_host_is_clean(const struct uv_host *host);
/* 0 or -ENOMEM. */
int uv_process_init(struct uv_process *process, struct uv_host *host);
/* Must run in a thread that cannot be killed. Destroys objects (newest first, in rounds while some
 * are still used by others), closes descriptors, frees memory. An object that the device refuses to
 * destroy keeps its context and the process' pages. */
void uv_process_exit(struct uv_process *process);

/* A free descriptor; -EMFILE: there is none. */
int uv_fd_alloc(struct uv_process *process, enum uv_fd_kind kind);
/* NULL: not open, or of another kind. UV_FD_FREE finds descriptors of any kind. */
struct uv_fd *uv_fd_find(struct uv_process *process, int fd, enum uv_fd_kind kind);
void uv_inode_put(struct uv_inode *inode);

/* --- for the process --- */

/* Zeroed memory of the process' heap, freed when the process ends. */
void *uv_heap_alloc(struct uv_process *process, size_t bytes);
void uv_heap_free(void *p);

/* Whole pages, zeroed, that an HCA can reach once they are registered. Freed by uv_pages_free(), or
 * when the process ends. NULL: no memory. */
void *uv_pages_alloc(struct uv_process *process, size_t bytes);
/* False: `addr` is not from uv_pages_alloc(). */
bool uv_pages_free(struct uv_process *process, void *addr);

/* Files: -1 with errno EMFILE, ENOMEM, ENOENT (no O_CREAT), EEXIST (O_EXCL), ENAMETOOLONG. */
int uv_open(struct uv_process *process, const char *path, int flags);
/* 0 or EBADF. EINVAL: a channel or a context, which is closed with its object. */
int uv_close(struct uv_process *process, int fd);
int uv_set_nonblock(struct uv_process *process, int fd, bool on);
/* 1: readable; 0: not readable; -1: there is no such descriptor, or it is a socket. */
int uv_readable(const struct uv_process *process, int fd);
/* Sleeps until the descriptor is readable. 1: it is; 0: the deadline has passed; -1: there is no
 * such descriptor. */
int uv_wait_readable(struct uv_process *process, int fd, uint64_t deadline_ps);

#endif
