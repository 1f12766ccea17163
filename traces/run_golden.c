/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes golden traces. See run_files.h. */
#include <errno.h>
#include <stdlib.h>

#include "traces/run_files_impl.h"
#include "traces/trace_impl.h"

enum { GOLDEN_CHARS = 200 };

static const char golden_head[] = "hcasim golden trace";

static int golden_section(const char *line, unsigned *class, uint8_t *hca, uint32_t *number)
{
	size_t n = strcspn(line + 1, ",]");
	const char *at;
	unsigned c = 0;

	while (c < RUN_CLASS_COUNT &&
	       (strlen(run_class_text(c)) != n || memcmp(run_class_text(c), line + 1, n)))
		c++;
	if (c == RUN_CLASS_COUNT || !strchr(line, ']'))
		return -EINVAL;
	*class = c;
	at = strstr(line, ", hca");
	*hca = at ? (uint8_t)strtoul(at + 5, NULL, 10) : RUN_NO_HCA;
	at = strstr(line, " 0x");
	*number = at ? (uint32_t)strtoul(at + 1, NULL, 16) + 1 : 0;
	return 0;
}

static int golden_item(struct run_files *run, char *line, uint32_t number, unsigned class,
		       uint8_t hca, uint32_t stream)
{
	struct run_item *item = run_item_add(run);
	char *hash;

	if (!item)
		return -ENOMEM;
	item->text = line;
	item->number = number;
	item->class = (uint8_t) class;
	item->hca = hca;
	run_key_make(item, stream);
	hash = strstr(line, "; bytes ");
	if (hash && 1u << class & RUN_PACKETS) {
		item->hash = (uint32_t)strtoul(hash + strlen("; bytes "), NULL, 16);
		item->has_hash = true;
		*hash = 0;
	}
	return 0;
}

static int golden_line(struct run_files *run, char *line, uint32_t number)
{
	static const char classes[] = "classes ", phase[] = "phase ";
	const struct run_item *last = run->count ? &run->items[run->count - 1] : NULL;
	unsigned class;
	uint32_t stream;
	uint8_t hca;

	if (!*line || starts(line, golden_head))
		return 0;
	if (!last && starts(line, classes))
		return (run->classes = run_classes_parse(line + strlen(classes))) ? 0 : -EINVAL;
	if (!last && starts(line, phase)) {
		snprintf(run->phase, sizeof(run->phase), "%s", line + strlen(phase));
		return 0;
	}
	if (*line == '[') {
		if (last && !last->text)
			run->count--;
		if (golden_section(line, &class, &hca, &stream))
			return -EINVAL;
		/* stands for the section until the section's first line comes */
		if (golden_item(run, line, number, class, hca, stream))
			return -ENOMEM;
		run->items[run->count - 1].text = NULL;
		return 0;
	}
	if (!last)
		return -EINVAL;
	class = last->class;
	hca = last->hca;
	stream = (uint32_t)last->key;
	if (!last->text)
		run->count--;
	return golden_item(run, line, number, class, hca, stream);
}

int run_golden_lines(struct run_files *run, FILE *err)
{
	char *rest = run->text, *line;
	uint32_t number = 0;
	int ret = 0;

	run->golden = true;
	if (!starts(rest, golden_head))
		ret = -EINVAL;
	while (!ret && (line = run_line_next(run, &rest)))
		ret = golden_line(run, line, ++number);
	if (!ret && rest < run->end) {
		number++;
		ret = -EINVAL;
	}
	if (run->count && !run->items[run->count - 1].text)
		run->count--;
	if (ret)
		fprintf(err, "%s:%u: %s\n", run->path, number,
			ret == -EINVAL ? "not a golden trace" : strerror(-ret));
	return ret;
}

void run_text_short(const char *text, char *buf, size_t size)
{
	size_t n = strlen(text);

	if (n <= GOLDEN_CHARS)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "%.*s ... all %08x", GOLDEN_CHARS, text,
			 run_bytes_hash((const uint8_t *)text, (uint32_t)n));
}

void run_files_print(const struct run_files *run, uint32_t classes, const char *phase, FILE *out)
{
	const char *separator = "";
	uint64_t key = UINT64_MAX;
	uint32_t *order;
	char name[96], text[RUN_SHORT_CHARS];
	struct trace_text whole = {0};
	size_t n;

	order = run_files_streams(run, classes, phase, &n);
	if (!order)
		return;
	fprintf(out, "%s\nclasses ", golden_head);
	for (unsigned c = 0; c < RUN_CLASS_COUNT; c++)
		if (classes >> c & 1) {
			fprintf(out, "%s%s", separator, run_class_word(c));
			separator = ",";
		}
	fprintf(out, phase ? "\nphase %s\n" : "\n", phase);
	for (size_t i = 0; i < n; i++) {
		const struct run_item *item = &run->items[order[i]];

		if (item->key != key) {
			run_stream_name(item->key, name, sizeof(name));
			fprintf(out, "\n[%s]\n", name);
		}
		key = item->key;
		run_text_short(run_item_text(run, item, &whole), text, sizeof(text));
		fprintf(out, item->has_hash ? "%s; bytes %08x\n" : "%s\n", text, item->hash);
	}
	trace_text_free(&whole);
	free(order);
}
