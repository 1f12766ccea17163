/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's bus, helpers, timers and faults. */
#include "model/engine/chip/tests/processor_rig.h"
#include "model/interface/macros.h"

/* Writes firmware that waits for a command, reads 16 bytes of its mailbox, and returns the first
 * word and the helper's status. Returns the number of instructions up to and including its wfi. */
static unsigned command_loop(void)
{
	unsigned loop;

	csrw(CSR_MIE, MEIE);
	set(FW_IRQ_ENABLE, FW_IRQ_HCR);
	loop = words;
	wfi();
	lw(8, REGS, FW_HCR0);
	sw(8, REGS, FW_DMA_ADDR_HI);
	lw(8, REGS, FW_HCR1);
	sw(8, REGS, FW_DMA_ADDR_LO);
	set(FW_DMA_RAM, RESULTS + 0x100);
	set(FW_DMA_LEN, 16);
	set(FW_DMA_CMD, FW_DMA_READ);
	lw(8, REGS, FW_DMA_STATUS);
	lw(9, RESULT, 0x100);
	sw(9, REGS, FW_HCR_OUT_LO);
	sw(8, REGS, FW_HCR_DONE);
	jump(loop);
	return loop + 1;
}

static void executes_a_command(void **state)
{
	uint64_t posted_ps, cycle_ps = 4000; /* 250 MHz */
	unsigned to_sleep = command_loop();

	boot();
	rig_run();
	assert_true(processor_is_quiet(hca));
	assert_int_equal(rig.core.count, 0);
	assert_int_equal(hca->stats.fw_instructions, to_sleep);
	posted_ps = rig.core.now_ps;
	memcpy(rig_at(RIG_BUS + 0x60040), "\x78\x56\x34\x12", 4);
	seen.hcr[1] = RIG_BUS + 0x60040;
	processor_raise(hca, FW_IRQ_HCR);
	assert_false(processor_is_quiet(hca));
	rig_run();
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.status, FW_DMA_OK);
	assert_true(seen.out_param == 0x12345678);
	assert_int_equal(hca->stats.fw_commands, 1);
	/*
	 * 12 instructions run before the one that starts the DMA. The load of the helper's status
	 * ends when the bytes are there. Two more instructions follow before the store to HCR_DONE.
	 */
	assert_true(seen.done_at_ps == posted_ps + 12 * cycle_ps + RIG_READ_PS + 3 * cycle_ps);
	assert_true(processor_is_quiet(hca));
	assert_int_equal(rig.core.count, 0);
	/* the same command, with memory that the device may not read */
	seen.hcr[0] = 1;
	processor_raise(hca, FW_IRQ_HCR);
	rig_run();
	assert_int_equal(seen.done, 2);
	assert_int_equal(seen.status, FW_DMA_FAULT);
}

static void dma_of_every_kind(void **state)
{
	rig.params.fw_dma_chunk = 4096;
	dma(FW_DMA_READ, RIG_BUS + 0x60ffd, RESULTS + 0x1001, 7);
	dma(FW_DMA_WRITE, RIG_BUS + 0x62003, RESULTS + 0x1001, 7);
	dma(FW_DMA_FILL, RIG_BUS + 0x64001, 0x155, 10000);
	icm(FW_ICM_MAP, 0x700000000, RIG_BUS + 0x70000, 1);
	icm(FW_ICM_MAP, 0x700001000, RIG_BUS + 0x73000, 1);
	dma(FW_DMA_ICM_WRITE, 0x700000ffe, RESULTS + 0x1001, 4);
	dma(FW_DMA_ICM_READ, 0x700000ffd, RESULTS + 0x1100, 6);
	dma(FW_DMA_ICM_FILL, 0x700001800, 0xee, 0x800);
	dma(FW_DMA_ICM_READ, 0x700001ffe, RESULTS, 4);
	dma(FW_DMA_WRITE, 0x5000, RESULTS, 4);
	dma(FW_DMA_READ, RIG_BUS, RESULTS, 0);
	finish_with_sleep();
	memcpy(rig_at(RIG_BUS + 0x60ffd), "abcdefg", 7);
	boot();
	rig_run();
	assert_int_equal(seen.catas, 0);
	for (unsigned n = 0; n < 6; n++)
		assert_int_equal(result(n), FW_DMA_OK);
	assert_int_equal(result(6), FW_DMA_NO_ICM);
	assert_int_equal(result(7), FW_DMA_FAULT);
	assert_int_equal(result(8), FW_DMA_OK);
	assert_memory_equal(rig_at(RIG_BUS + 0x62003), "abcdefg", 7);
	for (unsigned i = 0; i < 10002; i++)
		assert_int_equal(*rig_at(RIG_BUS + 0x64000 + i), i == 0 || i == 10001 ? 0 : 0x55);
	assert_memory_equal(rig_at(RIG_BUS + 0x70ffe), "ab", 2);
	assert_memory_equal(rig_at(RIG_BUS + 0x73000), "cd", 2);
	assert_memory_equal(processor_memory(hca, RESULTS + 0x1100, 6), "\0abcd\0", 6);
	assert_int_equal(*rig_at(RIG_BUS + 0x737ff), 0);
	assert_int_equal(*rig_at(RIG_BUS + 0x73800), 0xee);
	assert_int_equal(*rig_at(RIG_BUS + 0x73fff), 0xee);
	assert_int_equal(*rig_at(RIG_BUS + 0x74000), 0);
}

