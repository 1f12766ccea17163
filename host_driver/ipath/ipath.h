/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a QLogic 6120: a chip that only sends and receives packets. The transport is rvt's;
 * this driver has the hooks. It drives the chip as the Linux driver ib_qib does.
 *   probe.c    PCI, registers, EEPROM, interrupt, life
 *   send.c     send buffers: hooks do_send and flush_qp
 *   receive.c  header queue and eager buffers: upcall rvt_receive
 *   port.c     the link: hooks query_port_state, set_link_state, get_lid, qp_mtu, process_mad
 *   agents.c   the agents of subnet and performance management, from the firmware's source
 */
#ifndef HOST_DRIVER_IPATH_IPATH_H
#define HOST_DRIVER_IPATH_IPATH_H

#include "host_driver/rvt/rvt.h"
#include "model/interface/fwregs.h"
#include "model/interface/ipath.h"

enum ipath_sizes {
	IPATH_ENTRY_DWORDS = 32,
	IPATH_ENTRIES = 1024, /* of the header queue */
	IPATH_EAGER_BUFFER = 4096,
	IPATH_GIDS = 2,
	IPATH_PKEYS_HERE = 4,   /* as the chip has */
	IPATH_VL15_BUFFERS = 4, /* small send buffers that only VL 15 uses */
	IPATH_AVAIL_BYTES = 64,
};

struct ipath_agents;

/* Kinds of send buffers: those of a kind can take the same packets. */
enum ipath_kind { IPATH_SMALL, IPATH_LARGE, IPATH_VL15, IPATH_KINDS };

/* A send buffer that the driver has written. */
struct ipath_sent {
	struct rvt_packet *packet; /* NULL: none */
	bool generation;           /* of its bits in host memory, since it was begun */
};

/* In the order of the counters of the agents: FW_PC_UNICAST_XMIT and those behind it. */
enum ipath_cast {
	IPATH_UNICAST_XMIT,
	IPATH_UNICAST_RCV,
	IPATH_MULTICAST_XMIT,
	IPATH_MULTICAST_RCV,
	IPATH_CASTS
};

struct ipath_device {
	struct drv_device *rvt; /* the transport's device */
	struct platform *p;
	unsigned msix_cap;
	uint64_t guid;
	/* send buffers */
	uint8_t *avail; /* a page: two bits a buffer, written by the chip */
	uint64_t avail_bus;
	struct ipath_sent sent[IPATH_BUFFERS];
	struct drv_list launched;   /* packets in the order in which they were sent */
	unsigned next[IPATH_KINDS]; /* within their kind: where the search begins */
	bool wanted[IPATH_KINDS];   /* do_send() has said -EAGAIN */
	struct platform_waitq *sent_waitq;
	/* the receive context */
	uint8_t *queue, *tail_page;
	uint64_t queue_bus, tail_bus;
	uint8_t *eager[IPATH_EAGERS];
	uint64_t eager_bus[IPATH_EAGERS];
	uint32_t head; /* dwords */
	/* the port */
	enum ibv_port_state state;
	unsigned phys;
	bool told_active;            /* the transport's last event said so */
	uint64_t casts[IPATH_CASTS]; /* packets, which the chip does not count by their kind */
	uint64_t counted_from[FW_PC_COUNT]; /* what a counter was when it was set to 0 */
	struct rvt_violations violated_from;
	struct ipath_agents *agents;
	bool stop, thread, irq;
};

static inline struct ipath_device *ipath_of(struct drv_device *dev)
{
	return rvt_driver(dev);
}

uint64_t ipath_read(struct ipath_device *d, uint64_t offset);
void ipath_write(struct ipath_device *d, uint64_t offset, uint64_t value);
/* Waits until the writes so far have reached the chip. */
void ipath_flush_writes(struct ipath_device *d);

int ipath_probe(struct platform *p, const struct drv_options *options, struct drv_device **dev);

/* --- port.c: what the chip does not count --- */

/* Counts a packet to a port or to a group. */
void ipath_cast_count(struct ipath_device *d, const uint8_t *header, bool received);

/* --- send.c --- */

int ipath_send_init(struct ipath_device *d);
void ipath_send_start(struct ipath_device *d);
void ipath_send_stop(struct ipath_device *d);
void ipath_send_cleanup(struct ipath_device *d);
int ipath_do_send(struct drv_device *dev, unsigned port, struct rvt_packet *packet);
void ipath_flush_qp(struct drv_device *dev, uint32_t qpn);

/* --- receive.c --- */

int ipath_receive_init(struct ipath_device *d);
void ipath_receive_cleanup(struct ipath_device *d);
/* Takes what is in the header queue. In interrupt context. */
void ipath_receive_all(struct ipath_device *d);

/* --- port.c --- */

int ipath_query_port_state(struct drv_device *dev, unsigned port, struct drv_port_attr *attr);
int ipath_set_link_state(struct drv_device *dev, unsigned port, enum rvt_link_command command);
int ipath_get_lid(struct drv_device *dev, unsigned port, unsigned *lid, unsigned *lmc);
enum ibv_mtu ipath_qp_mtu(struct drv_device *dev, unsigned port, unsigned sl, enum ibv_mtu wanted);
int ipath_process_mad(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
		      const void *in, void *out);
void ipath_node_desc_changed(struct drv_device *dev, const char text[64]);
/* Commands of IBCCtrl. */
void ipath_link_command(struct ipath_device *d, unsigned command, unsigned init);
/* The link's state may have changed. */
void ipath_link_changed(struct ipath_device *d);

/* --- agents.c --- */

/* What the agents want of the port. */
enum ipath_wish { IPATH_WISH_NONE, IPATH_WISH_UP, IPATH_WISH_DOWN, IPATH_WISH_DISABLE };

struct ipath_agents *ipath_agents_create(uint64_t guid);
/* Before a request: the port as it is. Counters in the order of FW_PORT_COUNTERS. */
void ipath_agents_port(struct ipath_agents *a, unsigned state, unsigned phys, uint64_t now_ns);
uint64_t *ipath_agents_counters(struct ipath_agents *a);
/* Executes a request in place. False: it has no answer. */
bool ipath_agents_process(struct ipath_agents *a, unsigned slid, void *mad, bool own);
/* After it: what the port is to do, and the state that it shall have. */
enum ipath_wish ipath_agents_wish(struct ipath_agents *a, unsigned *state);
/* The node description. */
void ipath_agents_describe(struct ipath_agents *a, const char text[64]);
/* A register of the port as the agents have set it: FW_PORT_LID and others. */
uint32_t ipath_agents_register(const struct ipath_agents *a, unsigned reg);
/* Numbers of wrong keys before a request; the Set of a PortInfo may change them. */
void ipath_agents_violations(struct ipath_agents *a, uint32_t pkeys, uint32_t qkeys);

#endif
