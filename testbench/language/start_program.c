/* SPDX-License-Identifier: Apache-2.0 */
/* The verb that runs an unchanged program as a process. See process.h. */
#define POSIX_NO_NAMES
#include "testbench/language/tb.h"
#include "testbench/machine/posix.h"
#include "testbench/os/compile.h"
#include "testbench/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_CHARS = 1024, WORDS_MAX = 32, PATH_CHARS = 512 };

/* The main function of the process. It passes a copy of the arguments, which the program may change. */
static int run_program(void *arg)
{
	const struct tb_program *program = arg;
	int argc = 0, rc;
	char **argv;

	while (program->argv[argc])
		argc++;
	argv = posix_calloc((size_t)argc + 1, sizeof(*argv));
	if (!argv)
		return EXIT_FAILURE;
	for (int i = 0; i < argc; i++) {
		argv[i] = posix_malloc(strlen(program->argv[i]) + 1);
		if (!argv[i])
			return EXIT_FAILURE;
		strcpy(argv[i], program->argv[i]);
	}
	/* make getopt() start again, as in a new process */
	optind = 0;
	rc = program->main(argc, argv);
	fflush(stdout);
	return rc;
}

/* Each start compiles the program again, so that every process has its own variables and its own
 * functions, whatever their names. */
static int build(const char *text, void **so)
{
	char words_text[BUILD_CHARS], found[WORDS_MAX][PATH_CHARS], *rest;
	const char *words[WORDS_MAX] = {"-w", "-Wl,-Bsymbolic", "-include",
					"testbench/machine/posix.h"};
	size_t n = 4;

	if (strlen(text) >= sizeof(words_text))
		return -E2BIG;
	strcpy(words_text, text);
	for (char *w = strtok_r(words_text, " ", &rest); w; w = strtok_r(NULL, " ", &rest), n++) {
		const char *path;

		if (n == WORDS_MAX)
			return -E2BIG;
		path = *w == '-' ? w : compile_find(w, found[n], sizeof(found[n]));
		words[n] = path ? path : w;
	}
	return compile_and_load(text, words, n, so, stderr);
}

struct process *tb_start_program(struct tb *tb, const char *here, struct tb_end *end,
				 struct tb_program *program)
{
	void *so;

	if (!tb_go(tb, here))
		return NULL;
	if (!tb_must(tb, here, "a program that compiles", build(program->argv[0], &so), 0))
		return NULL;
	*(void **)&program->main = dlsym(so, "program_main");
	if (!tb_must(tb, here, "a program with main()", program->main ? 0 : -ENOENT, 0))
		return NULL;
	return tb_start_process(tb, here, end, program->argv[0], run_program, program);
}