static void icm_and_tables(void **state)
{
	uint64_t bus;

	icm(FW_ICM_MAP, 0x12345000, 0x9876543000, 3);
	icm(FW_ICM_LOOKUP, 0x12347000, 0, 0);
	keep(REGS, FW_ICM_PA_HI);
	keep(REGS, FW_ICM_PA_LO);
	icm(FW_ICM_UNMAP, 0x12345000, 0, 64);
	icm(FW_ICM_LOOKUP, 0x12347000, 0, 0);
	keep(REGS, FW_ICM_PA_LO);
	set(FW_TABLE_BASE_HI, 1);
	set(FW_TABLE_BASE_LO, 0x13800000);
	set(FW_TABLE_LOG_NUM, 13);
	set(FW_TABLE_ENTRY_SIZE, 1024);
	set(FW_TABLE_CMD, FW_TABLE_MCG);
	icm(FW_ICM_UNMAP_ALL, 0, 0, 0);
	set(FW_LOG_UAR, 10);
	set(FW_LOG_MCG_HASH, 12);
	set(FW_SPECIAL_QP, 0x40);
	set(FW_HCA_CTRL, FW_CTRL_RUN);
	set(FW_HCA_CTRL, 0);
	finish_with_sleep();
	boot();
	rig_run();
	assert_int_equal(result(0), 0x98);
	assert_int_equal(result(1), 0x76545000);
	assert_int_equal(result(2), 0);
	assert_true(hca->tables[FW_TABLE_MCG].base == 0x113800000);
	assert_int_equal(hca->tables[FW_TABLE_MCG].log_num, 13);
	assert_int_equal(hca->tables[FW_TABLE_MCG].entry_size, 1024);
	assert_int_equal(icm_translate(hca, 0, &bus), -ENOENT);
	assert_int_equal(hca->log_uar, 10);
	assert_int_equal(hca->log_mcg_hash, 12);
	assert_int_equal(hca->special_qp, 0x40);
	assert_int_equal(seen.stops, 1);
	assert_int_equal(hca->ctrl, 0);
}

