/* SPDX-License-Identifier: Apache-2.0 */
/* Reads configs/, so it must run from the root of the tree. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/sim/cfg.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_atomic_read.h"
#include "model/sim/params/hca_context_cache.h"
#include "model/sim/params/hca_cqe_write.h"
#include "model/sim/params/hca_crc.h"
#include "model/sim/params/hca_doorbell.h"
#include "model/sim/params/hca_ethernet.h"
#include "model/sim/params/hca_event_queue.h"
#include "model/sim/params/hca_fw.h"
#include "model/sim/params/hca_interrupt.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_packet.h"
#include "model/sim/params/hca_pcie.h"
#include "model/sim/params/hca_port1.h"
#include "model/sim/params/hca_port2.h"
#include "model/sim/params/hca_requester.h"
#include "model/sim/params/hca_responder.h"
#include "model/sim/params/hca_retry.h"
#include "model/sim/params/hca_scheduler.h"
#include "model/sim/params/hca_srq.h"
#include "model/sim/params/hca_translate.h"
#include "model/sim/params/hca_wqe_fetch.h"
#include "model/sim/params/host.h"
#include "model/sim/params/host_pcie.h"
#include "model/sim/params/sim.h"
#include "model/sim/params/sim_ethernet.h"
#include "model/sim/params/sim_many.h"
#include "model/sim/params/sim_pcapng.h"
#include "model/sim/params/sim_perf.h"
#include "model/sim/params/sim_soak.h"

static char said[1024];

/* Gives every parameter a value that no file can have set. */
static void fill_with_noise(struct config *cfg)
{
	const uint64_t noise = UINT64_C(0xa5a5a5a5a5a5a5a5);

	cfg_defaults(cfg); /* sets the padding to 0 */
#define HCA(section, key, ...)  cfg->hca[0].section##_##key = cfg->hca[1].section##_##key = noise;
#define HOST(section, key, ...) cfg->host[0].section##_##key = cfg->host[1].section##_##key = noise;
#define SIM(section, key, ...)  cfg->sim.section##_##key = noise;
	HCA_PARAMS(HCA)
	HOST_PARAMS(HOST)
	SIM_PARAMS(SIM)
#undef HCA
#undef HOST
#undef SIM
}

/* Loads text as a file. In messages the file's name becomes F. */
static int load(struct config *cfg, const char *text, size_t length)
{
	char path[] = "/tmp/hcasim_cfg_XXXXXX", *at;
	FILE *err = fmemopen(said, sizeof(said), "w");
	int fd = mkstemp(path), rc;

	assert_non_null(err);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
	memset(said, 0, sizeof(said));
	rc = cfg_load_ini(cfg, path, err);
	fclose(err);
	unlink(path);
	at = strstr(said, path);
	if (at)
		memmove(at + 1, at + strlen(path), strlen(at + strlen(path)) + 1), *at = 'F';
	return rc;
}

static void loads(struct config *cfg, const char *text)
{
	if (load(cfg, text, strlen(text)))
		fail_msg("refused: %s", said);
	assert_string_equal(said, "");
}

static void refuses(const char *text, const char *message)
{
	struct config cfg, before;

	cfg_defaults(&cfg);
	before = cfg;
	assert_int_equal(load(&cfg, text, strlen(text)), -EINVAL);
	assert_string_equal(said, message);
	assert_memory_equal(&cfg, &before, sizeof(cfg));
}

static int set(struct config *cfg, const char *setting)
{
	FILE *err = fmemopen(said, sizeof(said), "w");
	int rc;

	assert_non_null(err);
	memset(said, 0, sizeof(said));
	rc = cfg_set(cfg, setting, "-s", err);
	fclose(err);
	return rc;
}

static void set_refuses(const char *setting, const char *message)
{
	struct config cfg, before;

	cfg_defaults(&cfg);
	before = cfg;
	assert_int_equal(set(&cfg, setting), -EINVAL);
	assert_string_equal(said, message);
	assert_memory_equal(&cfg, &before, sizeof(cfg));
}

static void defaults(void **state)
{
	struct config cfg;
	unsigned int n;

	memset(&cfg, 0x5a, sizeof(cfg));
	cfg_defaults(&cfg);
	for (n = 0; n < CFG_HCAS; n++) {
		assert_int_equal(cfg.hca[n].pcie_mps, 256);
		assert_int_equal(cfg.hca[n].link_delay, 10000);
		assert_int_equal(cfg.hca[n].link_speed, CFG_SPEED_FDR);
		assert_int_equal(cfg.hca[n].fw_clock, 250000000);
	}
	for (n = 0; n < CFG_HOSTS; n++)
		assert_int_equal(cfg.host[n].host_interrupt_latency, 1500000);
	assert_int_equal(cfg.sim.sim_run_ahead, 1);
}

