/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testbench/perf/plot.h"
#include "testbench/perf/points.h"
#include "testbench/perf/report.h"
#include "testbench/perf/workloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct loaded {
	struct perf_points points;
	int rc;
	char path[64];
	char *message;
};

static void load(struct loaded *l, const char *text)
{
	size_t size;
	FILE *err = open_memstream(&l->message, &size);
	int fd;

	strcpy(l->path, "/tmp/points_testXXXXXX");
	fd = mkstemp(l->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	l->rc = perf_points_load(&l->points, l->path, err);
	fclose(err);
	unlink(l->path);
}

static void drop(struct loaded *l)
{
	if (!l->rc)
		perf_points_free(&l->points);
	free(l->message);
}

static void row_is_read(void **state)
{
	const struct perf_point *p;
	struct loaded l;

	load(&l, "id,profile,workload,params,value,unit,source\n"
		 "# a comment\n"
		 "Z1,cx3_qdr,write_lat,size=64;inline=220;mtu=2048,1.09,us,\"a, b \"\"c\"\"\"\n"
		 "Z2,x,out_rate,op=fetch_add;transport=uc;qps=3;hca.link.delay=1us;min_rnr_timer=0,"
		 "2,Mops,s\n");
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.points.count, 2);
	p = &l.points.points[0];
	assert_string_equal(p->id, "Z1");
	assert_string_equal(p->profile, "cx3_qdr");
	assert_string_equal(p->workload->name, "write_lat");
	assert_string_equal(p->params_text, "size=64;inline=220;mtu=2048");
	assert_string_equal(p->source, "a, b \"c\"");
	assert_int_equal(p->params.size, 64);
	assert_int_equal(p->params.inlined, 220);
	assert_int_equal(p->params.mtu, 2048);
	assert_int_equal(p->params.transport, IBV_QPT_RC);
	assert_false(p->params.has_min_rnr_timer);
	assert_int_equal(p->line, 3);
	assert_true(p->published > 1.08999 && p->published < 1.09001);
	p = &l.points.points[1];
	assert_int_equal(p->params.op, PERF_FETCH_ADD);
	assert_int_equal(p->params.transport, IBV_QPT_UC);
	assert_int_equal(p->params.qps, 3);
	assert_true(p->params.has_min_rnr_timer);
	assert_int_equal(p->params.setting_count, 1);
	assert_string_equal(p->params.settings[0], "hca.link.delay=1us");
	drop(&l);
}

/* The row is refused with one line that begins with FILE:LINE and names what is wrong. */
static void refused(const char *row, const char *named)
{
	char text[256], place[128];
	struct loaded l;

	snprintf(text, sizeof(text), "id,profile,workload,params,value,unit,source\n%s\n", row);
	load(&l, text);
	assert_int_not_equal(l.rc, 0);
	snprintf(place, sizeof(place), "%s:2: ", l.path);
	assert_ptr_equal(strstr(l.message, place), l.message);
	assert_non_null(strstr(l.message, named));
	assert_ptr_equal(strchr(l.message, '\n'), l.message + strlen(l.message) - 1);
	drop(&l);
}

static void wrong_rows_are_named(void **state)
{
	refused("A,p,write_lat,size=64,1,us", "7 fields");
	refused("A,p,write_lat,size=64,1,us,s,t", "more");
	refused("A,p,write_late,size=64,1,us,s", "no workload 'write_late'");
	refused("A,p,write_lat,sise=64,1,us,s", "no parameter 'sise'");
	refused("A,p,write_lat,size,1,us,s", "key=value");
	refused("A,p,write_lat,size=x,1,us,s", "'x'");
	refused("A,p,write_lat,size=-1,1,us,s", "'-1'");
	refused("A,p,write_lat,size=0,1,us,s", "size");
	refused("A,p,write_lat,size=64,fast,us,s", "'fast'");
	refused("A,p,write_lat,size=64,0,us,s", "above 0");
	refused("A,p,write_lat,size=64,1,Mops,s", "'Mops'");
	refused("A,p,out_rate,op=push,1,Mops,s", "'push'");
	refused("A,p,out_rate,transport=tcp,1,Mops,s", "'tcp'");
	refused("A,p,write_lat,mtu=1000,1,us,s", "mtu");
	refused("A,p,out_rate,threads=65,1,Mops,s", "64 threads");
	refused("A,p,write_lat,size=64,1,us,\"s", "quote");
	refused(",p,write_lat,size=64,1,us,s", "id");
	refused("A,p,ack_timeout,timeout=32,1,ms,s", "31");
}