/* Stores and loads that are not allowed cause a bus fault, and have no other effect. */
static void refused_accesses(void **state)
{
	static const struct {
		uint32_t reg, value;
	} stores[] = {
		{FW_EQE_POST, 0},
		{FW_EQE_POST, FW_RAM_BASE - 4},
		{FW_EQE_POST, UINT32_MAX - 8},
		{FW_TRACE_TEXT, 4},
		{FW_GUEST_ERROR, RULE_COUNT},
		{FW_TABLE_CMD, FW_TABLE_COUNT},
		{FW_ICM_CMD, 99},
		{FW_DMA_CMD, 99},
		{FW_OBJ_CMD, 99},
		{FW_PORT(1, COUNTER_INDEX), FW_PC_COUNT},
		{FW_PORT(1, SELF_MAD), 0},
		{FW_PORT(3, LID), 1},
		{FW_REG_SIZE, 0},
		{0xffc, 0},
	};
	uint32_t value;

	finish_with_sleep();
	boot();
	rig_run();
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (processor_store(hca->processor, FW_REG_BASE + stores[i].reg, 4,
				    stores[i].value) != RV_BUS_FAULT)
			fail_msg("store %zu to %x", i, stores[i].reg);
	assert_int_equal(processor_store(hca->processor, FW_REG_BASE + FW_HCR_OUT_LO, 2, 0),
			 RV_BUS_FAULT);
	assert_int_equal(processor_store(hca->processor, FW_REG_BASE - 4, 4, 0), RV_BUS_FAULT);
	assert_int_equal(processor_load(hca->processor, FW_REG_BASE - 4, 4, &value), RV_BUS_FAULT);
	assert_int_equal(processor_load(hca->processor, FW_REG_BASE, 1, &value), RV_BUS_FAULT);
	assert_int_equal(processor_load(hca->processor, FW_REG_BASE + FW_REG_SIZE, 4, &value),
			 RV_BUS_FAULT);
	assert_int_equal(processor_load(hca->processor, FW_REG_BASE + 0xffc, 4, &value),
			 RV_BUS_FAULT);
	assert_int_equal(seen.posted, 0);
	assert_int_equal(seen.catas, 0);
}

static uint32_t load(uint32_t reg)
{
	uint32_t value = 0xdeadbeef;

	assert_int_equal(processor_load(hca->processor, FW_REG_BASE + reg, 4, &value), RV_BUS_OK);
	return value;
}

/* Each diagnostic counter is read by its own register. Also the registers of the note about a wrong
 * key. */
static void counters_and_notes(void **state)
{
	uint64_t n = 1000;

	finish_with_sleep();
	boot();
	rig_run();
#define D(name, stat) hca->stats.stat = n++;
	DIAG_COUNTERS(D)
#undef D
	for (unsigned i = 0; i < FW_DIAG_COUNTERS_END; i++) {
		processor_store(hca->processor, FW_REG_BASE + FW_DIAG_INDEX, 4, i);
		assert_int_equal(load(FW_DIAG_COUNT), 1000 + i);
	}
	processor_store(hca->processor, FW_REG_BASE + FW_DIAG_INDEX, 4, FW_DIAG_COUNTERS_END);
	assert_int_equal(load(FW_DIAG_COUNT), 0);
	seen.port.note = (struct port_note){257, 0x8001, 0x00010002, 0x30000123, 0x456};
	assert_int_equal(load(FW_PORT(1, NOTE)), 257);
	assert_int_equal(load(FW_PORT(1, NOTE_KEY)), 0x8001);
	assert_int_equal(load(FW_PORT(1, NOTE_LIDS)), 0x00010002);
	assert_int_equal(load(FW_PORT(1, NOTE_SOURCE)), 0x30000123);
	assert_int_equal(load(FW_PORT(1, NOTE_DEST)), 0x456);
	processor_store(hca->processor, FW_REG_BASE + FW_PORT(1, NOTE), 4, 0);
	assert_int_equal(seen.port.note.number, 0);
}

