/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/app/iwarp.h"

#include "host_driver/iwarp/iw_cm.h"
#include "host_driver/iwarp/socket.h"
#include "model/interface/macros.h"
#include "model/sim/near_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* K(name, default, least, greatest, meaning): what this end's program does */
#define IWARP_KEYS(K)                                                                              \
	K(connections, 1, 0, 1000,                                                                 \
	  "connections to make, or to serve before the end; "                                      \
	  "listen: 0 is for ever")                                                                 \
	K(at_once, 0, 0, 1000, "connect: connections that are set up at one time; 0: all")         \
	K(messages, 0, 0, 1000,                                                                    \
	  "connect: messages to send over each, which must come back; "                            \
	  "listen: messages after which it ends a connection, 0: the peer does")                   \
	K(answer, 0, 0, 1,                                                                         \
	  "connect: 1 sends its messages when as many have come, as ucmatose does")                \
	K(size, 100, 1, 1000, "bytes of a message")                                                \
	K(receives, 16, 0, 1000, "receives posted ahead on each connection")                       \
	K(greet, 0, 0, 1000, "listen: messages that the program sends as soon as it has accepted") \
	K(echo, 1, 0, 1, "listen: 1 sends back what comes")                                        \
	K(reject, 0, 0, 1, "listen: 1 rejects")                                                    \
	K(hold_ms, 0, 0, 3600000, "time from the last message to the end")                         \
	K(pdata, 0, 0, MPA_PDATA_MAX, "bytes of private data to send")                             \
	K(wait_ms, 30000, 1, 3600000, "the whole may take this long")                              \
	K(quiet, 0, 0, 1, "1 prints only the last line")

struct iwarp_keys {
#define K(name, value, least, greatest, meaning) uint32_t name;
	IWARP_KEYS(K)
#undef K
};

enum { MESSAGE_MAX = 1000, RECEIVES_MAX = 1000 };

#define PS_PER_MS UINT64_C(1000000000)

struct app;

struct connection {
	struct app *app;
	struct connection *next;
	struct iw_cm_id *id;
	unsigned number, sent, came;
	bool over;
	struct iw_timer hold;
	uint8_t buffers[RECEIVES_MAX][MESSAGE_MAX];
};

struct app {
	bool listens;
	struct iw_address to;
	struct iwarp_keys keys;
	struct iw_options opt;
	struct socket_net net;
	struct iw_host host;
	struct iw_cm_id *listener;
	struct connection *connections;
	unsigned count, connected, over, failed, messages;
	uint8_t pdata[MPA_PDATA_MAX];
};

struct key {
	const char *name, *meaning;
	uint32_t value, least, greatest;
	size_t at;
};

static const struct key option_keys[] = {
#define O(name, value, least, greatest, meaning)                                                   \
	{#name, meaning, value, least, greatest, offsetof(struct iw_options, name)},
	IW_OPTIONS(O)
#undef O
};

static const struct key own_keys[] = {
#define K(name, value, least, greatest, meaning)                                                   \
	{#name, meaning, value, least, greatest, offsetof(struct iwarp_keys, name)},
	IWARP_KEYS(K)
#undef K
};

static const struct {
	const char *name, *meaning;
} breaks[] = {
#define B(name, meaning) {#name, meaning},
	IW_BREAKS(B)
#undef B
};

static void keys_print(const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("  %-18s  %-6u  %s\n", keys[i].name, keys[i].value, keys[i].meaning);
}

static enum exit_status help(void)
{
	printf("hcasim iwarp listen PORT [KEY=VALUE...]\n"
	       "hcasim iwarp connect ADDRESS PORT [KEY=VALUE...]\n\n"
	       "One end of iWARP connections over this machine's TCP. Address and port are "
	       "numbers.\nlisten 0 takes any free port and says which.\n\nWhat the program does "
	       "(key, default, meaning):\n");
	keys_print(own_keys, ARRAY_SIZE(own_keys));
	printf("\nConnections:\n");
	keys_print(option_keys, ARRAY_SIZE(option_keys));
	printf("\nRules to break, break=NAME[,NAME...]:\n");
	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++)
		printf("  %-18s  %s\n", breaks[i].name, breaks[i].meaning);
	return EXIT_RIGHT;
}

/* --- words --- */

static bool number_parse(const char *text, uint32_t least, uint32_t greatest, uint32_t *value)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end || *text == '-' || n < least || n > greatest)
		return false;
	*value = (uint32_t)n;
	return true;
}

static bool breaks_parse(struct app *app, const char *text)
{
	while (*text) {
		const size_t n = strcspn(text, ",");
		size_t i = 0;

		while (i < ARRAY_SIZE(breaks) &&
		       (strlen(breaks[i].name) != n || strncmp(breaks[i].name, text, n)))
			i++;
		if (i == ARRAY_SIZE(breaks)) {
			fprintf(stderr,
				"hcasim iwarp: break: unknown rule '%.*s' (hcasim iwarp help)\n",
				(int)n, text);
			return false;
		}
		app->opt.breaks |= UINT64_C(1) << i;
		text += n + (text[n] == ',');
	}
	return true;
}

