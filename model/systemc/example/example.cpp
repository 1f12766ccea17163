// SPDX-License-Identifier: Apache-2.0
/*
 * Two hca_modules in a platform that is not hcasim's: CPU stubs and memories bound by TLM-2.0
 * sockets only. Both drivers are loaded, a subnet manager on the first CPU brings the ports to
 * ACTIVE, then all is unloaded. Exit status 0 when nothing is left.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "model/systemc/example/foreign_platform.hpp"
#include "model/systemc/hca_module.hpp"

extern "C" {
#include "host_driver/mlx4/mlx4.h"
#include "host_driver/sm/sm.h"
#include "model/sim/cfg.h"
#include "traces/trace.h"
}

using namespace sc_core;

namespace
{
constexpr size_t MEMORY_BYTES = 256 << 20;

struct node {
	foreign_memory memory;
	foreign_cpu cpu;
	hca_module hca;
	sc_signal<bool, SC_MANY_WRITERS> intx;
	drv_device *driver = nullptr;

	node(unsigned n, engine_process &engine, const hca_params *hca_p, const host_params *host_p,
	     trace *tr, const char *fw)
	    : memory(("memory" + std::to_string(n)).c_str(), MEMORY_BYTES),
	      cpu(("cpu" + std::to_string(n)).c_str(), n, memory),
	      hca(("device" + std::to_string(n)).c_str(), engine, n, hca_p, host_p, tr, fw)
	{
		cpu.config.bind(hca.config);
		cpu.bar0.bind(hca.bar0);
		cpu.bar2.bind(hca.bar2);
		hca.dma.bind(memory.socket);
		hca.msi.bind(cpu.msi);
		hca.intx.bind(intx);
		cpu.intx.bind(intx);
		hca.on_guest_error = [n](const guest_error &error) {
			fprintf(stderr, "node %u: guest error %s: %s\n", n, error.name, error.text);
		};
	}
};

struct bring_up {
	node *nodes[2];
	int failures = 0;
	bool finished = false;
};

void check(bring_up *b, const char *what, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-rc));
	b->failures++;
}

void program(void *arg)
{
	auto *b = static_cast<bring_up *>(arg);
	sm_result result = {};

	for (auto *n : b->nodes)
		check(b, "probe", drv_probe(n->cpu.platform(), nullptr, &n->driver));
	if (b->failures)
		return;
	for (auto *n : b->nodes)
		check(b, "port up", drv_port_up(n->driver, 1));
	check(b, "subnet manager", sm_run(b->nodes[0]->driver, 1, nullptr, &result));
	if (result.own.state != IBV_PORT_ACTIVE || result.peer.state != IBV_PORT_ACTIVE)
		check(b, "ports active", -ENOLINK);
	printf("lid %u and lid %u: ports active after %.3f us\n", result.own.lid, result.peer.lid,
	       sc_time_stamp().to_seconds() * 1e6);
	for (auto *n : b->nodes) {
		const drv_leftovers left = drv_remove(n->driver), none = {};

		if (memcmp(&left, &none, sizeof(left))) {
			fprintf(stderr, "objects are left behind\n");
			b->failures++;
		}
	}
	b->finished = true;
	sc_stop();
}
} // namespace

int sc_main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FIRMWARE.elf\n", argv[0]);
		return 2;
	}

	config cfg;
	event_core core;

	cfg_defaults(&cfg);
	event_core_init(&core);
	try {
		engine_process engine("engine", &core, true);
		node a(0, engine, &cfg.hca[0], &cfg.host[0], nullptr, argv[1]),
			z(1, engine, &cfg.hca[1], &cfg.host[1], nullptr, argv[1]);
		bring_up b = {{&a, &z}};

		a.hca.bind_link(1, z.hca, 1);
		a.cpu.run("bring_up", program, &b);
		sc_start();
		event_core_free(&core);
		if (!b.finished)
			fprintf(stderr, "bring-up did not come to its end\n");
		return b.failures || !b.finished;
	} catch (const std::runtime_error &e) {
		fprintf(stderr, "%s\n", e.what());
		return 2;
	}
}
