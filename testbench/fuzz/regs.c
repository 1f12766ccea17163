// SPDX-License-Identifier: Apache-2.0
/*
 * Accesses to configuration space and both BARs, any offset, size and value; near the registers
 * that exist more often. The device ends in any state.
 */
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 128, CONFIG_BYTES = 4096, BURST = 64 };

static const uint32_t near[] = {BAR0_HCR,       BAR0_RESET,   BAR0_OWNERSHIP,
				BAR0_SEMAPHORE, BAR0_CLR_INT, 0};

static void no_answer(void *arg, const void *bytes, unsigned size)
{
}

static uint64_t offset_of(struct fuzz_bytes *b, unsigned bar, unsigned how)
{
	if (bar == 2)
		return fuzz_take(b, how & 32 ? 4 : 2) * (how & 64 ? 1 : 8);
	if (how & 32)
		return fuzz_take(b, 3);
	return near[how % (sizeof(near) / sizeof(near[0]))] +
	       (how & 64 ? fuzz_take(b, 1) : 4 * (fuzz_take(b, 1) % 8));
}

static void access_once(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	unsigned how = (unsigned)fuzz_take(b, 1), what = (unsigned)fuzz_take(b, 1), size;
	struct hca *hca = host_hca(rig->machine.hosts[0]);
	unsigned bar = what & 1 ? 2 : 0;
	uint8_t bytes[BURST] = {0};
	const uint8_t *some;
	size_t some_size;
	uint64_t at;

	if ((what >> 1 & 7) == 7) {
		size = 1u << (what >> 4) % 3;
		at = fuzz_take(b, 2) % CONFIG_BYTES / size * size;
		if (what & 128)
			hca_config_write(hca, (unsigned)at, size, (uint32_t)fuzz_take(b, size));
		else
			hca_config_read(hca, (unsigned)at, size);
		return;
	}
	at = offset_of(b, bar, how);
	size = what & 64 ? 1 + (unsigned)fuzz_take(b, 1) % BURST : what & 32 ? 8 : 4;
	if (at % BURST + size > BURST)
		size = BURST - (unsigned)(at % BURST);
	some_size = fuzz_take_some(b, what & 128 ? size : 0, &some);
	memcpy(bytes, some, some_size);
	switch (what >> 1 & 7) {
	case 0:
		hca_mmio_read(hca, bar, at, size, no_answer, NULL);
		break;
	case 1:
		hca_mmio_read_now(hca, bar, at, bytes, size);
		break;
	case 2:
		hca_mmio_write_now(hca, bar, at, bytes, size);
		break;
	default:
		hca_mmio_write(hca, bar, at, bytes, size);
		break;
	}
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	struct fuzz_rig *rig = fuzz_rig_get();

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&b); n++) {
		access_once(rig, &b);
		fuzz_rig_pass(rig, CFG_NS(fuzz_take(&b, 1) * 20));
	}
	fuzz_rig_pass(rig, CFG_MS(5));
	if (rig->inputs % 8 == 0)
		fuzz_rig_spoil();
	return 0;
}