/* Every default must be a legal value: saved and read back, no row is refused. */
static void saves_and_loads(void **state)
{
	struct config cfg, back;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	cfg_defaults(&cfg);
	assert_int_equal(set(&cfg, "hca1.link.delay=1ps"), 0);
	assert_int_equal(set(&cfg, "hca0.link.speed=NDR"), 0);
	assert_int_equal(set(&cfg, "hca.link.width=12x"), 0);
	assert_int_equal(set(&cfg, "host1.memory=123456789B"), 0);
	assert_int_equal(set(&cfg, "sim.seed=18446744073709551615"), 0);
	assert_int_equal(set(&cfg, "hca0.node_guid=0x0123456789abcdef"), 0);
	assert_int_equal(cfg_save(&cfg, out), 0);
	fclose(out);
	fill_with_noise(&back);
	loads(&back, text);
	assert_memory_equal(&back, &cfg, sizeof(cfg));
	free(text);
}

static void file_equals(const char *path, const struct config *cfg)
{
	char *want = NULL, *got;
	size_t length;
	FILE *out = open_memstream(&want, &length), *in = fopen(path, "r");

	assert_non_null(in);
	assert_int_equal(cfg_save(cfg, out), 0);
	fclose(out);
	got = calloc(1, length + 2);
	assert_int_equal(fread(got, 1, length + 1, in), length);
	assert_string_equal(got, want);
	fclose(in);
	free(got);
	free(want);
}

/* If this fails after a change of rows: see the head of params.h. */
static void files_of_the_tree(void **state)
{
	struct config cfg, want;

	cfg_defaults(&want);
	fill_with_noise(&cfg);
	assert_int_equal(cfg_load_ini(&cfg, "configs/default.ini", stderr), 0);
	assert_memory_equal(&cfg, &want, sizeof(cfg));
	file_equals("configs/default.ini", &want);
	cfg_make_ideal(&want);
	assert_int_equal(want.hca[1].link_delay, 0);
	assert_int_equal(want.host[1].pcie_read_latency, 0);
	assert_int_equal(want.hca[0].link_hoq_life, 16777000000);
	fill_with_noise(&cfg);
	assert_int_equal(cfg_load_ini(&cfg, "configs/ideal.ini", stderr), 0);
	assert_memory_equal(&cfg, &want, sizeof(cfg));
	file_equals("configs/ideal.ini", &want);
}

static void scopes(void **state)
{
	struct config cfg;

	cfg_defaults(&cfg);
	loads(&cfg, "[hca1.link]\ndelay = 3ns\n[hca.link]\ndelay = 2ns\nmtu = 2KiB\n"
		    "[hca0]\nports=2\n[host1]\nmemory = 1GiB\n[sim]\nseed = 9\n");
	assert_int_equal(cfg.hca[0].link_delay, 2000);
	assert_int_equal(cfg.hca[1].link_delay, 3000);
	assert_int_equal(cfg.hca[0].link_mtu, 2048);
	assert_int_equal(cfg.hca[1].link_mtu, 2048);
	assert_int_equal(cfg.hca[0].hca_ports, 2);
	assert_int_equal(cfg.hca[1].hca_ports, 1);
	assert_int_equal(cfg.host[0].host_memory, CFG_GIB(8));
	assert_int_equal(cfg.host[1].host_memory, CFG_GIB(1));
	assert_int_equal(cfg.sim.sim_seed, 9);
	assert_int_equal(set(&cfg, "hca.link.delay=7ns"), 0);
	assert_int_equal(cfg.hca[1].link_delay, 7000);
	assert_int_equal(set(&cfg, "hca1.link.delay = 8ns"), -EINVAL);
	assert_int_equal(set(&cfg, "hca1.link.delay=8ns"), 0);
	assert_int_equal(cfg.hca[0].link_delay, 7000);
	assert_int_equal(cfg.hca[1].link_delay, 8000);
	assert_int_equal(set(&cfg, "host0.pcie.read_latency= 8 ns"), 0);
	assert_int_equal(cfg.host[0].pcie_read_latency, 8000);
	assert_int_equal(cfg.host[1].pcie_read_latency, 300000);
}

