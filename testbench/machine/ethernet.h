/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Ethernet cable between the two hosts, beside that of the HCAs. A frame leaves when those in
 * front of it have left, takes its time by the rate, and arrives after the delay of the cable
 * ([ethernet]). Faults are planned by direction and kind of frame.
 */
#ifndef TESTBENCH_MACHINE_ETHERNET_H
#define TESTBENCH_MACHINE_ETHERNET_H

#include "testbench/iwarp.h"
#include "testbench/machine.h"

struct ethernet;

struct ethernet_user {
	void (*frame)(void *arg, const uint8_t *frame, size_t n);
	void *arg;
};

/* users[i] gets what arrives at host i. NULL: no memory. */
struct ethernet *ethernet_create(struct machine *m,
				 const struct ethernet_user users[MACHINE_HOSTS]);
/* What is under way is gone. */
void ethernet_destroy(struct ethernet *e);
/* 0 or -ENOMEM */
int ethernet_send(struct ethernet *e, unsigned host, const uint8_t *frame, size_t n);
/* What is wrong with the lengths or checksums of a frame with TCP over IPv4: what was expected; NULL: nothing. */
const char *ethernet_frame_wrong(const uint8_t *frame, size_t n);
int ethernet_fault(struct ethernet *e, unsigned host, const struct tb_eth_fault *fault);
/* Faults that have not struck yet, and frames under way. */
unsigned ethernet_faults_left(const struct ethernet *e);
unsigned ethernet_under_way(const struct ethernet *e);

#endif
