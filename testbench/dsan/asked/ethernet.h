/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet ports: what SET_PORT has told the device of MTU, pause, MACs, VLANs and GIDs, against what the
 * driver was asked for. */
#ifndef TESTBENCH_DSAN_ASKED_ETHERNET_H
#define TESTBENCH_DSAN_ASKED_ETHERNET_H

#include "testbench/dsan/asked/asked.h"

/* The device has answered a command. */
void ethernet_command_done(struct checker *c, const struct hcr *command,
			   const struct hca_command_answer *answer);
/* Behind the calls, which have not failed. */
void ethernet_general_check(const struct ask *a, unsigned port, const struct drv_eth_config *asked);
/* 0: nobody gets frames. */
void ethernet_receive_check(const struct ask *a, unsigned port, uint32_t qpn);
/* It has been destroyed: no port gives its frames to it any more. */
void ethernet_qp_gone(const struct ask *a, uint32_t qpn);
void ethernet_mac_check(const struct ask *a, unsigned port, const uint8_t mac[MAC_BYTES]);
/* NULL: the entry is free. */
void ethernet_gid_check(const struct ask *a, unsigned port, unsigned index,
			const struct drv_gid *gid);
void ethernet_vlan_joined(const struct ask *a, const struct drv_device *dev, unsigned port,
			  unsigned index, unsigned vid);
/* One of its users has left it: the others still have it. */
void ethernet_vlan_left(const struct ask *a, const struct drv_device *dev, unsigned port,
			unsigned index);
/* The running call has brought an Ethernet port up: it has all that a port begins with. */
void ethernet_up_check(const struct drv_device *dev, unsigned port);
void ethernet_roce_port_check(const struct drv_device *dev);

#endif