static void object_commands(void **state)
{
	object(FW_OBJ_TEST, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_VALIDATE, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_TEST, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_QUIESCE, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_RESUME, FW_TABLE_QPC, 0x123406);
	object(FW_OBJ_INVALIDATE, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_TEST, FW_TABLE_QPC, 0x123405);
	object(FW_OBJ_VALIDATE, FW_TABLE_CQC, 7);
	object(FW_OBJ_RESIZE, FW_TABLE_CQC, 7);
	object(FW_OBJ_QUIESCE, FW_TABLE_CQC, 8);
	object(FW_OBJ_RESUME, FW_TABLE_CQC, 8);
	object(FW_OBJ_VALIDATE, FW_TABLE_EQC, 3);
	object(FW_OBJ_INVALIDATE, FW_TABLE_EQC, 3);
	object(FW_OBJ_QUIESCE, FW_TABLE_SRQC, 4);
	object(FW_OBJ_RESUME, FW_TABLE_SRQC, 4);
	object(FW_OBJ_VALIDATE, FW_TABLE_MPT, 9);
	object(FW_OBJ_INVALIDATE, FW_TABLE_MPT, 9);
	object(FW_OBJ_SYNC_ALL, 0, 0);
	finish_with_sleep();
	boot();
	rig_run();
	assert_int_equal(seen.catas, 0);
	assert_true(processor_is_quiet(hca));
	for (unsigned n = 0; n < results; n++)
		assert_int_equal(result(n), n == 2);
	assert_int_equal(seen.quiesced, 0x123405);
	assert_int_equal(seen.resumed, 0x123406);
	assert_int_equal(seen.invalidated, 0x123405);
	assert_int_equal(seen.unrung, 0x123405);
	assert_int_equal(seen.purged, 0x123405);
	assert_int_equal(seen.resized, 7);
	assert_int_equal(seen.drained, 8);
	assert_int_equal(seen.forgotten, 3);
	assert_int_equal(seen.limits, 4);
	assert_true(icm_object_valid(hca, FW_TABLE_CQC, 7));
	assert_false(icm_object_valid(hca, FW_TABLE_EQC, 3));
	assert_false(icm_object_valid(hca, FW_TABLE_MPT, 9));
	assert_true(icm_object_valid(hca, ICM_MPT_RELEASED, 9));
}

/* When WRITEBACK is done, memory has the context as the engine changed it. After RESUME the engine
 * uses the context as firmware changed it in memory. */
static void context_goes_to_memory_and_back(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	object(FW_OBJ_WRITEBACK, FW_TABLE_CQC, 7);
	dma(FW_DMA_ICM_READ, ((uint64_t)FW_TABLE_CQC << 20) + 7 * 64, RESULTS + 0x100, 64);
	object(FW_OBJ_QUIESCE, FW_TABLE_CQC, 7);
	dma(FW_DMA_ICM_FILL, ((uint64_t)FW_TABLE_CQC << 20) + 7 * 64, 0x99, 64);
	object(FW_OBJ_RESUME, FW_TABLE_CQC, 7);
	finish_with_sleep();
	icm_object_set(hca, FW_TABLE_CQC, 7, true);
	assert_int_equal(context_get(hca, CONTEXT_CQ, 7, &w.w, (void **)&bytes, "test"), -EAGAIN);
	rig_run();
	assert_int_equal(context_get(hca, CONTEXT_CQ, 7, &w.w, (void **)&bytes, "test"), 0);
	bytes[10] = 0x42;
	context_changed(hca, CONTEXT_CQ, 7);
	boot();
	rig_run();
	assert_int_equal(*processor_memory(hca, RESULTS + 0x100 + 10, 1), 0x42);
	assert_int_equal(context_get(hca, CONTEXT_CQ, 7, &w.w, (void **)&bytes, "test"), -EAGAIN);
	rig_run();
	assert_int_equal(context_get(hca, CONTEXT_CQ, 7, &w.w, (void **)&bytes, "test"), 0);
	assert_int_equal(bytes[10], 0x99);
}

/* HW2SW_MPT, then software edits the MPT in place, then SYNC_TPT: the next command finds it
 * valid. */
static void test_reads_what_software_set_back(void **state)
{
	uint64_t slot = ((uint64_t)FW_TABLE_MPT << 20) + 9 * 64;

	object(FW_OBJ_VALIDATE, FW_TABLE_MPT, 9);
	object(FW_OBJ_INVALIDATE, FW_TABLE_MPT, 9);
	object(FW_OBJ_TEST, FW_TABLE_MPT, 9);
	dma(FW_DMA_ICM_FILL, slot, 0xff, 1);
	object(FW_OBJ_SYNC_ALL, 0, 0);
	object(FW_OBJ_TEST, FW_TABLE_MPT, 9);
	dma(FW_DMA_ICM_FILL, slot, 0x00, 1);
	object(FW_OBJ_TEST, FW_TABLE_MPT, 9);
	object(FW_OBJ_SYNC_ALL, 0, 0);
	object(FW_OBJ_TEST, FW_TABLE_MPT, 9);
	finish_with_sleep();
	boot();
	rig_run();
	assert_int_equal(result(2), 0);
	assert_int_equal(result(5), 0);
	assert_int_equal(result(7), 0);
	assert_int_equal(result(9), 1);
	assert_int_equal(rig.guest_errors, 0);
}

