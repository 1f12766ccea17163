/* SPDX-License-Identifier: Apache-2.0 */
/* A whole device with all its stages and a small firmware: life, reset, catastrophic errors,
 * counters, dumps of contexts. */
#include "model/engine/memory/context_cache.h"
#include "model/engine/memory/icm.h"
#include "model/engine/chip/processor.h"
#include "model/engine/chip/tests/rv_asm.h"
#include "model/engine/base/engine.h"
#include "model/interface/contexts.h"
#include "model/interface/regs.h"
#include "model/sim/params.h"

enum { MEMORY = 0x20000, BUS = 0x1000000, PCI_COMMAND = 4, PCI_COMMAND_ON = 6 };

static struct event_core core;
static struct host_params host;
static struct hca_params params;
static struct hca *hca;
static uint8_t memory[MEMORY];
static unsigned catastrophes;
static char text[256];

static int dma_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	if (bus < BUS || bus + len > BUS + MEMORY)
		return -EFAULT;
	memcpy(buf, memory + (bus - BUS), len);
	return 0;
}

static int dma_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	if (bus < BUS || bus + len > BUS + MEMORY)
		return -EFAULT;
	memcpy(memory + (bus - BUS), buf, len);
	return 0;
}

static void catastrophe(void *ctx, const char *line)
{
	catastrophes++;
	snprintf(text, sizeof(text), "%s", line);
}

static const struct hca_env env = {
	.dma_read = dma_read, .dma_write = dma_write, .catastrophe = catastrophe};

static void run(uint64_t ps)
{
	event_core_run_until(&core, core.now_ps + ps);
}

static void create(void)
{
	char path[ELF_PATH_SIZE], err[256] = "";

	elf_make(path);
	hca = hca_create(0, &params, &host, &core, &env, NULL, path, err, sizeof(err));
	unlink(path);
	assert_string_equal(err, "");
	assert_non_null(hca);
	hca_config_write(hca, PCI_COMMAND, 2, PCI_COMMAND_ON);
}

static int start(void **state)
{
	event_core_init(&core);
	memset(memory, 0, sizeof(memory));
	catastrophes = 0;
	params = (struct hca_params){
#define D(section, key, unit, def, min, max, meaning, source) .section##_##key = (def),
		HCA_PARAMS(D)
#undef D
	};
	params.hca_node_guid = 0x10;
	assemble();
	return 0;
}

static int finish(void **state)
{
	hca_destroy(hca);
	assert_int_equal(core.count, 0);
	event_core_free(&core);
	return 0;
}

static uint32_t bar0(uint32_t offset)
{
	uint8_t bytes[4];

	hca_mmio_read_now(hca, 0, offset, bytes, 4);
	return be32_load(bytes);
}

static void reset_write(void)
{
	uint8_t bytes[4] = {0, 0, 0, 1};

	hca_mmio_write_now(hca, 0, BAR0_RESET, bytes, 4);
	run(params.fw_reset_time + CFG_MS(1));
}

static void idle_device_is_quiet(void **state)
{
	finish_with_sleep();
	create();
	assert_false(hca_is_quiet(hca));
	run(params.fw_reset_time + CFG_MS(1));
	assert_true(hca_is_quiet(hca));
	assert_int_equal(core.count, 0);
	assert_true(hca_footprint(hca) > params.fw_ram);
}

static void trap_fills_the_error_buffer_until_reset(void **state)
{
	emit(0);
	create();
	run(params.fw_reset_time + CFG_MS(1));
	assert_int_equal(catastrophes, 1);
	assert_non_null(strstr(text, "illegal instruction"));
	assert_int_equal(bar0(BAR0_ERR_BUF), ERR_BUF_TRAP);
	assert_true(hca->stopped);
	/* After the reset firmware runs again, and traps again. */
	reset_write();
	assert_int_equal(catastrophes, 2);
	hca_catastrophe(hca, ERR_BUF_FIRMWARE, 0, "only the first one counts");
	assert_int_equal(catastrophes, 2);
}

