// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: ICM, and commands, inside of the driver. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/init_hca.h"
#include "testbench/dsan/asked/wanted.h"
#include "testbench/dsan/device/caps.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/held/claims.h"
#include "testbench/dsan/held/counted.h"
#include "testbench/dsan/held/pins.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/mads/groups.h"
#include "testbench/dsan/threads/threads.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"

#include <stdlib.h>

#define TIMEOUT_UNIT_PS UINT64_C(1000000000000) /* a second */

/* --- ICM --- */

static const struct {
	enum drv_table driver;
	unsigned device;
} tables[] = {{DRV_T_QPC, FW_TABLE_QPC}, {DRV_T_ALTC, FW_TABLE_ALTC}, {DRV_T_AUXC, FW_TABLE_AUXC},
	      {DRV_T_CQC, FW_TABLE_CQC}, {DRV_T_SRQC, FW_TABLE_SRQC}, {DRV_T_EQC, FW_TABLE_EQC},
	      {DRV_T_DMPT, FW_TABLE_MPT}};

/* How many entries of each chunk are in use. A chunk that was there before its first entry stays. */
static struct chunks {
	unsigned *refs;
	bool *stays;
} chunks[DEVICES][DRV_TABLES];

static struct chunks *chunks_of(const struct drv_icm_table *t)
{
	struct chunks *c = &chunks[t->dev->p->host % DEVICES][t - t->dev->tables];

	if (c->refs)
		return c;
	c->refs = calloc(t->n_chunks, sizeof(*c->refs));
	c->stays = calloc(t->n_chunks, sizeof(*c->stays));
	if (!c->refs || !c->stays)
		abort();
	return c;
}

static void chunks_forget(const struct drv_icm_table *t)
{
	struct chunks *c = chunks_of(t);

	free(c->refs);
	free(c->stays);
	*c = (struct chunks){0};
}

static unsigned chunk_nth(const struct drv_icm_table *t, uint32_t entry)
{
	return (unsigned)((uint64_t)(entry & (t->entries - 1)) * t->entry_bytes / DRV_CHUNK_BYTES);
}

static void chunks_before(const struct drv_icm_table *t, uint32_t first, uint32_t last)
{
	struct chunks *c = chunks_of(t);

	for (unsigned n = chunk_nth(t, first); n <= chunk_nth(t, last); n++)
		c->stays[n] = c->stays[n] || (t->chunks[n] && !c->refs[n]);
}

/* Mapped for the driver, and not for the device. */
static bool is_missing(const struct drv_icm_table *t, unsigned n)
{
	const struct checker *c = checker_of_host(t->dev->p->host);
	uint64_t bus;

	return c && t->chunks[n] && !t->dev->dead &&
	       hca_icm_bus(c->host.hca, t->virt + (uint64_t)n * DRV_CHUNK_BYTES, &bus);
}

/* The pages of a chunk end where its table does, or nobody else's table begins there. Source: Linux
 * mlx4_init_icm_table: chunk_size of the last chunk */
static void chunk_end_check(const struct drv_icm_table *t, unsigned n, const void *pc)
{
	const struct drv_profile *profile = &t->dev->profile;
	struct checker *c = checker_of_host(t->dev->p->host);
	const uint64_t begin = t->virt + (uint64_t)n * DRV_CHUNK_BYTES;
	const unsigned pages = t->chunks[n] ? t->chunks[n]->icm.pages : 0;

	for (unsigned i = 0; c && i < DRV_TABLES; i++) {
		const uint64_t other = profile->base[i];

		if (!profile->entry_bytes[i] || other <= begin ||
		    other >= begin + (uint64_t)pages * PLATFORM_PAGE_SIZE)
			continue;
		checker_report(c, &(struct breach){RULE_icm_overlap, {0}, pc, NULL},
			       "chunk %u of table %u, sized by chunk_get and chunk_pages, has %u "
			       "pages from 0x%llx of ICM on, and table %u begins at 0x%llx",
			       n, (unsigned)(t - t->dev->tables), pages, (unsigned long long)begin,
			       i, (unsigned long long)other);
		return;
	}
}

W(int, drv_table_init, struct drv_device *dev, struct drv_icm_table *t, uint64_t virt,
  unsigned entry_bytes, uint32_t entries, uint32_t reserved)
{
	const int rc = __real_drv_table_init(dev, t, virt, entry_bytes, entries, reserved);

	for (unsigned n = 0; !rc && n < t->n_chunks; n++)
		chunk_end_check(t, n, HERE);
	history_table_made(checker_of_host(dev->p->host));
	return rc;
}

