/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a run: the rows of params.h, with values from the defaults, an ini file and
 * -s settings.
 *
 * Precedence is default < file < -s. In a file, [hca0.link] overrides [hca.link], wherever it
 * stands. Of several -s settings the last one wins.
 * Errors are printed to err (NULL: nowhere), each once and as one line:
 * FILE:LINE: name: expected what, got what. */
#ifndef MODEL_SIM_CFG_H
#define MODEL_SIM_CFG_H

#include <stdio.h>

#include "model/sim/params.h"

enum {
	CFG_HCAS = 2,
	CFG_HOSTS = 2,
};

struct config {
	struct sim_params sim;
	struct hca_params hca[CFG_HCAS];
	struct host_params host[CFG_HOSTS];
};

void cfg_defaults(struct config *cfg);

/* 0 on success. -EINVAL for an unknown section or key, a bad unit, a value out of range, or a key
 * given twice. Otherwise -errno of opening or reading the file. cfg changes only on success. */
int cfg_load_ini(struct config *cfg, const char *path, FILE *err);

/* setting is section.key=value: hca.link.delay=1us, hca0.link.delay=1us, host.poll_interval=5ns,
 * sim.seed=7. where begins the error message, e.g. "-s". 0 or -EINVAL; cfg changes only on
 * success. */
int cfg_set(struct config *cfg, const char *setting, const char *where, FILE *err);

/* Writes the configuration as an ini file, each key with its meaning. Loading the file gives the
 * same configuration. 0 or -EIO. */
int cfg_save(const struct config *cfg, FILE *out);

/* Every parameter: section, key, unit, default, range, meaning, source. 0 or -EIO. */
int cfg_print_rows(FILE *out);
/* Every parameter's name in the form cfg_set() takes, one a line. */
void cfg_print_names(FILE *out);

/* Sets every cost (unit TIME) to its minimum: configs/ideal.ini. */
void cfg_make_ideal(struct config *cfg);

/* Node GUID of device n: its parameter, or the default GUID when the parameter is 0. */
uint64_t cfg_node_guid(const struct hca_params *hca, unsigned int n);

#endif