static const struct key *key_find(const struct key *keys, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(keys[i].name) == len && !strncmp(keys[i].name, word, len))
			return &keys[i];
	return NULL;
}

static bool key_parse(struct app *app, const char *word)
{
	const size_t len = strcspn(word, "=");
	const char *value = word + len + (word[len] == '=');
	const struct key *key = key_find(option_keys, ARRAY_SIZE(option_keys), word, len);
	void *base = &app->opt;

	if (len == 5 && !strncmp(word, "break", len))
		return breaks_parse(app, value);
	if (!key) {
		key = key_find(own_keys, ARRAY_SIZE(own_keys), word, len);
		base = &app->keys;
	}
	if (!key) {
		fprintf(stderr, "hcasim iwarp: unknown key '%.*s' (hcasim iwarp help)\n", (int)len,
			word);
		return false;
	}
	if (number_parse(value, key->least, key->greatest, (uint32_t *)((char *)base + key->at)))
		return true;
	fprintf(stderr, "hcasim iwarp: %s: expected %u to %u, got '%s'\n", key->name, key->least,
		key->greatest, value);
	return false;
}

static bool words_parse(struct app *app, const char *how, const char *const *words, unsigned count)
{
	struct in_addr ip;
	uint32_t port, least;
	unsigned at = 0;

	app->opt = iw_options_default;
	for (size_t i = 0; i < ARRAY_SIZE(own_keys); i++)
		*(uint32_t *)((char *)&app->keys + own_keys[i].at) = own_keys[i].value;
	app->listens = !strcmp(how, "listen");
	if (!app->listens && strcmp(how, "connect")) {
		fprintf(stderr, "hcasim iwarp: expected listen, connect or help, got '%s'\n", how);
		return false;
	}
	if (!app->listens) {
		if (at >= count || !inet_aton(words[at], &ip)) {
			fprintf(stderr,
				"hcasim iwarp connect: expected an IPv4 address, got '%s'\n",
				at < count ? words[at] : "");
			return false;
		}
		app->to.ip = ntohl(ip.s_addr);
		at++;
	}
	least = app->listens ? 0 : 1; /* 0: any free one */
	if (at >= count || !number_parse(words[at], least, 65535, &port)) {
		fprintf(stderr, "hcasim iwarp %s: expected a port, %u to 65535, got '%s'\n", how,
			least, at < count ? words[at] : "");
		return false;
	}
	app->to.port = (uint16_t)port;
	while (++at < count)
		if (!key_parse(app, words[at]))
			return false;
	return true;
}

/* --- connections --- */

static void said(struct iw_host *host, const struct iw_cm_id *id, const char *text)
{
	const struct app *app = container_of(host, struct app, host);
	const struct connection *c = app->connections;

	if (app->keys.quiet)
		return;
	while (c && c->id != id)
		c = c->next;
	printf("%u: %s\n", c ? c->number : 0, text);
	fflush(stdout);
}

/* Sends until so many are sent, or the connection takes no more. */
static void send_up_to(struct connection *c, unsigned messages)
{
	uint8_t message[MESSAGE_MAX];

	while (c->sent < messages) {
		memset(message, 'a' + (int)(c->sent % 26), c->app->keys.size);
		if (iw_post_send(c->id, c->sent, message, c->app->keys.size))
			return;
		c->sent++;
	}
}

static void receives_post(struct connection *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		iw_post_recv(c->id, i, c->buffers[i], MESSAGE_MAX);
}

static void timer_set(struct connection *c, uint64_t due_ps)
{
	c->app->net.net.ops->timer(&c->app->net.net, &c->hold, due_ps);
}

/* The end of a connection: ok, or not. */
static void over(struct connection *c, bool ok)
{
	if (c->over)
		return;
	c->over = true;
	timer_set(c, IW_NEVER);
	c->app->over++;
	c->app->failed += !ok;
}

static void hold_over(void *arg)
{
	struct connection *c = arg;

	iw_disconnect(c->id);
}

/* A connecting end sends. The connection ends when that is done and all has come. */
static void step(struct connection *c)
{
	const unsigned messages = c->app->keys.messages;

	if (!c->app->listens && (!c->app->keys.answer || c->came >= messages))
		send_up_to(c, messages);
	if (c->came < messages || (!c->app->listens && c->sent < messages))
		return;
	if (c->app->keys.hold_ms)
		timer_set(c, c->app->net.net.ops->now_ps(&c->app->net.net) +
				     c->app->keys.hold_ms * PS_PER_MS);
	else
		iw_disconnect(c->id);
}

static void completed(void *arg, struct iw_cm_id *id, const struct iw_completion *done)
{
	struct connection *c = arg;

	if (!done->receive || done->status)
		return;
	c->came++;
	c->app->messages++;
	if (c->app->listens && c->app->keys.echo)
		iw_post_send(id, done->wr_id, c->buffers[done->wr_id], done->len);
	iw_post_recv(id, done->wr_id, c->buffers[done->wr_id], MESSAGE_MAX);
	if (!c->app->listens || c->app->keys.messages)
		step(c);
}

