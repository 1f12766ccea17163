/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile guest of `hcasim serve` does to the server: see the rows. */
#ifndef TESTBENCH_TESTS_HOSTILE_H
#define TESTBENCH_TESTS_HOSTILE_H

#include <stdint.h>

/* A(name, "what it does") */
#define HOSTILE_ACTS(A)                                                                            \
	A(messages, "messages of any length and content, or only parts of them")                   \
	A(maps, "ranges, files and addresses beyond every limit")                                  \
	A(shrink, "memory that goes while the device uses it")                                     \
	A(eventfd, "event file descriptors that are full and block, or do so now and then")        \
	A(linger, "sockets that take long to close")                                               \
	A(silent, "requests whose answers it does not read")                                       \
	A(registers, "accesses to any register, doorbell and configuration space")                 \
	A(icm, "chunks of 256 MiB that do not exist as ICM, over and over")                        \
	A(commands, "commands of any opcode with any mailbox")                                     \
	A(wqes, "work requests, contexts and rings overwritten at random, and doorbells")          \
	A(qps, "queue pairs by the thousand, all of which have work")

enum hostile_act {
#define A(name, meaning) HOSTILE_##name,
	HOSTILE_ACTS(A)
#undef A
		HOSTILE_ACT_COUNT
};

const char *hostile_name(enum hostile_act act);
/* Does an act once, as a client of its own on the socket. Ends the process. */
_Noreturn void hostile_do(const char *path, enum hostile_act act, uint64_t seed);

#endif