static void words_ask_for_combinations(void **state)
{
	static const char *const words[] = {"size=2,64", "hca.link.delay=1us,2us,3us"};
	struct perf_points points;
	FILE *err = tmpfile();

	assert_int_equal(perf_points_ask(&points, "write_bw", words, 2, err), 0);
	assert_int_equal(points.count, 6);
	assert_string_equal(points.points[0].id, "size=2;hca.link.delay=1us");
	assert_string_equal(points.points[5].id, "size=64;hca.link.delay=3us");
	assert_int_equal(points.points[5].params.size, 64);
	assert_string_equal(points.points[5].params.settings[0], "hca.link.delay=3us");
	assert_string_equal(points.points[5].unit, "MiB/s");
	assert_true(isnan(points.points[5].published));
	perf_points_free(&points);
	assert_int_not_equal(perf_points_ask(&points, "write_bw", (const char *[]){"size"}, 1, err),
			     0);
	assert_int_not_equal(perf_points_ask(&points, "write_b", NULL, 0, err), 0);
	fclose(err);
}

static void no_points_is_wrong(void **state)
{
	struct loaded l;

	load(&l, "id,profile,workload,params,value,unit,source\n");
	assert_int_not_equal(l.rc, 0);
	assert_non_null(strstr(l.message, "no points"));
	drop(&l);
}

static void units_are_converted(void **state)
{
	const struct perf_workload *time = perf_workload_find("rnr_delay"),
				   *bytes = perf_workload_find("read_bw");

	assert_true(perf_unit_factor(time, "ms") == 1e-3);
	assert_true(perf_unit_factor(time, "MiB/s") == 0);
	assert_true(perf_unit_factor(bytes, "MiB/s") == 1);
	/* 1 GB/s is 10^9 bytes a second, or 953.67 MiB/s */
	assert_true(953.67 * perf_unit_factor(bytes, "GB/s") > 0.9999 &&
		    953.67 * perf_unit_factor(bytes, "GB/s") < 1.0001);
}

static void errors_and_means(void **state)
{
	struct perf_result r[3] = {{.valid = true, .simulated = 11},
				   {.valid = true, .simulated = 15},
				   {.valid = false}};
	struct perf_results results = {r, 3};
	struct loaded l;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	load(&l, "L1,p,write_lat,size=1,10,us,s\nL2,p,write_lat,size=2,20,us,s\nQ3,p,sym_read_rate,"
		 "qps=1,1,Mops,s\n");
	assert_int_equal(l.rc, 0);
	for (unsigned i = 0; i < 3; i++)
		r[i].point = &l.points.points[i];
	perf_means_print(&results, out);
	perf_csv_write(&results, out);
	fclose(out);
	/* errors of +10 % and -25 % */
	assert_non_null(strstr(text, "latency          17.5 %  of 2 points, aim 10 %, MISSED\n"));
	assert_non_null(strstr(text, "QP/MR scaling  (1 failed)"));
	assert_non_null(strstr(text, "id,workload,published,simulated,unit,error_percent\n"
				     "L1,write_lat,10,11,us,10.00\nL2,write_lat,20,15,us,-25.00\n"
				     "Q3,sym_read_rate,1,,Mops,\n"));
	free(text);
	drop(&l);
}

static void curves_join_what_differs_in_size(void **state)
{
	struct perf_result r[3] = {{.valid = true, .simulated = 11},
				   {.valid = true, .simulated = 15},
				   {.valid = true, .simulated = 3}};
	struct perf_results results = {r, 3};
	struct loaded l;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	load(&l, "L1,p,write_lat,size=8;mtu=256,10,us,s\nL2,p,write_lat,size=16;mtu=256,20,us,s\n"
		 "L3,p,read_lat,size=16,20,us,s\n");
	assert_int_equal(l.rc, 0);
	for (unsigned i = 0; i < 3; i++)
		r[i].point = &l.points.points[i];
	assert_string_equal(perf_plot_name(0), "latency_by_size");
	assert_true(perf_plot_program(&results, 0, "x.svg", out));
	fclose(out);
	assert_non_null(strstr(text, "8 10 11\n16 20 15\nEND"));
	assert_non_null(strstr(text, "title \"p write_lat mtu=256\""));
	/* a single point makes no curve */
	assert_null(strstr(text, "read_lat"));
	free(text);
	drop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_is_read),
		cmocka_unit_test(wrong_rows_are_named),
		cmocka_unit_test(words_ask_for_combinations),
		cmocka_unit_test(no_points_is_wrong),
		cmocka_unit_test(units_are_converted),
		cmocka_unit_test(errors_and_means),
		cmocka_unit_test(curves_join_what_differs_in_size),
	};

	return cmocka_run_group_tests_name("perf points", tests, NULL, NULL);
}
