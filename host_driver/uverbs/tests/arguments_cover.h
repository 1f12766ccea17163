/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks which functions of <infiniband/...> arguments_test.c has seen refuse something. Every
 * function that the headers declare must be among them, or in the list of those that have nothing
 * to refuse.
 */
#ifndef HOST_DRIVER_UVERBS_TESTS_ARGUMENTS_COVER_H
#define HOST_DRIVER_UVERBS_TESTS_ARGUMENTS_COVER_H

#include "model/interface/macros.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 256, NAME_MAX_CHARS = 48, LINE_CHARS = 256 };

struct names {
	char name[NAMES_MAX][NAME_MAX_CHARS];
	unsigned n;
};

static const char *const headers[] = {"verbs.h",        "verbs_wr.h",  "verbs_ex.h",
				      "verbs_absent.h", "ofa_verbs.h", "driver.h"};

/* These take any arguments, or cannot report an error. */
static const char *const never_refuse[] = {
	/* no argument that could be wrong */
	"ibv_fork_init", "ibv_is_fork_initialized", "ibv_get_device_index",
	/* their arguments are objects that this library has made */
	"ibv_free_device_list", "ibv_get_device_name", "ibv_get_device_guid", "ibv_close_device",
	"ibv_query_device", "ibv_alloc_pd", "ibv_create_comp_channel", "ibv_destroy_ah",
	"ibv_ack_cq_events", "ibv_ack_async_event", "ibv_cq_ex_to_cq", "ibv_inc_rkey",
	/* reads a register */
	"ibv_query_rt_values_ex",
	/* check nothing: man 3 ibv_req_notify_cq, ibv_poll_cq */
	"ibv_req_notify_cq", "ibv_poll_cq",
	/* read the entry that was taken */
	"ibv_end_poll", "ibv_wc_read_opcode", "ibv_wc_read_vendor_err", "ibv_wc_read_byte_len",
	"ibv_wc_read_imm_data", "ibv_wc_read_invalidated_rkey", "ibv_wc_read_qp_num",
	"ibv_wc_read_src_qp", "ibv_wc_read_wc_flags", "ibv_wc_read_slid", "ibv_wc_read_sl",
	"ibv_wc_read_dlid_path_bits", "ibv_wc_read_completion_ts",
	/* begin and end a list */
	"ibv_wr_start", "ibv_wr_abort",
	/* exists only in these headers */
	"ibv_absent"};

static bool is_in(const struct names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

static void add_name(struct names *names, const char *name, size_t len)
{
	char text[NAME_MAX_CHARS];

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	if (names->n < NAMES_MAX && !is_in(names, text))
		strcpy(names->name[names->n++], text);
}

/* Adds every name of these headers that a parenthesis follows. */
static void names_of_text(struct names *names, const char *text)
{
	for (const char *p = text; *p; p++) {
		size_t len = 0;

		if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
			continue;
		while (isalnum((unsigned char)p[len]) || p[len] == '_')
			len++;
		if (len && p[len] == '(' &&
		    (!strncmp(p, "ibv_", 4) || strstr(p, "_to_ibv_") == p + 4))
			add_name(names, p, len);
	}
}

/* Adds the functions that a header declares: at the beginning of a line, not in a comment, not in a
 * body. */
static bool names_of_header(struct names *names, const char *header)
{
	char path[LINE_CHARS], line[LINE_CHARS];
	bool comment = false;
	FILE *f;

	snprintf(path, sizeof(path), "host_driver/uverbs/include/infiniband/%s", header);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		comment |= !strncmp(line, "/*", 2);
		if (!comment && (isalpha((unsigned char)line[0]) || line[0] == '_'))
			names_of_text(names, line);
		if (strstr(line, "*/"))
			comment = false;
	}
	fclose(f);
	return true;
}

static bool never_refuses(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(never_refuse); i++)
		if (!strcmp(never_refuse[i], name))
			return true;
	return false;
}

/* Prints the functions that are missing, and returns their number. *declared: number of all
 * functions. */
static unsigned uncovered(const struct names *seen, unsigned *declared)
{
	static struct names all;
	unsigned missing = 0;

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (!names_of_header(&all, headers[i])) {
			fprintf(stderr, "%s cannot be read\n", headers[i]);
			missing++;
		}
	for (unsigned i = 0; i < all.n; i++)
		if (!is_in(seen, all.name[i]) && !never_refuses(all.name[i])) {
			fprintf(stderr, "%s: no test with an argument it refuses\n", all.name[i]);
			missing++;
		}
	for (size_t i = 0; i < ARRAY_SIZE(never_refuse); i++)
		if (!is_in(&all, never_refuse[i]) || is_in(seen, never_refuse[i])) {
			fprintf(stderr, "%s: not declared, or refuses all the same\n",
				never_refuse[i]);
			missing++;
		}
	*declared = all.n;
	return missing;
}

#endif
