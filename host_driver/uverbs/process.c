// SPDX-License-Identifier: Apache-2.0
/* The heap, pages, descriptors and files of a process, and what happens when it ends. See
 * process.h. */
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct heap_block {
	struct drv_list link;
	max_align_t bytes[];
};

struct page_block {
	struct drv_list link;
	void *addr;
	size_t bytes;
};

/* --- hosts --- */

int uv_host_init(struct uv_host *host, struct platform *p)
{
	*host = (struct uv_host){.platform = p, .waitq = p->ops->waitq_create(p)};
	if (!host->waitq)
		return -ENOMEM;
	drv_list_init(&host->inodes);
	drv_list_init(&host->xrcds);
	return 0;
}

void uv_host_cleanup(struct uv_host *host)
{
	host->platform->ops->waitq_destroy(host->platform, host->waitq);
	host->waitq = NULL;
}

bool uv_host_is_clean(const struct uv_host *host)
{
	return !host->files && drv_list_empty(&host->xrcds) && drv_list_empty(&host->inodes);
}

void uv_domains_lock(struct uv_host *host)
{
	while (host->domains_busy)
		host->platform->ops->waitq_wait(host->platform, host->waitq, UINT64_MAX);
	host->domains_busy = true;
}

void uv_domains_unlock(struct uv_host *host)
{
	host->domains_busy = false;
	host->platform->ops->waitq_wake_all(host->platform, host->waitq);
}

/* --- memory --- */

void *uv_heap_alloc(struct uv_process *process, size_t bytes)
{
	struct heap_block *b = drv_calloc(1, sizeof(*b) + bytes);

	if (!b)
		return NULL;
	drv_list_add(&process->heap, &b->link);
	return b->bytes;
}

void uv_heap_free(void *p)
{
	struct heap_block *b;

	if (!p)
		return;
	b = container_of(p, struct heap_block, bytes);
	drv_list_del(&b->link);
	free(b);
}

void *uv_pages_alloc(struct uv_process *process, size_t bytes)
{
	struct platform *p = process->host->platform;
	struct page_block *b = drv_calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->addr = p->ops->user_alloc(p, bytes);
	if (!b->addr) {
		free(b);
		return NULL;
	}
	b->bytes = bytes;
	memset(b->addr, 0, bytes);
	drv_list_add(&process->pages, &b->link);
	return b->addr;
}

static void page_block_free(struct uv_process *process, struct page_block *b)
{
	struct platform *p = process->host->platform;

	drv_list_del(&b->link);
	p->ops->user_free(p, b->addr, b->bytes);
	free(b);
}

bool uv_pages_free(struct uv_process *process, void *addr)
{
	for (struct drv_list *l = process->pages.next; l != &process->pages; l = l->next) {
		struct page_block *b = container_of(l, struct page_block, link);

		if (b->addr == addr) {
			page_block_free(process, b);
			return true;
		}
	}
	return false;
}

/* --- files --- */

static struct uv_inode *inode_find(const struct uv_host *host, const char *path)
{
	for (struct drv_list *l = host->inodes.next; l != &host->inodes; l = l->next) {
		struct uv_inode *inode = container_of(l, struct uv_inode, link);

		if (!strcmp(inode->path, path))
			return inode;
	}
	return NULL;
}

/* A file exists only while somebody has it open, because there is no disk. */
void uv_inode_put(struct uv_inode *inode)
{
	if (--inode->refs)
		return;
	drv_list_del(&inode->link);
	free(inode);
}

static int inode_open(struct uv_host *host, const char *path, int flags, struct uv_inode **out)
{
	struct uv_inode *inode = inode_find(host, path);

	if (strlen(path) >= UV_PATH_CHARS)
		return ENAMETOOLONG;
	if (inode && flags & O_CREAT && flags & O_EXCL)
		return EEXIST;
	if (!inode && !(flags & O_CREAT))
		return ENOENT;
	if (!inode) {
		inode = drv_calloc(1, sizeof(*inode));
		if (!inode)
			return ENOMEM;
		strcpy(inode->path, path);
		drv_list_add(&host->inodes, &inode->link);
	}
	inode->refs++;
	*out = inode;
	return 0;
}