static void reset_forgets_what_firmware_set_up(void **state)
{
	uint64_t bus;

	icm(FW_ICM_MAP, 0, BUS, 16);
	set(FW_TABLE_LOG_NUM, 6);
	set(FW_TABLE_ENTRY_SIZE, 256);
	set(FW_TABLE_CMD, FW_TABLE_QPC);
	set(FW_HCA_CTRL, FW_CTRL_RUN);
	object(FW_OBJ_VALIDATE, FW_TABLE_QPC, 5);
	/* The firmware has a DMA under way at all times, so also when the reset comes. */
	set(FW_DMA_ADDR_LO, BUS);
	set(FW_DMA_RAM, RESULTS + 0x100);
	set(FW_DMA_LEN, 0x4000);
	set(FW_DMA_CMD, FW_DMA_READ);
	finish_with_sleep();
	create();
	run(params.fw_reset_time + CFG_US(1));
	assert_int_equal(hca->ctrl, FW_CTRL_RUN);
	assert_true(icm_object_valid(hca, FW_TABLE_QPC, 5));
	hca->calls->soft_reset(hca);
	assert_int_equal(hca->ctrl, 0);
	assert_int_equal(icm_translate(hca, 0, &bus), -ENOENT);
	assert_false(icm_object_valid(hca, FW_TABLE_QPC, 5));
	assert_int_equal(hca->tables[FW_TABLE_QPC].entry_size, 0);
	assert_int_equal(bar0(BAR0_ERR_BUF), 0);
}

static void nobody(struct waiter *w)
{
}

static void contexts_as_they_are_now(void **state)
{
	struct waiter w = {.wake = nobody};
	uint8_t buf[256];
	void *bytes;

	icm(FW_ICM_MAP, 0, BUS, 4);
	set(FW_TABLE_LOG_NUM, 6);
	set(FW_TABLE_ENTRY_SIZE, 256);
	set(FW_TABLE_CMD, FW_TABLE_QPC);
	object(FW_OBJ_VALIDATE, FW_TABLE_QPC, 5);
	object(FW_OBJ_VALIDATE, FW_TABLE_QPC, 20);
	finish_with_sleep();
	create();
	run(params.fw_reset_time + CFG_MS(1));
	memory[5 * 256 + 3] = 0x31;
	assert_int_equal(hca_context_read(hca, HCA_QP, 4, buf, sizeof(buf)), 0);
	assert_int_equal(hca_context_read(hca, HCA_QP, 5, buf, sizeof(buf)), sizeof(struct qpc));
	assert_int_equal(buf[3], 0x31);
	assert_int_equal(context_get(hca, CONTEXT_RESPONDER, 5, &w, &bytes, "test"), -EAGAIN);
	run(CFG_MS(1));
	assert_int_equal(context_get(hca, CONTEXT_RESPONDER, 5, &w, &bytes, "test"), 0);
	((uint8_t *)bytes)[3] = 0x32;
	assert_int_equal(hca_context_read(hca, HCA_QP, 5, buf, sizeof(buf)), sizeof(struct qpc));
	assert_int_equal(buf[3], 0x32);
	assert_int_equal(memory[5 * 256 + 3], 0x31);
	icm_unmap(hca, 0x1000, 1);
	assert_int_equal(hca_context_read(hca, HCA_QP, 20, buf, sizeof(buf)), -EFAULT);
}

static void counters_have_names(void **state)
{
	struct stat_value values[200];
	size_t n;
	bool found = false;

	finish_with_sleep();
	create();
	run(params.fw_reset_time + CFG_MS(1));
	n = hca_stats(hca, values, 200);
	assert_true(n > 0 && n <= 200);
	assert_int_equal(hca_stats(hca, NULL, 0), n);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(values[i].meaning);
		if (!strcmp(values[i].stage, "fw") && !strcmp(values[i].counter, "instructions")) {
			found = true;
			assert_int_equal(values[i].value, words - 1);
		}
	}
	assert_true(found);
	assert_string_equal(values[n - 1].stage, "port1");
}

static void bad_firmware_makes_no_device(void **state)
{
	char err[256] = "";

	assert_null(hca_create(0, &params, &host, &core, &env, NULL, "no/such/file.elf", err,
			       sizeof(err)));
	assert_non_null(strstr(err, "no/such/file.elf"));
	hca = NULL;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		T(idle_device_is_quiet),
		T(trap_fills_the_error_buffer_until_reset),
		T(reset_forgets_what_firmware_set_up),
		T(contexts_as_they_are_now),
		T(counters_have_names),
		T(bad_firmware_makes_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