/* The entries are used now, or no longer: so are their chunks. */
static void chunks_after(const struct drv_icm_table *t, uint32_t first, uint32_t last, int more,
			 const char *call)
{
	struct checker *checker = checker_of_host(t->dev->p->host);
	struct chunks *c = chunks_of(t);

	for (unsigned n = chunk_nth(t, first); n <= chunk_nth(t, last); n++) {
		c->refs[n] += (unsigned)more;
		if (!checker || c->stays[n] || (!c->refs[n] == !t->chunks[n] && !is_missing(t, n)))
			continue;
		checker_report(
			checker,
			&(struct breach){c->refs[n] ? RULE_icm_unmapped : RULE_not_given_back,
					 {0},
					 NULL,
					 NULL},
			"chunk %u of table %u has %u entries in use, and is %s, behind %s", n,
			(unsigned)(t - t->dev->tables), c->refs[n],
			is_missing(t, n) ? "not mapped for the device"
			: t->chunks[n]   ? "mapped"
					 : "not mapped",
			call);
	}
}

W(int, drv_table_get, struct drv_icm_table *t, uint32_t entry)
{
	int rc;

	chunks_before(t, entry, entry);
	rc = INNER(t->dev, true, __real_drv_table_get(t, entry));
	if (!rc)
		chunks_after(t, entry, entry, 1, "drv_table_get");
	if (!rc)
		taken_add(TAKEN_ICM, t, entry, HERE);
	return rc;
}

W(void, drv_table_put, struct drv_icm_table *t, uint32_t entry)
{
	const enum drv_table which = (enum drv_table)(t - t->dev->tables);

	for (size_t i = 0; claims_of(t->dev) && i < ARRAY_SIZE(tables); i++)
		if (tables[i].driver == which)
			claims_entry_back(claims_of(t->dev), tables[i].device, entry, HERE);
	taken_back(TAKEN_ICM, t, entry, HERE);
	__real_drv_table_put(t, entry);
	chunks_after(t, entry, entry, -1, "drv_table_put");
}

W(void *, drv_table_find, struct drv_icm_table *t, uint32_t entry, uint64_t *bus)
{
	void *at = __real_drv_table_find(t, entry, bus);

	counted_entry_found(t, entry, at, HERE);
	return at;
}

W(int, drv_table_get_range, struct drv_icm_table *t, uint32_t first, uint32_t last)
{
	int rc;

	chunks_before(t, first, last);
	rc = INNER(t->dev, true, __real_drv_table_get_range(t, first, last));
	chunks_after(t, first, last, rc ? 0 : 1, "drv_table_get_range");
	if (!rc)
		taken_add(TAKEN_ICM, t, (uint64_t)first << 32 | last, HERE);
	return rc;
}

W(void, drv_table_put_range, struct drv_icm_table *t, uint32_t first, uint32_t last)
{
	taken_back(TAKEN_ICM, t, (uint64_t)first << 32 | last, HERE);
	__real_drv_table_put_range(t, first, last);
	chunks_after(t, first, last, -1, "drv_table_put_range");
}

W(void, drv_table_cleanup, struct drv_icm_table *t, bool tell_device)
{
	taken_forget_of(t);
	chunks_forget(t);
	__real_drv_table_cleanup(t, tell_device);
}

W(int, drv_profile_make, struct drv_profile *profile, const struct dev_cap *cap,
  const struct drv_options *options)
{
	int rc;

	caps_taken_check(container_of(profile, struct drv_device, profile));
	rc = __real_drv_profile_make(profile, cap, options);
	if (!rc)
		caps_profile_check(profile, cap, options);
	return rc;
}

W(int, drv_icm_map, struct drv_device *dev, const struct drv_icm *icm, uint16_t op, uint64_t virt)
{
	caps_memory_check(dev, icm, op);
	return __real_drv_icm_map(dev, icm, op, virt);
}

/* Source of the time: Linux MLX4_CMD_TIME_CLASS_A: a command has 60 s */
static void command_begins(struct ask *a, const struct drv_device *dev)
{
	struct wanted *w = &a->command.wants;

	pins_call_sleeps();
	if (drv_cmd_is_closing((uint16_t)w->op))
		trail_undoes();
	w->out_sum = wanted_out_sum(w);
	w->begun_ps = dev->p->ops->now_ps(dev->p);
	if (!w->timeout_ps)
		w->timeout_ps = dev->options.command_timeout_ps;
	if (!w->timeout_ps)
		w->timeout_ps = 60 * TIMEOUT_UNIT_PS;
}