static int connect_one(struct app *app);

static void connection_event(void *arg, const struct iw_event *event)
{
	struct connection *c = arg;

	switch (event->type) {
	case IW_EVENT_CONNECT_REPLY:
		if (c->app->keys.at_once && c->app->count < c->app->keys.connections)
			connect_one(c->app);
		if (event->status) {
			over(c, false);
			break;
		}
		c->app->connected++;
		step(c);
		break;
	case IW_EVENT_ESTABLISHED:
		c->app->connected++;
		break;
	case IW_EVENT_TERMINATE:
		over(c, false);
		break;
	case IW_EVENT_CLOSE:
		over(c, !event->status && c->came >= c->app->keys.messages);
		break;
	default:
		break;
	}
}

static const struct iw_cm_user connection_user = {
	.event = connection_event,
	.completed = completed,
};

static struct connection *connection_new(struct app *app, struct iw_cm_id *id)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->app = app;
	c->id = id;
	c->hold = (struct iw_timer){.fn = hold_over, .arg = c, .due_ps = IW_NEVER};
	c->number = ++app->count;
	c->next = app->connections;
	app->connections = c;
	return c;
}

static int connect_one(struct app *app)
{
	struct connection *c = connection_new(app, NULL);
	int ret = c ? iw_connect(&app->host, app->to, &app->opt, &connection_user, c, app->pdata,
				 (uint16_t)app->keys.pdata, &c->id)
		    : -ENOMEM;

	if (!ret)
		receives_post(c, app->keys.receives);
	else
		fprintf(stderr, "hcasim iwarp: %s\n", strerror(-ret));
	if (ret && c)
		over(c, false);
	return ret;
}

static void listener_event(void *arg, const struct iw_event *event)
{
	struct app *app = arg;
	struct connection *c = connection_new(app, event->id);

	if (!c) {
		iw_destroy(event->id);
		return;
	}
	iw_user_set(event->id, &connection_user, c);
	if (app->keys.reject) {
		iw_reject(c->id, app->pdata, (uint16_t)app->keys.pdata);
		c->id = NULL;
		over(c, true);
		return;
	}
	receives_post(c, app->keys.receives);
	if (iw_accept(c->id, app->pdata, (uint16_t)app->keys.pdata)) {
		over(c, false);
		return;
	}
	send_up_to(c, app->keys.greet);
	if (app->keys.hold_ms && !app->keys.messages)
		step(c);
}

static const struct iw_cm_user listener_user = {.event = listener_event};

static bool begin(struct app *app)
{
	const uint32_t first = app->keys.at_once ? app->keys.at_once : app->keys.connections;
	int ret = 0;

	if (!app->listens) {
		while (!ret && app->count < first && app->count < app->keys.connections)
			ret = connect_one(app);
		return !ret;
	}
	ret = iw_listen(&app->host, app->to.port, &app->opt, &listener_user, app, &app->listener);
	if (ret) {
		fprintf(stderr, "hcasim iwarp: port %u: %s\n", app->to.port, strerror(-ret));
	} else if (!app->to.port) {
		printf("listens on port %u\n", socket_net_port(&app->net));
		fflush(stdout);
	}
	return !ret;
}

static void end(struct app *app)
{
	while (app->connections) {
		struct connection *c = app->connections;

		app->connections = c->next;
		timer_set(c, IW_NEVER);
		if (c->id)
			iw_destroy(c->id);
		free(c);
	}
	if (app->listener)
		iw_destroy(app->listener);
	socket_net_end(&app->net);
}

static enum exit_status serve_all(struct app *app)
{
	const uint64_t began = app->net.net.ops->now_ps(&app->net.net),
		       limit = began + app->keys.wait_ms * PS_PER_MS;
	const unsigned wanted = app->keys.connections;
	bool in_time = true;

	while (in_time && (app->over < wanted || (app->listens && !wanted)) &&
	       socket_net_serve(&app->net, 100))
		in_time = !wanted || app->net.net.ops->now_ps(&app->net.net) < limit;
	printf("connections %u, connected %u, failed %u, messages %u%s\n", app->over,
	       app->connected, app->failed, app->messages, in_time ? "" : ", out of time");
	return !app->failed && in_time ? EXIT_RIGHT : EXIT_FAILED;
}

enum exit_status iwarp_command(const char *how, const char *const *words, unsigned count)
{
	struct app *app;
	enum exit_status status = EXIT_INPUT;

	if (!strcmp(how, "help"))
		return help();
	app = calloc(1, sizeof(*app));
	if (!app)
		return EXIT_FAILED;
	memset(app->pdata, 'p', sizeof(app->pdata));
	socket_net_begin(&app->net);
	app->host = (struct iw_host){.net = &app->net.net, .said = said};
	if (words_parse(app, how, words, count))
		status = begin(app) ? serve_all(app) : EXIT_FAILED;
	end(app);
	free(app);
	return status;
}