int uv_fd_alloc(struct uv_process *process, enum uv_fd_kind kind)
{
	for (int fd = UV_FD_FIRST; fd < UV_FDS_MAX; fd++) {
		if (process->fds[fd].kind != UV_FD_FREE)
			continue;
		process->fds[fd] = (struct uv_fd){.kind = kind};
		return fd;
	}
	return -EMFILE;
}

struct uv_fd *uv_fd_find(struct uv_process *process, int fd, enum uv_fd_kind kind)
{
	if (fd < UV_FD_FIRST || fd >= UV_FDS_MAX || process->fds[fd].kind == UV_FD_FREE ||
	    (kind != UV_FD_FREE && process->fds[fd].kind != kind))
		return NULL;
	return &process->fds[fd];
}

int uv_open(struct uv_process *process, const char *path, int flags)
{
	int fd = uv_fd_alloc(process, UV_FD_INODE);
	int rc;

	if (fd < 0) {
		errno = EMFILE;
		return -1;
	}
	rc = inode_open(process->host, path, flags, &process->fds[fd].inode);
	if (rc) {
		process->fds[fd].kind = UV_FD_FREE;
		errno = rc;
		return -1;
	}
	return fd;
}

int uv_close(struct uv_process *process, int fd)
{
	struct uv_fd *f = uv_fd_find(process, fd, UV_FD_FREE);

	if (!f)
		return EBADF;
	if (f->kind != UV_FD_INODE)
		return EINVAL;
	uv_inode_put(f->inode);
	f->kind = UV_FD_FREE;
	return 0;
}

int uv_set_nonblock(struct uv_process *process, int fd, bool on)
{
	struct uv_fd *f = uv_fd_find(process, fd, UV_FD_FREE);

	if (!f)
		return EBADF;
	f->nonblock = on;
	return 0;
}

int uv_readable(const struct uv_process *process, int fd)
{
	const struct uv_fd *f = uv_fd_find((struct uv_process *)process, fd, UV_FD_FREE);

	if (!f || f->kind == UV_FD_SOCKET)
		return -1;
	return f->kind == UV_FD_INODE || !drv_list_empty(&f->channel->events);
}

int uv_wait_readable(struct uv_process *process, int fd, uint64_t deadline_ps)
{
	struct platform *p = process->host->platform;

	for (;;) {
		int rc = uv_readable(process, fd);

		if (rc)
			return rc;
		if (p->ops->now_ps(p) >= deadline_ps)
			return 0;
		p->ops->waitq_wait(p, process->waitq, deadline_ps);
	}
}

/* --- life --- */

int uv_process_init(struct uv_process *process, struct uv_host *host)
{
	struct platform *p = host->platform;

	*process = (struct uv_process){.host = host, .waitq = p->ops->waitq_create(p)};
	if (!process->waitq)
		return -ENOMEM;
	drv_list_init(&process->files);
	drv_list_init(&process->heap);
	drv_list_init(&process->pages);
	return 0;
}

void uv_process_exit(struct uv_process *process)
{
	struct platform *p = process->host->platform;

	if (process->rdma)
		process->rdma_exit(process);
	while (!drv_list_empty(&process->files))
		uvk_close(container_of(process->files.next, struct uv_file, link));
	/* The channels were closed with their contexts. Only plain files are still open. */
	for (int fd = UV_FD_FIRST; fd < UV_FDS_MAX; fd++)
		if (process->fds[fd].kind == UV_FD_INODE)
			uv_close(process, fd);
	/* the device may still reach the pages of a region that it has refused to destroy */
	while (!process->kept && !drv_list_empty(&process->pages))
		page_block_free(process,
				container_of(process->pages.next, struct page_block, link));
	while (!drv_list_empty(&process->heap))
		uv_heap_free(container_of(process->heap.next, struct heap_block, link)->bytes);
	p->ops->waitq_destroy(p, process->waitq);
	process->waitq = NULL;
}
