/* SPDX-License-Identifier: Apache-2.0 */
/* See machine.h. */
#include "model/sim/cfg.h"
#include "testbench/dsan/checker.h"
#include "testbench/machine.h"
#include "testbench/machine/holds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NOTES = 64 };

/* Returns a free entry, or NULL. */
static struct guest_error_note *next_note(struct machine *m)
{
	if (m->guest_errors_kept == m->guest_errors_room) {
		const unsigned room = m->guest_errors_room ? 2 * m->guest_errors_room : FIRST_NOTES;
		struct guest_error_note *grown =
			room > MACHINE_GUEST_ERRORS
				? NULL
				: realloc(m->guest_error_notes, room * sizeof(*grown));

		if (!grown)
			return NULL;
		m->guest_error_notes = grown;
		m->guest_errors_room = room;
	}
	return &m->guest_error_notes[m->guest_errors_kept++];
}

static struct act act_of(const struct act *act)
{
	return act ? *act : (struct act){0};
}

static void note_guest_error(void *arg, unsigned host, const struct guest_error *error)
{
	struct machine *m = arg;
	const struct acts *acts = host_acts(m->hosts[host]);
	struct guest_error_note *note = next_note(m);

	m->guest_errors++;
	if (!note)
		return;
	*note = (struct guest_error_note){
		.host = host,
		.rule = error->rule,
		.name = error->name,
		.object = error->object,
		.time_ps = m->core.now_ps,
		.consequence = m->failed,
		.doorbell = act_of(acts_doorbell(acts, error->object)),
		.command = act_of(acts_command(acts, error->object)),
	};
	calls_take(&note->now, kernel_thread_running());
	checkers_ran(host, &note->ran);
	checkers_made(host, error->object, &note->made, &note->changed);
	checkers_set(host, error->rule, &note->set);
	note->wrote.n = 0;
	if (error->rule == RULE_wqe_malformed)
		checkers_wrote(host, error->object, &note->wrote);
	if (error->rule == RULE_dma_unmapped)
		note->unmapper = act_of(acts_unmapper(acts, host_fault_bus(m->hosts[host])));
	if (error->rule == RULE_bus_master_off || error->rule == RULE_config_not_restored)
		note->configured = act_of(acts_configured(acts));
	snprintf(note->text, sizeof(note->text), "%s", error->text);
}

static void note_catastrophe(void *arg, unsigned host, const char *text)
{
	struct machine *m = arg;

	m->catastrophes++;
	m->catastrophes_of[host]++;
}

int machine_create(struct machine *m, const struct machine_options *options, char *err,
		   size_t err_size)
{
	memset(m, 0, sizeof(*m));
	m->config = options->config;
	m->trace = options->trace;
	event_core_init(&m->core);
	fault_plan_init(&m->plan, m->config->sim.sim_seed);
	m->kernel = kernel_create(&m->core, m->config->sim.sim_run_ahead != 0);
	if (options->explorer) {
		m->holds = holds_create(options->explorer, m->kernel, &m->core);
		if (!m->holds) {
			snprintf(err, err_size, "out of memory");
			machine_destroy(m);
			return -ENOMEM;
		}
	}
	for (unsigned i = 0; i < MACHINE_HOSTS; i++) {
		const struct host_config hc = {
			.index = i,
			.params = &m->config->host[i],
			.hca_params = &m->config->hca[i],
			.trace = m->trace,
			.fw_path = options->fw_path,
			.dmi = !options->no_dmi,
			.seed = m->config->sim.sim_seed,
			.holds = m->holds,
			.guest_error = note_guest_error,
			.catastrophe = note_catastrophe,
			.arg = m,
		};

		m->hosts[i] = host_create(m->kernel, &m->core, &hc, err, err_size);
		if (!m->hosts[i]) {
			machine_destroy(m);
			return -EINVAL;
		}
		if (m->config->sim.sim_jitter)
			host_jitter(m->hosts[i], m->config->sim.sim_seed);
	}
	if (m->trace && refusals_listen(m, m->trace)) {
		snprintf(err, err_size, "out of memory");
		machine_destroy(m);
		return -ENOMEM;
	}
	for (unsigned port = 1;
	     port <= m->config->hca[0].hca_ports && port <= m->config->hca[1].hca_ports &&
	     m->config->hca[1].hca_personality != CFG_PERSONALITY_outside;
	     port++)
		hca_link(host_hca(m->hosts[0]), port, host_hca(m->hosts[1]), port, &m->plan);
	return 0;
}

enum kernel_end machine_run(struct machine *m)
{
	uint64_t limit = m->config->sim.sim_time_limit;

	return kernel_run(m->kernel, limit ? limit : EVENT_NEVER);
}

void machine_stop(struct machine *m)
{
	kernel_stop(m->kernel);
}

void machine_destroy(struct machine *m)
{
	/* If the run was cut short, each device may hold packets that the other one owns. */
	for (unsigned i = 0; i < MACHINE_HOSTS; i++)
		if (m->hosts[i])
			hca_pci_reset(host_hca(m->hosts[i]));
	kernel_destroy(m->kernel);
	for (unsigned i = 0; i < MACHINE_HOSTS; i++)
		host_destroy(m->hosts[i]);
	holds_destroy(m->holds);
	fault_plan_free(&m->plan);
	event_core_free(&m->core);
	free(m->guest_error_notes);
	m->guest_error_notes = NULL;
}
