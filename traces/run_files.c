/* SPDX-License-Identifier: Apache-2.0 */
/* See run_files.h. */
#define _GNU_SOURCE /* qsort_r */
#include "traces/run_files_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/sim/file.h"
#include "traces/decode.h"
#include "traces/pcapng_format.h"
#include "traces/records.h"

enum {
	PATH_CHARS = 4096,
	FNV_OFFSET = 0x811c9dc5,
	FNV_PRIME = 0x01000193,
	KEY_HCA = 32,
	KEY_CLASS = 40
};

static const char *const class_words[] = {
#define C(name, word, text) word,
	RUN_CLASSES(C)
#undef C
};
static const char *const class_texts[] = {
#define C(name, word, text) text,
	RUN_CLASSES(C)
#undef C
};

const char *run_class_text(enum run_class class)
{
	return class_texts[class];
}

const char *run_class_word(enum run_class class)
{
	return class_words[class];
}

uint32_t run_classes_parse(const char *list)
{
	uint32_t classes = 0;

	for (;; list++) {
		size_t n = strcspn(list, ",\n"), i = 0;

		while (i < RUN_CLASS_COUNT &&
		       (strlen(class_words[i]) != n || memcmp(class_words[i], list, n)))
			i++;
		if (i == RUN_CLASS_COUNT)
			return 0;
		classes |= 1u << i;
		list += n;
		if (*list != ',')
			return classes;
	}
}

void run_stream_name(uint64_t key, char *buf, size_t size)
{
	static const char *const numbers[RUN_CLASS_COUNT] = {
		[RUN_OUT] = "qpn",      [RUN_IN] = "qpn",  [RUN_WQE] = "qpn",
		[RUN_REGISTER] = "bar", [RUN_CQE] = "cqn", [RUN_EQE] = "eqn",
	};
	unsigned class = (unsigned)(key >> KEY_CLASS), hca = (uint8_t)(key >> KEY_HCA);
	uint32_t number = (uint32_t)key;
	int n = snprintf(buf, size, "%s", class_texts[class]);

	if (hca != RUN_NO_HCA)
		n += snprintf(buf + n, size - (size_t)n, ", hca%u", hca);
	if (number && numbers[class])
		snprintf(buf + n, size - (size_t)n, ", %s 0x%x", numbers[class], number - 1);
}

/* --- records --- */

static enum run_class class_of(enum trace_point point)
{
	switch (point) {
	case TP_PKT_OUT:
		return RUN_OUT;
	case TP_PKT_IN:
		return RUN_IN;
	case TP_PKT_DISCARD:
		return RUN_DISCARD;
	case TP_CFG_READ:
	case TP_CFG_WRITE:
	case TP_REG_READ:
	case TP_REG_WRITE:
	case TP_IPATH_READ:
	case TP_IPATH_WRITE:
	case TP_RESET:
		return RUN_REGISTER;
	case TP_HCR_POST:
	case TP_HCR_DONE:
		return RUN_COMMAND;
	case TP_WQE_SEND:
	case TP_WQE_RECV:
		return RUN_WQE;
	case TP_CQE_WRITE:
		return RUN_CQE;
	case TP_EQE_WRITE:
		return RUN_EQE;
	case TP_IRQ_RAISE:
	case TP_IRQ_PEND:
		return RUN_IRQ;
	case TP_ETH_OUT:
	case TP_ETH_IN:
		return RUN_ETHERNET;
	case TP_GUEST_ERROR:
		return RUN_GUEST_ERROR;
	case TP_FAULT:
		return RUN_FAULT;
	default:
		return RUN_OTHER;
	}
}

/* The QP that a packet goes to, plus 1; 0: it is not a transport packet. */
static uint32_t packet_stream(const struct trace_record *r)
{
	const struct packet_bytes p = packet_bytes_of(r);
	struct packet_view v;

	return packet_view_make(&v, &p) ? bth_get_dqpn(v.bth) + 1 : 0;
}

/* The number of the record's stream, from 1; 0: its class has only one stream for each HCA. */
static uint32_t stream_number(const struct trace_record *r, bool by_qp)
{
	switch (r->point) {
	case TP_PKT_OUT:
	case TP_PKT_IN:
		return by_qp ? packet_stream(r) : 0;
	case TP_WQE_SEND:
	case TP_WQE_RECV:
		return by_qp ? r->qpn + 1 : 0;
	case TP_REG_READ:
	case TP_REG_WRITE:
		return (uint32_t)r->args[TRACE_ARG(REG_READ, bar)] + 1;
	case TP_CQE_WRITE:
		return (uint32_t)r->args[TRACE_ARG(CQE_WRITE, cqn)] + 1;
	case TP_EQE_WRITE:
		return (uint32_t)r->args[TRACE_ARG(EQE_WRITE, eqn)] + 1;
	default:
		return 0;
	}
}

