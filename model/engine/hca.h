/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulated HCA as code outside the engine sees it: a PCI function on one side, one or two link
 * ports on the other.
 *
 * `struct hca_env` contains what the engine needs from the code that embeds it (the SystemC module,
 * a vfio-user server, a unit test's fake). Nothing here depends on SystemC. All calls are made from
 * one thread of control at a time, at the event core's present time. The engine never blocks. It
 * calls its embedder only through the env and through `done` functions, from its own events.
 */
#ifndef MODEL_ENGINE_HCA_H
#define MODEL_ENGINE_HCA_H

#include "model/engine/base/event_core.h"
#include "model/interface/rules.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hca;
struct hca_params;
struct host_params;
struct packet;
struct trace;
struct fault_plan;

/* What an HCA needs from the code that embeds it. `ctx` is passed back unchanged. */
struct hca_env {
	void *ctx;

	/*
	 * DMA: reads or writes the bytes at once (the engine accounts for PCIe's time). Addresses
	 * are bus addresses. A range may cross pages, but not the end of what is mapped. 0;
	 * -EFAULT: a byte is not mapped, and nothing has been transferred; -ENOMEM: the embedder
	 * could not do it, which looks the same to the device but is not the driver's mistake.
	 */
	int (*dma_read)(void *ctx, uint64_t bus, void *buf, size_t len);
	int (*dma_write)(void *ctx, uint64_t bus, const void *buf, size_t len);

	/* The MSI-X message of `vector` has reached the host: the memory write of `data` to
	 * `address`, both from the vector's table entry. */
	void (*irq_raise)(void *ctx, unsigned vector, uint64_t address, uint32_t data);
	/* INTx level. */
	void (*intx)(void *ctx, bool asserted);

	/* Software has broken a rule of the device's interface. It has already been counted and
	 * traced. */
	void (*guest_error)(void *ctx, const struct guest_error *error);
	/* The device has stopped with a catastrophic error. `text` is its line. */
	void (*catastrophe)(void *ctx, const char *text);
};

/*
 * Creates HCA number `index` (0 or 1: its name in traces is hca0 or hca1) in power-on state. `host`
 * has the times of its root complex. `params`, `core`, `env`, `trace` and `fw_path` (the firmware's
 * ELF file) must outlive it. NULL: the firmware cannot be loaded, and err[] has one line of text.
 */
struct hca *hca_create(unsigned index, const struct hca_params *params,
		       const struct host_params *host, struct event_core *core,
		       const struct hca_env *env, struct trace *trace, const char *fw_path,
		       char *err, size_t err_size);
void hca_destroy(struct hca *hca);

/* PCI reset (power-on values, configuration space included). A software reset through BAR0 keeps
 * configuration space. */
void hca_pci_reset(struct hca *hca);

/* The value of the parameter `personality`. */
const char *hca_personality(const struct hca *hca);
/* The first dword of configuration space: device << 16 | vendor. */
uint32_t hca_pci_id(const struct hca *hca);

/* Configuration space: 1, 2 or 4 bytes, naturally aligned; the value is little-endian, as PCI
 * defines it. Takes effect at once. */
uint32_t hca_config_read(struct hca *hca, unsigned offset, unsigned size);
/* A dword of it as it stands there: nothing is traced. */
uint32_t hca_config_peek(const struct hca *hca, unsigned offset);
void hca_config_write(struct hca *hca, unsigned offset, unsigned size, uint32_t value);

/* Size of a BAR, 0 when there is no such one; and whether software reads its registers as
 * little-endian numbers: else they are big-endian. */
uint64_t hca_bar_bytes(const struct hca *hca, unsigned bar);
bool hca_bars_little_endian(const struct hca *hca);

/*
 * The host accesses a BAR (0 or 2); the root complex issues the access now. `bytes` are in memory
 * order. Writes are posted: they reach the device in order, after PCIe's latency. A read reaches
 * the device after the writes before it. `done` is called when the completion is back at the host;
 * a completion pushes the device's own posted writes before it (PCIe ordering). An access has 1 to
 * 64 bytes and does not cross a 64-byte boundary.
 */
void hca_mmio_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
		    unsigned size);
void hca_mmio_read(struct hca *hca, unsigned bar, uint64_t offset, unsigned size,
		   void (*done)(void *arg, const void *bytes, unsigned size), void *arg);
/* The same without PCIe's time: takes effect at once. For debuggers, and for transports that have a
 * time of their own (vfio-user). */
void hca_mmio_write_now(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size);
void hca_mmio_read_now(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size);
/* The time when all posted writes that the device has issued so far are in host memory. PCIe lets
 * no answer to the host overtake them; a caller of hca_mmio_read_now() must ensure this itself. */
