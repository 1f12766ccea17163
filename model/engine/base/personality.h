/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of device an HCA is to its host. The link, PCIe, configuration space, interrupts,
 * packets, traces and faults are the same for all; a personality is what stands between them: the
 * registers behind the BARs, and what happens to packets. hca.c makes a device of the one that the
 * parameter `personality` names.
 */
#ifndef MODEL_ENGINE_PERSONALITY_H
#define MODEL_ENGINE_PERSONALITY_H

#include "model/engine/base/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct hca_params;
enum hca_object;

enum { PCI_BARS = 6 };

/* What configuration space says of the device. BARs are 64 bits wide, so only even ones exist. */
struct pci_identity {
	uint16_t vendor, device, subsystem_vendor, subsystem;
	uint32_t class_code; /* base class, subclass, programming interface */
	uint8_t revision;
	uint32_t bar_bytes[PCI_BARS]; /* powers of two; 0: there is no such BAR */
	bool bar_prefetchable[PCI_BARS];
	bool little_endian; /* byte order in which the log shows what is read from a BAR */
	/* In BAR0: the MSI-X table, and its pending bits. */
	uint32_t msix_table, msix_pba;
	unsigned vectors_max;
	/* Of its PCIe link, beside the parameters [hca.pcie]; 0: no limit. */
	uint32_t max_mt_s;
};

struct personality {
	const char *name; /* as CFG_PERSONALITIES has it */
	struct hca_calls calls;
	const struct pci_identity *(*pci)(const struct hca_params *params);
	/* What its port can do, beside the parameters [hca.link]; 0: no limit. */
	unsigned max_ports, max_lane_mbps, max_width;

	/* Makes its own stages, in power-on state. 0, or -EINVAL with one line in err[]. */
	int (*create)(struct hca *hca, const char *fw_path, char *err, size_t err_size);
	void (*destroy)(struct hca *hca);
	/* Nothing is under way in its own stages; else what, for people. */
	bool (*is_quiet)(const struct hca *hca);
	void (*describe)(const struct hca *hca, char *text, size_t size);
	/* Bytes that its own stages hold. */
	size_t (*footprint)(const struct hca *hca);

	/* hca_context_read(), hca_evict(), hca_command_fail(), and hca_jitter() of its own stages;
	 * NULL: it has no such thing. */
	int (*context_read)(struct hca *hca, enum hca_object type, uint32_t number, void *buf,
			    size_t size);
	void (*evict)(struct hca *hca, enum hca_object type, uint32_t number);
	void (*command_fail)(struct hca *hca, const struct hca_command_fault *fault);
	uint32_t (*command_fail_left)(const struct hca *hca);
	void (*jitter)(struct hca *hca, uint64_t seed);
};

extern const struct personality personality_mlx4, personality_ipath, personality_outside;

#endif