static void status_waits_for_the_end(void **state)
{
	object(FW_OBJ_QUIESCE, FW_TABLE_QPC, 5);
	keep(REGS, FW_TIME_LO);
	finish_with_sleep();
	seen.hold_back = true;
	boot();
	rig_run();
	assert_int_equal(rig.core.count, 0);
	assert_false(processor_is_quiet(hca));
	rig.core.now_ps = 5000000;
	seen.late(seen.late_arg, -EFAULT);
	rig_run();
	assert_int_equal(result(0), FW_OBJ_NO_ICM);
	/* the status is loaded at 5000 ns, then stored, and the time is read: two instructions of 4
	 * ns each */
	assert_int_equal(result(1), 5008);
}

static void timer_interrupts(void **state)
{
	csrw(CSR_MIE, MEIE);
	set(FW_IRQ_ENABLE, FW_IRQ_TIMER);
	set(FW_TIMER_LO, 70000);
	set(FW_TIMER_HI, 0);
	wfi();
	keep(REGS, FW_TIME_LO);
	keep(REGS, FW_IRQ_CAUSE);
	set(FW_IRQ_CAUSE, FW_IRQ_TIMER);
	keep(REGS, FW_IRQ_CAUSE);
	finish_with_sleep();
	boot();
	rig_run();
	assert_int_equal(result(0), 70000);
	assert_int_equal(result(1), FW_IRQ_TIMER);
	assert_int_equal(result(2), 0);
	assert_int_equal(rig.core.count, 0);
}

static void watchdog_kills(void **state)
{
	unsigned loop;

	set(FW_WATCHDOG, 100);
	loop = words;
	jump(loop);
	boot();
	rig_run();
	assert_int_equal(seen.catas, 1);
	assert_int_equal(seen.code, ERR_BUF_WATCHDOG);
	assert_non_null(strstr(seen.catas_text, "watchdog"));
	assert_int_equal(rig.core.count, 0);
}

/* The watchdog does not run during the wait. It starts anew after the wait, although nothing writes
 * its register again. */
static void watchdog_rests_in_a_wait_and_begins_anew_after_it(void **state)
{
	csrw(CSR_MIE, MEIE);
	set(FW_IRQ_ENABLE, FW_IRQ_TIMER);
	set(FW_TIMER_LO, 700000);
	set(FW_TIMER_HI, 0);
	set(FW_WATCHDOG, 100);
	wfi();
	jump(words);
	boot();
	event_core_run_until(&rig.core, (700000 + 99900) * 1000ull);
	assert_int_equal(seen.catas, 0);
	event_core_run_until(&rig.core, (700000 + 100100) * 1000ull);
	assert_int_equal(seen.catas, 1);
	assert_int_equal(seen.code, ERR_BUF_WATCHDOG);
}

static void trap_is_catastrophic(void **state)
{
	unsigned at;

	at = words;
	emit(0);
	boot();
	rig_run();
	assert_int_equal(seen.catas, 1);
	assert_int_equal(seen.code, ERR_BUF_TRAP);
	{
		char pc[32];

		snprintf(pc, sizeof(pc), "pc %x", CODE + at * 4);
		assert_non_null(strstr(seen.catas_text, pc));
	}
	/* After a reset firmware runs from the start, with RAM filled from the file, so it traps
	 * again. */
	hca->stopped = false;
	processor_reset(hca);
	rig_run();
	assert_int_equal(seen.catas, 2);
}

static void unknown_register_traps(void **state)
{
	lw(TMP, REGS, 0x1fc);
	boot();
	rig_run();
	assert_int_equal(seen.catas, 1);
	assert_non_null(strstr(seen.catas_text, "load"));
}

static void firmware_gives_up(void **state)
{
	set(FW_CATAS, 0x77);
	finish_with_sleep();
	boot();
	rig_run();
	assert_int_equal(seen.catas, 1);
	assert_non_null(strstr(seen.catas_text, "77"));
	assert_int_equal(rig.core.count, 0);
}

