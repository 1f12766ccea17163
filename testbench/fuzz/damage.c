/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every tool that reads a run's folder on damaged files of a real run. Files are cut at line
 * ends and elsewhere, bits are flipped, lines are doubled, removed and swapped, and numbers are
 * made too large.
 *
 * damage RUN [N] makes N damages of each kind to each file, always the same ones. N 0 makes every
 * possible one.
 *
 * The damages of one file run in a child process, so that a crash does not stop the others. A
 * failure is reported with the file and the damage.
 */
#include "model/interface/macros.h"
#include "testbench/fuzz/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANG_S = 60, EACH_MAX = 20000, NUMBER_MAX = 24 };

struct work {
	const uint8_t *bytes;
	size_t len;
	size_t *lines, line_count; /* offset of each line; one more entry for the end */
	uint8_t *out;
	size_t out_len;
};

/* The current attempt, for the parent to report. */
static struct progress {
	char what[160];
	unsigned done;
} * now;

static uint64_t random_next(uint64_t *x)
{
	*x += 0x9e3779b97f4a7c15;
	*x ^= *x >> 31;
	return *x * 0xbf58476d1ce4e5b9 >> 16;
}

static void out_add(struct work *w, const uint8_t *bytes, size_t n)
{
	if (n)
		memcpy(w->out + w->out_len, bytes, n);
	w->out_len += n;
}

static void out_line(struct work *w, size_t i)
{
	out_add(w, w->bytes + w->lines[i], w->lines[i + 1] - w->lines[i]);
}

static void out_lines(struct work *w, size_t from, size_t to)
{
	if (from < to)
		out_add(w, w->bytes + w->lines[from], w->lines[to] - w->lines[from]);
}

/* --- kinds of damage; at: the place, x: further random bits --- */

static void cut_line(struct work *w, size_t at, uint64_t x)
{
	out_lines(w, 0, at);
}

static void cut(struct work *w, size_t at, uint64_t x)
{
	out_add(w, w->bytes, at);
}

static void cut_in_line(struct work *w, size_t at, uint64_t x)
{
	const size_t begin = w->lines[at], n = w->lines[at + 1] - begin;

	out_add(w, w->bytes, begin + x % n);
}

static void turn_bit(struct work *w, size_t at, uint64_t x)
{
	out_add(w, w->bytes, w->len);
	w->out[at] ^= (uint8_t)(1 << (x & 7));
}

static void set_bytes(struct work *w, size_t at, uint64_t x)
{
	static const uint8_t values[] = {0, 0xff, '\n', ' ', '"', ',', '0', '-'};

	out_add(w, w->bytes, w->len);
	for (size_t i = 0; i < 1 + (x >> 8 & 7) && at + i < w->len; i++)
		w->out[at + i] = values[x & 7];
}

static void double_line(struct work *w, size_t at, uint64_t x)
{
	out_lines(w, 0, at + 1);
	out_line(w, at);
	out_lines(w, at + 1, w->line_count);
}

static void lose_line(struct work *w, size_t at, uint64_t x)
{
	out_lines(w, 0, at);
	out_lines(w, at + 1, w->line_count);
}

static void swap_lines(struct work *w, size_t at, uint64_t x)
{
	size_t a = at, b = x % w->line_count;

	if (a > b) {
		b = at;
		a = x % w->line_count;
	}
	out_lines(w, 0, a);
	out_line(w, b);
	out_lines(w, a + 1, b);
	if (a < b)
		out_line(w, a);
	out_lines(w, b + 1, w->line_count);
}

/* Replaces the number at or after a place by another one, for example one that is too large. */
static void large_number(struct work *w, size_t at, uint64_t x)
{
	static const char *const numbers[] = {
		"18446744073709551616", "0xffffffffffffffff", "-1", "4294967296", "", "0"};
	const char *number = numbers[x % (ARRAY_SIZE(numbers))];
	size_t end;

	while (at < w->len && (w->bytes[at] < '0' || w->bytes[at] > '9'))
		at++;
	for (end = at; end < w->len && w->bytes[end] >= '0' && w->bytes[end] <= '9'; end++)
		;
	out_add(w, w->bytes, at);
	out_add(w, (const uint8_t *)number, strlen(number));
	out_add(w, w->bytes + end, w->len - end);
}

static const struct kind {
	const char *name;
	void (*make)(struct work *w, size_t at, uint64_t x);
	int by_line;
} kinds[] = {
	{"cut at line", cut_line, 1},
	{"cut in line", cut_in_line, 1},
	{"cut at byte", cut, 0},
	{"bit turned in byte", turn_bit, 0},
	{"bytes set from", set_bytes, 0},
	{"doubled line", double_line, 1},
	{"lost line", lose_line, 1},
	{"swapped line", swap_lines, 1},
	{"another number at byte", large_number, 0},
};

/* --- all of them --- */

static void lines_find(struct work *w)
{
	size_t n = 1;

	for (size_t i = 0; i < w->len; i++)
		n += w->bytes[i] == '\n';
	w->lines = malloc((n + 1) * sizeof(*w->lines));
	for (size_t i = 0; i < w->len; i++)
		if (!i || w->bytes[i - 1] == '\n')
			w->lines[w->line_count++] = i;
	w->lines[w->line_count] = w->len;
}

static void try_once(enum folder_file file, const struct kind *k, struct work *w, size_t at,
		     uint64_t x)
{
	const struct itimerval hang = {.it_value.tv_sec = HANG_S}; /* in processor time */

	snprintf(now->what, sizeof(now->what), "%s: %s %zu, random %llu", folder_file_name(file),
		 k->name, at, (unsigned long long)x);
	now->done++;
	w->out_len = 0;
	k->make(w, at, x);
	setitimer(ITIMER_PROF, &hang, NULL);
	folder_try(file, w->out, w->out_len);
}

static void damage_file(enum folder_file file, size_t n)
{
	const struct folder_bytes *real = folder_real(file);
	struct work w = {.bytes = real->bytes, .len = real->len};
	uint64_t seed = file;

	lines_find(&w);
	w.out = malloc(2 * w.len + NUMBER_MAX);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const size_t places = kinds[k].by_line ? w.line_count : w.len;
		const size_t all = places < EACH_MAX ? places : EACH_MAX;

		for (size_t i = 0; i < (n && n < all ? n : all); i++) {
			const uint64_t x = random_next(&seed);

			try_once(file, &kinds[k], &w, n || all < places ? x % places : i, x >> 20);
		}
	}
	free(w.out);
	free(w.lines);
}

/* Runs one file's damages in a child. Returns 0 when it ends normally. */
static int damage_alone(enum folder_file file, size_t n)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* hides what the tools print */
		stderr = fopen("/dev/null", "w");
		damage_file(file, n);
		fflush(NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("damage");
		return 1;
	}
	if (!status)
		return 0;
	printf("FAIL  %s: %s %d\n", now->what, WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 1;
}

int main(int argc, char **argv)
{
	const size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: damage RUN [N]\n");
		return 2;
	}
	now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (now == MAP_FAILED)
		return 2;
	folder_open(argv[1]);
	for (unsigned f = 0; f < FOLDER_FILE_COUNT; f++)
		if (folder_real(f)->len)
			failed += damage_alone(f, n);
	folder_close();
	printf("%u damages tried, %d files failed\n", now->done, failed);
	return failed != 0;
}