void run_key_make(struct run_item *item, uint32_t number)
{
	item->key = (uint64_t)item->class << KEY_CLASS | (uint64_t)item->hca << KEY_HCA | number;
}

struct run_item *run_item_add(struct run_files *run)
{
	if (!(run->count & (run->count - 1))) {
		size_t room = run->count ? 2 * run->count : 1;
		struct run_item *more = realloc(run->items, room * sizeof(*more));

		if (!more)
			return NULL;
		run->items = more;
	}
	run->items[run->count] = (struct run_item){.hca = RUN_NO_HCA};
	return &run->items[run->count++];
}

static int phase_begin(struct run_files *run, const char *name, uint64_t time_ps)
{
	if (!(run->phase_count & (run->phase_count - 1))) {
		const size_t room = run->phase_count ? 2 * run->phase_count : 1;
		char **names = realloc(run->phases, room * sizeof(*names));
		uint64_t *begins = names ? realloc(run->phase_ps, room * sizeof(*begins)) : NULL;

		run->phases = names ? names : run->phases;
		if (!begins)
			return -ENOMEM;
		run->phase_ps = begins;
	}
	run->phases[run->phase_count] = strdup(name);
	if (!run->phases[run->phase_count])
		return -ENOMEM;
	run->phase_ps[run->phase_count++] = time_ps;
	return 0;
}

char *run_line_next(const struct run_files *run, char **rest)
{
	char *line = *rest, *end = line + strcspn(line, "\n");

	if (line == run->end || (end < run->end && *end != '\n'))
		return NULL;
	*rest = end + (end < run->end);
	*end = 0;
	return line;
}

static int record_item(struct run_files *run, const struct trace_record *r, size_t place,
		       bool by_qp)
{
	struct run_item *item = run_item_add(run);

	if (!item)
		return -ENOMEM;
	item->time_ps = r->time_ps;
	item->place = place;
	item->number = (uint32_t)run->count;
	item->hca = r->hca;
	item->class = (uint8_t)class_of(r->point);
	if (r->point == TP_PHASE && phase_begin(run, r->text ? r->text : "", r->time_ps))
		return -ENOMEM;
	item->phase = run->phase_count - 1;
	run_key_make(item, stream_number(r, by_qp));
	return 0;
}

static int record_items(struct run_files *run, bool by_qp, FILE *err)
{
	struct trace_record r;
	size_t at = 0, place;
	int ret;

	while ((ret = records_next(run->records, &at, &place, &r)) > 0) {
		ret = record_item(run, &r, place, by_qp);
		if (ret) {
			fprintf(err, "%s: %s\n", run->path, strerror(-ret));
			break;
		}
	}
	return ret;
}

void run_item_record(const struct run_files *run, const struct run_item *item,
		     struct trace_record *r)
{
	records_at(run->records, item->place, r);
	r->time_ps = item->time_ps;
}

const char *run_item_text(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t)
{
	struct trace_record r;

	t->len = 0;
	trace_text_add(t, "%s", item->text ? item->text : "");
	if (!item->text) {
		run_item_record(run, item, &r);
		trace_log_text(t, &r);
	}
	return t->s ? t->s : "";
}

const char *run_item_line(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t)
{
	struct trace_record r;

	t->len = 0;
	run_item_record(run, item, &r);
	trace_log_line(t, &r);
	if (t->len) /* leave out the end of the line */
		t->s[--t->len] = 0;
	return t->s ? t->s : "";
}

uint32_t run_bytes_hash(const uint8_t *bytes, uint32_t len)
{
	uint32_t h = FNV_OFFSET;

	while (len--)
		h = (h ^ *bytes++) * FNV_PRIME;
	return h;
}

/* --- the capture --- */

/* Adds to the packets of the log, in their order, what the capture knows about them. */
static int capture_join(struct run_files *run, const char *path, FILE *err)
{
	struct pcapng_reader *rd;
	struct pcapng_packet pkt;
	uint32_t n = 0;
	size_t at = 0;
	int ret = pcapng_reader_open(&rd, path, err);

	if (ret)
		return ret;
	while ((ret = pcapng_reader_next(rd, &pkt, err)) > 0) {
		while (at < run->count && !(1u << run->items[at].class & RUN_PACKETS))
			at++;
		if (at == run->count)
			break;
		run->items[at].packet = n++;
		run->items[at].hash = run_bytes_hash(pkt.bytes, pkt.len);
		run->items[at++].has_hash = true;
	}
	pcapng_reader_close(rd);
	while (!ret && at < run->count)
		if (1u << run->items[at++].class & RUN_PACKETS)
			ret = 1;
	if (ret > 0)
		fprintf(err, "%s: other packets than in " RECORDS_FILE "\n", path);
	return ret > 0 ? -EINVAL : ret;
}

