/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket, both ends: see ctl.h. */
#define _GNU_SOURCE
#include "testbench/app/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 4, ANSWER_WORD = 2 };

struct ctl_client {
	struct vfu_source source; /* fd -1: free */
	struct ctl *ctl;
	size_t have;
	char line[CTL_LINE_CHARS];
};

struct ctl {
	struct vfu_source listener;
	struct ctl_target target;
	struct ctl_client clients[CLIENTS];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static void client_close(struct ctl_client *client)
{
	if (client->source.fd < 0)
		return;
	vfu_server_forget(client->ctl->target.server, &client->source);
	close(client->source.fd);
	client->source.fd = -1;
}

/* Never blocks: a client that does not take the answer at once is disconnected. */
static void answer(struct ctl_client *client)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		client_close(client);
		return;
	}
	ctl_command(&client->ctl->target, client->line, out);
	fputc('\n', out);
	if (fclose(out) ||
	    send(client->source.fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
		client_close(client);
	free(text);
}

static void client_ready(struct vfu_source *source, uint32_t events)
{
	struct ctl_client *client = (struct ctl_client *)(void *)source;
	ssize_t n = recv(source->fd, client->line + client->have, CTL_LINE_CHARS - client->have,
			 MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EINTR || errno == EWOULDBLOCK))
		return;
	if (n <= 0) {
		client_close(client);
		return;
	}
	client->have += (size_t)n;
	while (source->fd >= 0 && (end = memchr(client->line, '\n', client->have))) {
		size_t used = (size_t)(end + 1 - client->line);

		*end = 0;
		answer(client);
		client->have -= used;
		memmove(client->line, client->line + used, client->have);
	}
	if (client->have == CTL_LINE_CHARS)
		client_close(client);
}

static void listener_ready(struct vfu_source *source, uint32_t events)
{
	struct ctl *ctl = (struct ctl *)(void *)source;
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ctl_client *client = ctl->clients;

	if (fd < 0)
		return;
	while (client < ctl->clients + CLIENTS && client->source.fd >= 0)
		client++;
	if (client == ctl->clients + CLIENTS) {
		close(fd);
		return;
	}
	*client = (struct ctl_client){.source = {fd, client_ready}, .ctl = ctl};
	if (vfu_server_watch(ctl->target.server, &client->source, EPOLLIN)) {
		close(fd);
		client->source.fd = -1;
	}
}

struct ctl *ctl_open(const struct ctl_target *target, const char *path, char *err, size_t err_size)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int rc;

	if (!ctl) {
		snprintf(err, err_size, "out of memory");
		return NULL;
	}
	ctl->target = *target;
	for (unsigned i = 0; i < CLIENTS; i++)
		ctl->clients[i].source.fd = -1;
	ctl->listener = (struct vfu_source){vfu_listen(path, err, err_size), listener_ready};
	if (ctl->listener.fd < 0) {
		free(ctl);
		return NULL;
	}
	snprintf(ctl->path, sizeof(ctl->path), "%s", path);
	rc = vfu_server_watch(target->server, &ctl->listener, EPOLLIN);
	if (rc) {
		snprintf(err, err_size, "socket %s: %s", path, strerror(-rc));
		close(ctl->listener.fd);
		unlink(ctl->path);
		free(ctl);
		return NULL;
	}
	return ctl;
}

void ctl_close(struct ctl *ctl)
{
	if (!ctl)
		return;
	for (unsigned i = 0; i < CLIENTS; i++)
		client_close(&ctl->clients[i]);
	vfu_server_forget(ctl->target.server, &ctl->listener);
	close(ctl->listener.fd);
	unlink(ctl->path);
	free(ctl);
}

/* --- the other end --- */

enum exit_status ctl_send(const char *path, const char *const *words, unsigned count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char line[CTL_LINE_CHARS];
	char *text = NULL;
	size_t size = 0;
	bool right;
	FILE *stream;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), n = 0;

	for (unsigned i = 0; i < count && n < CTL_LINE_CHARS; i++)
		n += snprintf(line + n, CTL_LINE_CHARS - (size_t)n, "%s%s", words[i],
			      i + 1 < count ? " " : "\n");
	if (n >= CTL_LINE_CHARS || strlen(path) >= sizeof(address.sun_path) ||
	    strchr(line, '\n') != line + n - 1) {
		fprintf(stderr, "hcasim: ctl: expected one line of at most %d characters\n",
			CTL_LINE_CHARS - 1);
		close(fd);
		return EXIT_INPUT;
	}
	strcpy(address.sun_path, path);
	stream = fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))
			 ? NULL
			 : fdopen(fd, "r+");
	if (!stream) {
		fprintf(stderr, "hcasim: %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_INPUT;
	}
	fputs(line, stream);
	fflush(stream);
	right = getline(&text, &size, stream) > 0 && !strncmp(text, "ok", ANSWER_WORD);
	if (text)
		fputs(text, stdout);
	free(text);
	fclose(stream);
	return right ? EXIT_RIGHT : EXIT_FAILED;
}