static void events_and_rules(void **state)
{
	set(FW_EVENT_MAP, 0x80000509);
	set(FW_EQE_POST, TEXT);
	keep(REGS, FW_EQE_STATUS);
	set(FW_GUEST_TEXT, TEXT);
	set(FW_GUEST_ERROR, RULE_mailbox_reserved);
	finish_with_sleep();
	strcpy((char *)code + TEXT_OFFSET, "bit 3 of the modifier");
	boot();
	rig_run();
	assert_int_equal(seen.mapped, 0x80000509);
	assert_int_equal(seen.posted, 1);
	assert_memory_equal(seen.eqe.b, "bit 3 of the modifier", 22);
	assert_string_equal(rig.last_rule, "mailbox_reserved");
	assert_string_equal(rig.last_text, "unknown command: bit 3 of the modifier, modifier 0x0");
}

static void port_set(uint32_t reg, uint32_t value)
{
	li(TMP, value);
	sw(TMP, PORT, reg);
}

static void ports(void **state)
{
	port_set(FW_PORT_CMD, FW_PORT_UP);
	port_set(FW_PORT_LID, 0x3beef);
	keep(PORT, FW_PORT_LID);
	port_set(FW_PORT_GID_INDEX, 3);
	port_set(FW_PORT_GID_GUID_HI, 0x0002c903);
	port_set(FW_PORT_GID_GUID_LO, 0x00a00011);
	port_set(FW_PORT_SL2VL_HI, 0x01234567);
	keep(PORT, FW_PORT_SL2VL_HI);
	port_set(FW_PORT_COUNTER_INDEX, FW_PC_XMIT_DATA);
	keep(PORT, FW_PORT_COUNTER_LO);
	keep(PORT, FW_PORT_COUNTER_HI);
	keep(PORT, FW_PORT_SPEED);
	keep(REGS, FW_NUM_PORTS);
	keep(REGS, FW_GUID_LO);
	finish_with_sleep();
	hca->index = 1;
	seen.port.counters[FW_PC_XMIT_DATA] = 0x1122334455667788;
	boot();
	rig_run();
	assert_int_equal(seen.catas, 0);
	assert_int_equal(seen.port_commands, FW_PORT_UP);
	assert_int_equal(seen.port.lid, 0xbeef);
	assert_int_equal(seen.port.lmc, 3);
	assert_int_equal(result(0), 0x3beef);
	assert_true(seen.port.guids[3] == 0x0002c90300a00011);
	for (unsigned sl = 0; sl < 8; sl++)
		assert_int_equal(seen.port.sl2vl[sl], sl);
	assert_int_equal(result(1), 0x01234567);
	assert_int_equal(result(2), 0x55667788);
	assert_int_equal(result(3), 0x11223344);
	assert_int_equal(result(4), 0x1714);
	assert_int_equal(result(5), 1);
	assert_int_equal(result(6), 0x00a00010);
}

static void missing_port_traps(void **state)
{
	lw(TMP, PORT, FW_PORT_STRIDE);
	boot();
	rig_run();
	assert_int_equal(seen.catas, 1);
}

static void bad_firmware_file(void **state)
{
	char err[256] = "";

	hca->processor = NULL;
	assert_null(processor_create(hca, "no/such/file.elf", err, sizeof(err)));
	assert_non_null(strstr(err, "no/such/file.elf"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		T(executes_a_command),
		T(dma_of_every_kind),
		T(icm_and_tables),
		T(refused_accesses),
		T(counters_and_notes),
		T(object_commands),
		T(context_goes_to_memory_and_back),
		T(test_reads_what_software_set_back),
		T(status_waits_for_the_end),
		T(timer_interrupts),
		T(watchdog_kills),
		T(watchdog_rests_in_a_wait_and_begins_anew_after_it),
		T(trap_is_catastrophic),
		T(unknown_register_traps),
		T(firmware_gives_up),
		T(events_and_rules),
		T(ports),
		T(missing_port_traps),
		T(bad_firmware_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
