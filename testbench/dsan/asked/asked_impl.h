/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that compare what was asked with what was done. */
#ifndef TESTBENCH_DSAN_ASKED_ASKED_IMPL_H
#define TESTBENCH_DSAN_ASKED_ASKED_IMPL_H

#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/checker_impl.h"

#include "model/interface/rows.h"

/* A structure in the host's memory that is compared field by field. The first difference is
 * reported: the others follow from it more often than not. */
struct compared {
	const struct ask *ask;
	enum guest_rule rule;
	struct guest_object object;
	uintptr_t from, to; /* the structure */
	bool differs;
};

/* That field of the structure at `at` is not what was asked for. */
void field_differs(struct compared *c, const struct layout *layout, const char *field,
		   const void *at, uint64_t is, uint64_t asked);
/* So is that field of a packet's header, which a request of QP0 or QP1 brings along. */
void header_differs(struct compared *c, const struct layout *layout, const char *field, uint64_t is,
		    uint64_t asked);
/* So are these bytes. */
void bytes_differ(struct compared *c, const char *what, const void *at, size_t bytes);

/* The field of a structure of that layout must say what was asked for. */
#define SAYS(c, type, at, field, asked)                                                            \
	do {                                                                                       \
		const uint64_t is_ = type##_get_##field(at), asked_ = (asked);                     \
                                                                                                   \
		if (is_ != asked_)                                                                 \
			field_differs(c, &layout_##type, #field, at, is_, asked_);                 \
	} while (0)

/* The running call gives a command to the device: context.c has looked at its mailbox. */
void asked_command_given(struct checker *c, const struct hcr *command);

/* The number of a domain: the first that is met stands for it from then on. */
uint32_t pdn_learn(struct made *pd, uint32_t pdn);
/* The same key, with the next variant. */
uint32_t key_after(uint32_t key);

/* --- queried.c --- */

/* The device has answered a command. */
void queried_done(const struct checker *c, const struct hcr *command,
		  const struct hca_command_answer *answer);
/* The running call asks for the attributes of that queue pair. */
void queried_begin(const struct drv_qp *qp);
/* A query returns this. While it runs, wrote_begin() is in effect. */
void queried_check(struct checker *c, const struct drv_qp *qp, const struct drv_qp_attr *attr);
/* That state in a context; UINT_MAX: a wrong driver says what is none. */
unsigned asked_device_state(enum ibv_qp_state state);
const char *asked_state_name(enum ibv_qp_state state);

#endif