/* The number that follows "key=" in a comment; 0: there is none. */
static uint64_t comment_number(const char *comment, const char *key)
{
	const char *at = strstr(comment, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static struct trace_record capture_record(const struct pcapng_packet *pkt, char *fault, size_t room)
{
	const char *text = strstr(pkt->comment, "fault=");
	const bool has_wqe = strstr(pkt->comment, "wqe=") != NULL;
	unsigned hca = 0, port = 1;
	struct trace_record r = {
		.time_ps = pkt->time_ps,
		.point = pkt->flags == PCAPNG_INBOUND ? TP_PKT_IN : TP_PKT_OUT,
		.bytes = pkt->bytes,
		.len = pkt->len,
		.text = text ? fault : NULL,
	};

	if (text)
		snprintf(fault, room, "%.*s", (int)strcspn(text + 6, ";"), text + 6);
	r.args[TRACE_ARG(PKT_OUT, known)] =
		(has_wqe ? TRACE_PACKET_WQE : 0) | (pkt->ethernet ? TRACE_PACKET_ETHERNET : 0);
	r.args[TRACE_ARG(PKT_OUT, wqe)] = comment_number(pkt->comment, "wqe=");
	r.args[TRACE_ARG(PKT_OUT, transmission)] = comment_number(pkt->comment, "try=");
	sscanf(pkt->name, "hca%u.port%u", &hca, &port);
	r.hca = (uint8_t)(hca % 10);
	r.port = (uint8_t)port;
	return r;
}

/* A file of records in memory, which grows. */
struct made {
	uint8_t *bytes;
	size_t len, room;
	uint64_t last_ps;
};

static int made_room(struct made *m)
{
	size_t room = m->room ? 2 * m->room : 1 << 16;
	uint8_t *bytes;

	if (m->len + RECORDS_RECORD_MAX <= m->room)
		return 0;
	bytes = realloc(m->bytes, room);
	if (!bytes)
		return -ENOMEM;
	m->bytes = bytes;
	m->room = room;
	return 0;
}

static int made_packet(struct made *m, const struct pcapng_packet *pkt)
{
	char fault[128];
	struct trace_record r = capture_record(pkt, fault, sizeof(fault));

	if (made_room(m))
		return -ENOMEM;
	if (r.time_ps < m->last_ps)
		return -EINVAL;
	m->len += records_put(m->bytes + m->len, &r, r.time_ps - m->last_ps);
	m->last_ps = r.time_ps;
	return 0;
}

/* Makes the records that the packets of a capture would have made. */
static int capture_records(struct run_files *run, const char *path, FILE *err)
{
	struct made m = {NULL, 0, 0, 0};
	struct pcapng_reader *rd;
	struct pcapng_packet pkt;
	int ret = pcapng_reader_open(&rd, path, err);

	if (ret)
		return ret;
	ret = made_room(&m);
	m.len = ret ? 0 : records_put_head(m.bytes);
	while (!ret && (ret = pcapng_reader_next(rd, &pkt, err)) > 0)
		ret = made_packet(&m, &pkt);
	pcapng_reader_close(rd);
	if (ret == -EINVAL && m.last_ps > pkt.time_ps)
		fprintf(err, "%s: its packets are not in the order of time\n", path);
	if (!ret)
		ret = made_room(&m);
	if (ret) {
		free(m.bytes);
		return ret;
	}
	m.len += records_put_end(m.bytes + m.len);
	return records_open(&run->records, m.bytes, m.len, path, err);
}

/* --- files --- */

static int text_read(struct run_files *run, const char *path, FILE *err)
{
	size_t len;
	int ret = file_text(&run->text, &len, path, FILE_REGULAR, SIZE_MAX, err);

	if (!ret)
		run->end = run->text + len;
	return ret;
}

static void path_of(char *buf, const char *dir, const char *file)
{
	snprintf(buf, PATH_CHARS, "%s/%s", dir, file);
}

/* Whether a run's folder has this file. Fails when there is one that cannot be read. */
static int has_file(const char *dir, const char *file, bool *has, FILE *err)
{
	char path[PATH_CHARS];
	FILE *in;
	int ret;

	path_of(path, dir, file);
	*has = !access(path, F_OK) || errno != ENOENT;
	ret = *has ? file_open(&in, path, FILE_REGULAR, err) : 0;
	if (*has && !ret)
		fclose(in);
	return ret;
}

unsigned run_files_sources(const char *path, FILE *err)
{
	bool has_records, has_log, has_capture;
	unsigned sources;
	struct stat st;

	if (stat(path, &st)) {
		fprintf(err, "%s: %s\n", path, strerror(errno));
		return 0;
	}
	if (S_ISREG(st.st_mode))
		return RUN_RECORDS | RUN_CAPTURE;
	if (has_file(path, RECORDS_FILE, &has_records, err) ||
	    has_file(path, "run.log", &has_log, err) ||
	    has_file(path, "packets.pcapng", &has_capture, err))
		return 0;
	if (has_log && !has_records) {
		fprintf(err,
			"%s: has run.log but no " RECORDS_FILE
			", which tools read: run it again, with records in --trace\n",
			path);
		return 0;
	}
	sources = (has_records ? RUN_RECORDS : 0) | (has_capture ? RUN_CAPTURE : 0);
	if (!sources)
		fprintf(err, "%s: has neither " RECORDS_FILE " nor packets.pcapng\n", path);
	return sources;
}

static int folder_read(struct run_files *run, unsigned sources, bool by_qp, FILE *err)
{
	char records[PATH_CHARS], capture[PATH_CHARS];
	int ret;

	path_of(records, run->path, RECORDS_FILE);
	path_of(capture, run->path, "packets.pcapng");
	ret = sources & RUN_RECORDS ? records_load(&run->records, records, err)
				    : capture_records(run, capture, err);
	if (!ret)
		ret = record_items(run, by_qp, err);
	if (!ret && sources & RUN_CAPTURE)
		ret = capture_join(run, capture, err);
	return ret;
}

int run_files_read(struct run_files *run, const char *path, unsigned sources, bool by_qp, FILE *err)
{
	struct stat st;
	int ret;

	*run = (struct run_files){.path = strdup(path)};
	if (!run->path || phase_begin(run, "", 0))
		ret = -ENOMEM;
	else if (stat(path, &st))
		ret = -errno;
	else if (S_ISREG(st.st_mode))
		ret = text_read(run, path, err) ? -EIO : run_golden_lines(run, err);
	else
		ret = folder_read(run, sources, by_qp, err);
	if (ret)
		run_files_free(run);
	return ret;
}

void run_files_free(struct run_files *run)
{
	for (unsigned i = 0; i < run->phase_count; i++)
		free(run->phases[i]);
	records_close(run->records);
	free(run->items);
	free(run->phases);
	free(run->phase_ps);
	free(run->text);
	free(run->path);
	*run = (struct run_files){0};
}

/* --- streams --- */

static int by_stream(const void *a, const void *b, void *items)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct run_item *i = (const struct run_item *)items + x,
			      *j = (const struct run_item *)items + y;

	return i->key != j->key ? (i->key < j->key ? -1 : 1) : x < y ? -1 : x > y;
}

/* Whether both are reads of the same register. A golden trace has only the last of such reads. */
static bool is_poll(const struct run_files *run, const struct run_item *i, const struct run_item *j)
{
	struct trace_record a, b;

	if (run->golden || i->class != RUN_REGISTER || i->key != j->key)
		return false;
	run_item_record(run, i, &a);
	run_item_record(run, j, &b);
	return a.point == b.point && (a.point == TP_REG_READ || a.point == TP_CFG_READ) &&
	       a.args[TRACE_ARG(REG_READ, bar)] == b.args[TRACE_ARG(REG_READ, bar)] &&
	       a.args[TRACE_ARG(REG_READ, offset)] == b.args[TRACE_ARG(REG_READ, offset)];
}

uint32_t *run_files_streams(const struct run_files *run, uint32_t classes, const char *phase,
			    size_t *count)
{
	uint32_t *order = malloc((run->count + 1) * sizeof(*order));
	size_t n = 0, kept = 0;

	if (!order)
		return NULL;
	for (size_t i = 0; i < run->count; i++)
		if (classes >> run->items[i].class & 1 &&
		    (!phase || run->golden || !strcmp(phase, run->phases[run->items[i].phase])))
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_stream, run->items);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !is_poll(run, &run->items[order[i]], &run->items[order[i + 1]]))
			order[kept++] = order[i];
	*count = kept;
	return order;
}