static void layout_of_files(void **state)
{
	struct config cfg;

	cfg_defaults(&cfg);
	loads(&cfg, "");
	loads(&cfg, "# a comment\n\n; another = one\r\n[hca.link] # why\r\n"
		    "  delay = 4ns ; here\r\n\tmtu=256B#\n\tgap = 4B");
	assert_int_equal(cfg.hca[0].link_delay, 4000);
	assert_int_equal(cfg.hca[0].link_mtu, 256);
	assert_int_equal(cfg.hca[0].link_gap, 4);
}

static void bad_files(void **state)
{
	refuses("[hca.link]\n\ndely = 1ns\n",
		"F:3: hca.link.dely: expected a known key, got 'dely'; did you mean 'delay'?\n");
	refuses("[hca.link]\nbananas = 1ns\n",
		"F:2: hca.link.bananas: expected a known key, got 'bananas'; hcasim config names "
		"all\n");
	refuses("# x\n[hca.lnk]\n",
		"F:2: hca.lnk: expected a known section, got 'hca.lnk'; did you mean "
		"'hca.link'?\n");
	refuses("[hca2.link]\n", "F:1: hca2.link: expected a known section, got 'hca2.link'; "
				 "did you mean 'hca.link'?\n");
	refuses("[hca.link]\ndelay = 10\n",
		"F:2: hca.link.delay: expected a time with its unit (ps, ns, us, ms, s), got "
		"'10'\n");
	refuses("[hca.link]\ndelay = \n",
		"F:2: hca.link.delay: expected a time with its unit (ps, ns, us, ms, s), got "
		"''\n");
	refuses("[hca1.link]\ndelay = 3s\n",
		"F:2: hca1.link.delay: expected 0ps to 1ms, got '3s'\n");
	refuses("[hca.link]\nmtu = 8KiB\n",
		"F:2: hca.link.mtu: expected 256B to 4KiB, got '8KiB'\n");
	refuses("[hca.link]\ndelay = 1ns\nmtu = 256B\n[sim]\n[hca.link]\ndelay = 1ns\n",
		"F:6: hca.link.delay: expected once in a file, got it again after line 2\n");
	refuses("seed = 1\n", "F:1: seed: expected a [section] before it, got none\n");
	refuses("[sim]\nseed\n", "F:2: expected [section] or key = value, got 'seed'\n");
	refuses("[sim\nseed = 1\n", "F:1: expected [section] or key = value, got '[sim'\n");
	refuses("[sim] seed = 1\n",
		"F:1: expected [section] or key = value, got '[sim] seed = 1'\n");
	refuses("[sim0]\nseed = 1\n",
		"F:1: sim0: expected a known section, got 'sim0'; did you mean 'sim'?\n");
	refuses("[sim]\n= 1\n",
		"F:2: sim.: expected a known key, got ''; hcasim config names all\n");
	/* the lines before the mistake are right, but must have no effect */
	refuses("[sim]\nseed = 5\nrun_ahead = maybe\n",
		"F:3: sim.run_ahead: expected true, false, on, off, 1 or 0, got 'maybe'\n");
}

static void bad_bytes(void **state)
{
	char text[1000];
	struct config cfg;

	cfg_defaults(&cfg);
	assert_int_equal(load(&cfg, "[sim]\nse\0ed = 1\n", 16), -EINVAL);
	assert_string_equal(said, "F:2: expected text, got a zero byte\n");
	memset(text, 'x', sizeof(text));
	memcpy(text, "[sim]\nseed=", 11);
	assert_int_equal(load(&cfg, text, sizeof(text)), -EINVAL);
	assert_memory_equal(said, "F:2: ", 5);
	memset(text, '[', sizeof(text));
	assert_int_equal(load(&cfg, text, sizeof(text)), -EINVAL);
	assert_memory_equal(said, "F:1: ", 5);
	memset(text + 1, 0xff, sizeof(text) - 1);
	text[900] = ']';
	assert_int_equal(load(&cfg, text, sizeof(text)), -EINVAL);
	assert_memory_equal(said, "F:1: ", 5);
}

