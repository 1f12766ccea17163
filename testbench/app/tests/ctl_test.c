/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the control socket, with two HCAs behind a vfio-user server. */
#define _GNU_SOURCE
#include "model/vfio_user/tests/client.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "testbench/app/ctl.h"

static bool stop;

static struct ctl_target target(void)
{
	return (struct ctl_target){
		.core = &bench.core,
		.server = bench.server,
		.devices = bench.devices,
		.device_count = DEVICES,
		.plan = &bench.plan,
		.seed = 1,
		.dir = bench.dir,
		.stop = &stop,
	};
}

/* Executes a command. The answer is valid until the next call. */
static const char *ctl(const char *command)
{
	static char answer[65536];
	const struct ctl_target t = target();
	char line[256];
	FILE *out = fmemopen(answer, sizeof(answer), "w");

	snprintf(line, sizeof(line), "%s", command);
	ctl_command(&t, line, out);
	fclose(out);
	assert_null(strchr(answer, '\n'));
	return answer;
}

static void wrong_commands_are_errors(void **state)
{
	static const char *const lines[] = {
		"",
		"fly",
		"link",
		"link sideways",
		"link up hca2",
		"link up port2",
		"link up port0",
		"link up x",
		"drop 0%",
		"drop 101%",
		"drop RC_JUMP",
		"drop -1%",
		"trace on",
		"command NOP",
		"command FLY BAD_OP",
		"command NOP OK",
		"command NOP BAD_OP hca7",
		"catastrophe hca2",
		"late",
		"late soon",
		"late 10001",
		"late 5 hca2",
		"catastrophe now",
		"a b c d e f g h i j k l m n o p q r",
		"inject",
		"inject 0002",
		"inject 0002000200000001f hca1",
		"inject 0002000200000001gg hca1",
		"inject 0002000200000001 hca2",
		"inject 0002000200000001 there",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (strncmp(ctl(lines[i]), "error: ", 7))
			fail_msg("'%s' is taken: %s", lines[i], ctl(lines[i]));
	assert_int_equal(bench.plan.count, 0);
}

static void faults_are_planned(void **state)
{
	const struct fault_rule *r;

	assert_string_equal(ctl("drop 1.5% RC_SEND_ONLY hca1 x3"), "ok fault 0: drop");
	r = &bench.plan.entries[0].rule;
	assert_int_equal(r->action, FAULT_DROP);
	assert_int_equal(r->match, FAULT_MATCH_OPCODE | FAULT_MATCH_HCA);
	assert_int_equal(r->chance_ppm, 15000);
	assert_int_equal(r->opcode, 0x04);
	assert_int_equal(r->hca, 1);
	assert_int_equal(r->limit, 3);
	assert_string_equal(ctl("corrupt"), "ok fault 1: corrupt");
	assert_string_equal(ctl("faults"), "ok fault 0: drop, seen 0, fired 0; fault 1: corrupt, "
					   "seen 0, fired 0");
	assert_string_equal(ctl("duplicate 1%"), "ok fault 2: duplicate");
	assert_string_equal(ctl("reorder"), "ok fault 3: reorder");
	assert_int_equal(bench.plan.entries[2].rule.copies, 1);
	assert_int_equal(bench.plan.entries[3].rule.behind, 2);
	ctl("faults clear");
	assert_int_equal(bench.plan.count, 0);
	assert_string_equal(ctl("faults"), "ok");
}

/* A datagram to QP 0 whose payload is missing: its port counts it, and whatever comes is dropped. */
static void a_packet_is_brought(void **state)
{
	assert_string_equal(ctl("inject 000200020006000100000000000000000000000000000000 hca1"),
			    "ok 30 bytes to hca1");
}

static void a_command_gets_the_status_that_was_chosen(void **state)
{
	struct client *c = join(0), *other = join(1);

	assert_string_equal(ctl("command QUERY_FW BAD_NVMEM x2"),
			    "ok hca0 QUERY_FW gives BAD_NVMEM, 2 times");
	assert_int_equal(query_fw(c, GUEST_BUS), 0x0b);
	assert_int_equal(c->memory[0x0b], 0); /* the command was not carried out */
	assert_query_fw(other);
	assert_int_equal(query_fw(c, GUEST_BUS), 0x0b);
	assert_query_fw(c);
}

static void a_catastrophe_fills_the_error_buffer(void **state)
{
	struct client *c = join(0), *other = join(1);
	uint8_t word[4];

	assert_int_equal(region_read(c, R_BAR0, 0x80a00, word, 4), 0);
	assert_int_equal(word[0] | word[1] | word[2] | word[3], 0);
	assert_string_equal(ctl("catastrophe"), "ok hca0 stopped");
	assert_int_equal(region_read(c, R_BAR0, 0x80a00, word, 4), 0);
	assert_int_not_equal(word[0] | word[1] | word[2] | word[3], 0);
	assert_int_equal(bench.catastrophes, 1);
	assert_non_null(strstr(ctl("state"), "\"stopped\": true"));
	assert_query_fw(other);
	assert_int_equal(ask(c, C_RESET, NULL, 0, NULL, 0, NULL), 0);
	assert_query_fw(join(0));
}

static void state_and_counters_are_told(void **state)
{
	join(1);
	assert_non_null(strstr(ctl("state"), "\"hca0\": {\"client\": false"));
	assert_non_null(strstr(ctl("state"), "\"hca1\": {\"client\": true"));
	assert_query_fw(&bench.clients[1]);
	assert_string_equal(ctl("counters fw.commands"),
			    "ok {\"hca0.fw.commands\": 0, \"hca1.fw.commands\": 1}");
	assert_string_equal(ctl("counters nothing.such"), "ok {}");
	assert_string_equal(ctl("link down hca1"), "ok hca1 port1 down");
	assert_string_equal(ctl("link up hca1"), "ok hca1 port1 up");
}

static void an_interrupt_comes_late(void **state)
{
	struct irqs *irqs = &bench.devices[1].irqs;
	uint64_t sent;

	join(1);
	assert_string_equal(ctl("late 5 hca1"), "ok interrupts 5 ms late");
	assert_int_equal(bench.devices[0].late.delay_ps, 0);
	sent = bench.core.now_ps;
	bench.devices[1].hca->env.irq_raise(&bench.devices[1], 3, 0, 0);
	event_core_run_until(&bench.core, sent + CFG_MS(5) - 1);
	/* no descriptor is set, so a message that has come would be latched */
	assert_false(irqs->msix[3].latched);
	event_core_run_until(&bench.core, sent + CFG_MS(5));
	assert_true(irqs->msix[3].latched);
	/* a message that is under way when the device is reset does not arrive */
	bench.devices[1].hca->env.irq_raise(&bench.devices[1], 4, 0, 0);
	vfu_device_reset(&bench.devices[1]);
	event_core_run_until(&bench.core, sent + CFG_MS(20));
	assert_false(irqs->msix[4].latched);
	assert_string_equal(ctl("late 0"), "ok interrupts 0 ms late");
	bench.devices[1].hca->env.irq_raise(&bench.devices[1], 4, 0, 0);
	assert_true(irqs->msix[4].latched);
}

/* The socket from both ends, with lines that come in pieces. */
static void answers_over_its_socket(void **state)
{
	const struct ctl_target t = target();
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char err[256] = "", answer[256] = "";
	struct ctl *c;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/c.sock", bench.dir);
	c = ctl_open(&t, address.sun_path, err, sizeof(err));
	assert_non_null(c);
	assert_null(ctl_open(&t, address.sun_path, err, sizeof(err)));
	assert_non_null(strstr(err, "in use"));
	turn(2);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, "qu", 2, 0), 2);
	turn(4);
	assert_false(stop);
	assert_int_equal(send(fd, "it\nfau", 6, 0), 6);
	turn(4);
	assert_true(stop);
	assert_int_equal(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), 3);
	assert_string_equal(answer, "ok\n");
	/* a line without an end does not take more and more memory */
	for (unsigned i = 0; i < 64; i++) {
		char blanks[64];

		memset(blanks, ' ', sizeof(blanks));
		if (send(fd, blanks, sizeof(blanks), MSG_NOSIGNAL) < 0)
			break;
		turn(1);
	}
	turn(4);
	errno = 0;
	assert_true(recv(fd, answer, sizeof(answer), MSG_DONTWAIT) <= 0 && errno != EAGAIN);
	close(fd);
	ctl_close(c);
	assert_int_equal(access(address.sun_path, F_OK), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_up, bench_down)
	const struct CMUnitTest tests[] = {
		T(wrong_commands_are_errors),
		T(faults_are_planned),
		T(a_packet_is_brought),
		T(a_command_gets_the_status_that_was_chosen),
		T(a_catastrophe_fills_the_error_buffer),
		T(state_and_counters_are_told),
		T(an_interrupt_comes_late),
		T(answers_over_its_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