uint64_t hca_writes_landed_ps(const struct hca *hca);

/*
 * Connects port `a_port` of `a` with port `b_port` of `b` by a cable. Ports count from 1, and may
 * belong to the same HCA. `plan` may be NULL; it sees every packet that leaves a port, and must
 * outlive the devices.
 */
void hca_link(struct hca *a, unsigned a_port, struct hca *b, unsigned b_port,
	      struct fault_plan *plan);
/* Pulls or plugs the cable. The port sees the signal go and come back. */
void hca_link_set(struct hca *hca, unsigned port, bool plugged);

/*
 * For a driver's error paths: of the commands from now on with this opcode (0: any), `skip` go as
 * usual; the next `times` end with `status` and are not carried out. One such rule at a time;
 * times 0: none. A reset leaves it as it is. 0, or -EOPNOTSUPP from a device that has no commands.
 */
struct hca_command_fault {
	uint32_t opcode, skip, times;
	uint8_t status;
};
int hca_command_fail(struct hca *hca, const struct hca_command_fault *fault);

/*
 * A completer that takes its time, for scenarios: of the reads (or posted writes) by DMA from now
 * on that are of that kind and queue pair, `skip` go as usual and `times` take by_ps longer. Others
 * overtake a late read; writes wait behind a late write. `what` as in struct dma ("wqe", "payload",
 * "cqe", "message" for an interrupt, ...), NULL: any; qpn 0: any. One such rule at a time; times 0:
 * none. A reset leaves it as it is.
 */
struct hca_late_dma {
	const char *what; /* lives as long as the rule */
	uint32_t qpn, skip, times;
	bool write;
	uint64_t by_ps;
};
void hca_dma_late(struct hca *hca, const struct hca_late_dma *late);
/* How many commands, and how many DMAs, those two functions will still affect. */
uint32_t hca_command_fail_left(const struct hca *hca);
uint32_t hca_dma_late_left(const struct hca *hca);

/*
 * Somebody who is asked how much longer each access takes than usual. PCIe's order stands: later
 * writes of the device and its messages wait behind a late write, later accesses of the host behind a
 * late register write; a late read is overtaken. `at` is where a DMA begins on the bus, or the
 * offset of the register in its BAR.
 */
enum hca_late_way { HCA_LATE_READ, HCA_LATE_WRITE, HCA_LATE_REGISTER };

struct hca_late_judge {
	void *ctx;
	uint64_t (*late_ps)(void *ctx, enum hca_late_way way, const char *what, uint64_t at);
};
void hca_late_ask(struct hca *hca, const struct hca_late_judge *judge);

/*
 * From now on each DMA read and write, each interrupt message and each time that the firmware is
 * woken takes longer: at random by the seed, and at most as the parameters [host.pcie] *_jitter and
 * [hca.fw] jitter say.
 */
void hca_jitter(struct hca *hca, uint64_t seed);

/* Delivers a raw packet (LRH to VCRC) as if it had come in from the wire now. It is checked and
 * received like any other packet. */
void hca_inject(struct hca *hca, unsigned port, const void *wire, size_t len);

/*
 * What stands outside of the simulation, at the other end of the cables of a device whose
 * personality is outside. Frames are from the destination MAC to the last byte before the FCS: FCS
 * and padding of a frame that comes in are made here, and a frame that goes out has had a right FCS.
 */
enum hca_outside_answer {
	OUTSIDE_TOOK,
	OUTSIDE_LATER, /* it stays in the receive buffer of the port */
	OUTSIDE_LOST,
};

struct hca_outside {
	void *ctx;
	/* A frame has crossed the cable. */
	enum hca_outside_answer (*frame)(void *ctx, unsigned port, const void *frame, size_t len);
	/* The link is up, or no longer. NULL: nobody asks. */
	void (*link)(void *ctx, unsigned port, bool up);
	bool pause; /* its ports send pause frames when it is slow, and obey those that come */
};

/* `world` outlives the device. From now on its ports are up wherever the other end is. */
void hca_outside_set(struct hca *hca, const struct hca_outside *world);
/* A frame from outside leaves by that port now, or when those before it have left. 0; -EMSGSIZE:
 * Ethernet has no frames of that length. */
int hca_outside_send(struct hca *hca, unsigned port, const void *frame, size_t len);
/* How long the port needs for the frames that wait there. */
uint64_t hca_outside_backlog_ps(const struct hca *hca, unsigned port);
/* The same for a frame that has left the port at this moment, whatever else is on the line; and how
 * long it takes to the other end. */