/* Mailboxes are kept for the next command, also when this one fails. What it was asked for stands
 * behind the call. */
#define COMMAND(dev, call, result, ...)                                                            \
	({                                                                                         \
		ASK inner;                                                                         \
		int rc;                                                                            \
                                                                                                   \
		ask_begin(&inner, ASK_INNER, __func__, (dev)->p, 0);                               \
		inner.command.wants = (struct wanted){.known = true, __VA_ARGS__};                 \
		command_begins(&inner, dev);                                                       \
		ask_mark(&inner);                                                                  \
		rc = call;                                                                         \
		rc = asked_command_end(&inner, rc, result);                                        \
		if (!rc && !(dev)->dead)                                                           \
			asked_command_skipped(&inner);                                             \
		taken_inner_end(&inner, 0, true);                                                  \
		rc;                                                                                \
	})

W(int, drv_cmd, struct drv_device *dev, struct drv_raw_cmd *cmd)
{
	return COMMAND(dev, __real_drv_cmd(dev, cmd), cmd->out_imm ? &cmd->out_param : NULL,
		       .op = cmd->op, .op_mod = cmd->op_mod, .in_mod = cmd->in_mod,
		       .in_param = cmd->in_param, .in = cmd->in, .in_len = cmd->in_len,
		       .out = cmd->out, .out_len = cmd->out_len, .timeout_ps = cmd->timeout_ps);
}

/* Entries of groups are read, changed and written back. */
static void group_read(const struct drv_device *dev, uint16_t op, uint32_t index, const void *pc)
{
	if (op == HCR_READ_MCG)
		groups_command(checker_of_host(dev->p->host), pc);
	if (op == HCR_READ_MCG)
		locks_read(checker_of_host(dev->p->host), (uintptr_t)dev + index, pc);
}

static void group_write(const struct drv_device *dev, uint16_t op, uint32_t index, const void *pc)
{
	if (op == HCR_WRITE_MCG)
		groups_command(checker_of_host(dev->p->host), pc);
	if (op == HCR_WRITE_MCG)
		locks_write(checker_of_host(dev->p->host), (uintptr_t)dev + index,
			    "an entry of the multicast table", pc);
}

W(int, drv_cmd_in, struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod,
  const void *in, size_t len)
{
	const struct ask *a = ask_running();

	if (a && op == HCR_INIT_HCA && len == sizeof(struct init_hca))
		init_hca_says(a, dev, in);
	group_write(dev, op, in_mod, HERE);
	return COMMAND(dev, __real_drv_cmd_in(dev, op, in_mod, op_mod, in, len), NULL, .op = op,
		       .op_mod = op_mod, .in_mod = in_mod, .in = in, .in_len = len);
}

W(int, drv_cmd_out, struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod,
  void *out, size_t len)
{
	const void *pc = HERE;

	group_read(dev, op, in_mod, pc);
	return COMMAND(dev, __real_drv_cmd_out(dev, op, in_mod, op_mod, out, len), NULL, .op = op,
		       .op_mod = op_mod, .in_mod = in_mod, .out = out, .out_len = len);
}

W(int, drv_cmd_plain, struct drv_device *dev, uint16_t op, uint32_t in_mod, unsigned op_mod)
{
	return COMMAND(dev, __real_drv_cmd_plain(dev, op, in_mod, op_mod), NULL, .op = op,
		       .op_mod = op_mod, .in_mod = in_mod);
}

W(int, drv_cmd_imm, struct drv_device *dev, uint16_t op, uint32_t in_mod, uint64_t in_param,
  uint64_t *out_param)
{
	return COMMAND(dev, __real_drv_cmd_imm(dev, op, in_mod, in_param, out_param), out_param,
		       .op = op, .in_mod = in_mod, .in_param = in_param);
}

W(int, drv_hcr_exec, struct drv_device *dev, struct drv_hcr *cmd)
{
	return COMMAND(dev, __real_drv_hcr_exec(dev, cmd), &cmd->out_param, .op = cmd->op,
		       .op_mod = cmd->op_mod, .in_mod = cmd->in_mod, .in_param = cmd->in_param,
		       .out_param = cmd->out_param, .timeout_ps = cmd->timeout_ps);
}
