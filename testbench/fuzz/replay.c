/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target without libFuzzer. TARGET FILE... runs the target on each file; TARGET --random N
 * SEED runs it on N random inputs. An input that uses a minute of processor time is a hang. So is
 * one that takes ten minutes of wall time; that limit is longer because the machine may be busy.
 * The last line says how many edges of the firmware all inputs have reached (edges.c).
 */
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* What edges.c notes, in targets that are linked with it. */
extern const uint8_t __start___libfuzzer_extra_counters[] __attribute__((weak));
extern const uint8_t __stop___libfuzzer_extra_counters[] __attribute__((weak));

enum { INPUT_MAX = 1 << 20, RANDOM_MAX = 512, HANG_S = 60, WAIT_S = 600 };

static void run_input(const uint8_t *data, size_t size)
{
	const struct itimerval hang = {.it_value.tv_sec = HANG_S}, none = {.it_value.tv_sec = 0};

	setitimer(ITIMER_PROF, &hang, NULL);
	alarm(WAIT_S);
	fuzz_input(data, size);
	alarm(0);
	setitimer(ITIMER_PROF, &none, NULL);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x * 0x2545f4914f6cdd1d >> 24;
}

static int run_file(const char *path, uint8_t *buf)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		perror(path);
		return 2;
	}
	n = fread(buf, 1, INPUT_MAX, f);
	fclose(f);
	run_input(buf, n);
	printf("ok %s\n", path);
	return 0;
}

static void run_random(unsigned long n, uint64_t seed, uint8_t *buf)
{
	for (unsigned long i = 0; i < n; i++) {
		uint64_t x = (seed + i + 1) * 0x9e3779b97f4a7c15;
		size_t len = next_random(&x) % RANDOM_MAX;
		FILE *f;

		for (size_t k = 0; k < len; k++)
			buf[k] = (uint8_t)(next_random(&x) & next_random(&x) & 7
						   ? next_random(&x)
						   : (next_random(&x) & 1 ? 0 : 0xff));
		if (getenv("FUZZ_KEEP") && (f = fopen(getenv("FUZZ_KEEP"), "wb"))) {
			fwrite(buf, 1, len, f);
			fclose(f);
		}
		run_input(buf, len);
	}
	printf("ok %lu random inputs from %llu\n", n, (unsigned long long)seed);
}

static void print_edges(void)
{
	const uint8_t *at = __start___libfuzzer_extra_counters;
	unsigned edges = 0;

	if (!at)
		return;
	while (at < __stop___libfuzzer_extra_counters)
		edges += *at++ != 0;
	printf("%u edges of the firmware\n", edges);
}

int main(int argc, char **argv)
{
	uint8_t *buf = malloc(INPUT_MAX);
	int rc = 0;

	if (argc == 4 && !strcmp(argv[1], "--random"))
		run_random(strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0), buf);
	else
		for (int i = 1; i < argc && !rc; i++)
			rc = run_file(argv[i], buf);
	if (!rc)
		print_edges();
	free(buf);
	return rc;
}