static void unreadable_files(void **state)
{
	struct config cfg;
	FILE *err = fmemopen(said, sizeof(said), "w");

	cfg_defaults(&cfg);
	memset(said, 0, sizeof(said));
	assert_int_equal(cfg_load_ini(&cfg, "/no/such.ini", err), -ENOENT);
	assert_int_equal(cfg_load_ini(&cfg, "/", err), -EISDIR);
	fclose(err);
	assert_string_equal(said, "/no/such.ini: No such file or directory\n/: Is a directory\n");
	assert_int_equal(cfg_load_ini(&cfg, "/no/such.ini", NULL), -ENOENT);
}

static void bad_settings(void **state)
{
	set_refuses("hca0.link.dlay=1us", "-s: hca0.link.dlay: expected a known key, got 'dlay'; "
					  "did you mean 'delay'?\n");
	set_refuses("hcb.link.delay=1us", "-s: hcb.link: expected a known section, got "
					  "'hcb.link'; did you mean 'hca.link'?\n");
	set_refuses("hca0.link.delay", "-s: expected section.key=value, got 'hca0.link.delay'\n");
	set_refuses("link.delay=1us", "-s: link: expected a known section, got 'link'; did you "
				      "mean 'hca.link'?\n");
	set_refuses("delay=1us", "-s: expected section.key=value, got 'delay=1us'; did you mean "
				 "'hca.link.delay'?\n");
	set_refuses("bananas", "-s: expected section.key=value, got 'bananas'\n");
	set_refuses("", "-s: expected section.key=value, got ''\n");
	set_refuses("sim.seed=-1", "-s: sim.seed: expected a whole number, got '-1'\n");
	set_refuses("hca.ports=3", "-s: hca.ports: expected 1 to 2, got '3'\n");
	set_refuses("hca.pcie.lanes=3", "-s: hca.pcie.lanes: expected a power of two, got '3'\n");
}

static void very_long_setting(void **state)
{
	char text[4000];
	struct config cfg;

	cfg_defaults(&cfg);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_int_equal(set(&cfg, text), -EINVAL);
	text[3000] = '=';
	text[100] = '.';
	assert_int_equal(set(&cfg, text), -EINVAL);
	text[80] = '=';
	text[40] = '.';
	assert_int_equal(set(&cfg, text), -EINVAL);
}

static void prints_all_rows(void **state)
{
	char *text = NULL;
	size_t length, lines = 0, i, rows;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(cfg_print_rows(out), 0);
	fclose(out);
	for (i = 0; i < length; i++)
		lines += text[i] == '\n';
#define ONE(...) +1
	rows = SIM_PARAMS(ONE) HCA_PARAMS(ONE) HOST_PARAMS(ONE);
#undef ONE
	assert_int_equal(lines, rows);
	assert_non_null(strstr(text, "hca.link"));
	assert_non_null(strstr(text, "(derived: two metres at 5 ns a metre)"));
	free(text);
}

static void node_guids_differ(void **state)
{
	struct config cfg;

	cfg_defaults(&cfg);
	assert_int_equal(cfg_node_guid(&cfg.hca[0], 0), 0x0002c90300a00000);
	assert_int_equal(cfg_node_guid(&cfg.hca[1], 1), 0x0002c90300a00010);
	cfg.hca[1].hca_node_guid = 5;
	assert_int_equal(cfg_node_guid(&cfg.hca[1], 1), 5);
}

/* Each parameter's function reads the member that was written. */
static void functions_read_members(void **state)
{
	struct config cfg;
	uint64_t n = 0;

	memset(&cfg, 0, sizeof(cfg));
#define CHECK(function, member) (member) = ++n, assert_int_equal(function, n);
#define HCA(section, key, ...)                                                                     \
	CHECK(param_##section##_##key(&cfg.hca[0]), cfg.hca[0].section##_##key)
#define HOST(section, key, ...)                                                                    \
	CHECK(host_param_##section##_##key(&cfg.host[1]), cfg.host[1].section##_##key)
#define SIM(section, key, ...) CHECK(sim_param_##section##_##key(&cfg.sim), cfg.sim.section##_##key)
	HCA_PARAMS(HCA)
	HOST_PARAMS(HOST)
	SIM_PARAMS(SIM)
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(saves_and_loads),
		cmocka_unit_test(files_of_the_tree),
		cmocka_unit_test(scopes),
		cmocka_unit_test(layout_of_files),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(bad_bytes),
		cmocka_unit_test(unreadable_files),
		cmocka_unit_test(bad_settings),
		cmocka_unit_test(very_long_setting),
		cmocka_unit_test(prints_all_rows),
		cmocka_unit_test(node_guids_differ),
		cmocka_unit_test(functions_read_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
