/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process dies, or closes its context, while the device refuses to take back its region, as it does when
 * windows are bound to one. The process ends nevertheless, and so does all that the region does not need. The
 * region's pages stay, because the device may still reach them, and its context is told of no event. When it
 * is closed again, and the device refuses nothing, nothing is left.
 */
/* behaviours: PROCESS-end-refused */
#include "host_driver/mlx4/mad.h"
#include "host_driver/uverbs/lib.h"
#include "testbench/harm.h"
#include "testbench/programs.h"

/* In the second round of the context's end nothing goes, so there is no third one. */
enum { ROUNDS = 2, LEFT = 2 /* the region and its PD */, STEPS = 1000 };

static int close_context(void *arg)
{
	struct program *p = arg;

	return ibv_close_device(p->context);
}

static void killed(struct tb *tb, struct process *p)
{
	kill_process(p);
	for (unsigned i = 0; i < STEPS && still_right() && !has_exited(p); i++)
		pass_time(CFG_US(10));
	expect_true(has_exited(p));
}

static void region_stays(struct tb *tb, struct tb_end *a, bool closes)
{
	const struct ib_device *device = ib_device_of(a);
	const struct uv_host *uv = tb_uv_host(tb, a);
	const unsigned held = driver_holds(a->dev), objects = ib_device_objects(device);
	struct process *worker = start_worker(a);
	struct program p = {.file = "domain"};
	struct uv_process *process;
	struct uv_file *file;

	run_in(worker, program_open, &p);
	if (!still_right())
		return;
	file = UV_CONTEXT(p.context)->file;
	process = file->process;
	fail_command(a, HCR_HW2SW_MPT, HCR_STATUS_REG_BOUND, ROUNDS);
	if (closes)
		run_in(worker, close_context, &p);
	killed(tb, worker);
	expect_equal(uv->files, 1);
	expect_equal(ib_device_objects(device), objects + LEFT);
	if (!still_right())
		return;
	drv_notify(a->dev, &(struct drv_event){.type = IBV_EVENT_LID_CHANGE, .port = 1});
	expect_event(a, IBV_EVENT_LID_CHANGE);
	expect_true(drv_list_empty(&file->async->events));
	uvk_close(file);
	expect_equal(uv->files, 0);
	expect_equal(ib_device_objects(device), objects);
	expect_true(uv_pages_free(process, p.buf));
	expect_exit(worker, PROCESS_KILLED);
	expect_equal(driver_holds(a->dev), held);
}

SCENARIO(process_end_refused, "a process ends while the device refuses to take its objects back",
	 .no_qps = true, .of_mlx4 = "commands that give an object back")
{
	static const bool closes[] = {false, true};

	for_each_row(i, closes) {
		name_row("%s", closes[i] ? "it closes its context" : "it dies");
		region_stays(tb, a, closes[i]);
	}
}