int hca_outside_put(struct hca *hca, unsigned port, const void *frame, size_t len);
uint64_t hca_outside_flight_ps(const struct hca *hca, unsigned port);
/* The outside has room again after OUTSIDE_LATER. It is asked again anyway every 100 us. */
void hca_outside_go_on(struct hca *hca, unsigned port);

/* Counters by name: the rows of stats.h in their order, and those of each port. Returns their
 * number, and writes the first `room` of them. */
struct stat_value {
	const char *stage, *counter, *meaning;
	uint64_t value;
};
size_t hca_stats(const struct hca *hca, struct stat_value *values, size_t room);

/* True when nothing is in flight: no packet, DMA, timer or command is pending. */
bool hca_is_quiet(const struct hca *hca);
/* What is in flight: "qpn 0x209 (and 3 further queue pairs), 1 dma". Empty: nothing is. */
void hca_busy(const struct hca *hca, char *text, size_t size);
/* Bytes that the simulator itself holds for this HCA, without host memory; for the figure
 * `qp_bytes`. */
size_t hca_footprint(const struct hca *hca);

enum hca_object { HCA_QP, HCA_CQ, HCA_EQ, HCA_SRQ, HCA_MPT };

/* Bytes of a DMA are about to move. */
struct hca_dma_seen {
	const char *what; /* as in struct dma: "wqe", "cqe", ... */
	uint64_t bus;
	const void *bytes; /* of a write */
	uint32_t len, qpn;
	bool write;
};

/* A WQE of a send queue has been read and found posted. */
struct hca_wqe_seen {
	uint32_t qpn;
	uint16_t index;
	uint64_t bus;      /* where it begins */
	const void *bytes; /* as they were read */
};

struct hcr;
struct mpt_entry;

/*
 * A looker-on, such as a checker of drivers: is told what the device does with host memory, at that
 * moment. It may read the device, and report guest errors; it changes nothing. No pointer is NULL.
 */
struct hca_command_answer {
	uint8_t status; /* enum hcr_status */
	bool planned; /* it fails because a test wants it (hca_command_fault), not for what was given */
	uint64_t out_param;
};

struct hca_monitor {
	void *ctx;
	void (*dma)(void *ctx, const struct hca_dma_seen *dma);
	void (*wqe)(void *ctx, const struct hca_wqe_seen *wqe);
	/* An object has become the device's, or, when it was already, has changed; or it is the
	 * device's no longer. mpt: what an MPT has been changed to by a work request, which is on
	 * its way to ICM; else NULL. */
	void (*object)(void *ctx, enum hca_object type, uint32_t number, bool valid,
		       const struct mpt_entry *mpt);
	/* A command was given to firmware (answer: NULL); it is done. */
	void (*command)(void *ctx, const struct hcr *command,
			const struct hca_command_answer *answer);
	/* ICM pages have been mapped; are about to be unmapped (va 0, len UINT64_MAX: all). */
	void (*icm_map)(void *ctx, uint64_t va, uint64_t bus, uint64_t len);
	void (*icm_unmap)(void *ctx, uint64_t va, uint64_t len);
	/* SYNC_TPT. */
	void (*sync)(void *ctx);
	/* The device has forgotten every object: CLOSE_HCA, reset. `reset`: the ICM as well. */
	void (*forgotten)(void *ctx, bool reset);
};
/* NULL: nobody looks on. */
void hca_monitor_set(struct hca *hca, const struct hca_monitor *monitor);

/* The bus address behind an ICM address: 0, or -ENOENT when its page is not mapped. */
int hca_icm_bus(const struct hca *hca, uint64_t va, uint64_t *bus);
/* Which entry of which table (FW_TABLE_*) stands at an ICM address, and the reverse. An index beyond
 * its table counts from the beginning again. */
bool hca_icm_find(const struct hca *hca, uint64_t va, unsigned *table, uint64_t *index);
uint64_t hca_icm_address(const struct hca *hca, unsigned table, uint64_t index);
bool hca_object_valid(const struct hca *hca, enum hca_object type, uint32_t number);
/* After a catastrophic error, until a reset. */
bool hca_is_stopped(const struct hca *hca);
/*
 * Reads a context as the device has it now: the cached line if there is one, otherwise ICM. Returns
 * its size in bytes. 0: the object is not valid; -EFAULT: its ICM is not mapped.
 */
int hca_context_read(struct hca *hca, enum hca_object type, uint32_t number, void *buf,
		     size_t size);

/*
 * Takes a context, or an MPT with the translations read for it, out of the device's caches, as if
 * others had needed the room. It is written back if it has changed, and read again at its next use.
 * Does nothing if it is not cached.
 */
void hca_evict(struct hca *hca, enum hca_object type, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
