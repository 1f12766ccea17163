/* SPDX-License-Identifier: Apache-2.0 */
/* Who own/ asks, in a test where nobody has called a verb: each of them knows nothing. */
#ifndef TESTBENCH_DSAN_TESTS_NOBODY_ASKS_H
#define TESTBENCH_DSAN_TESTS_NOBODY_ASKS_H

#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/device/function.h"
#include "testbench/dsan/held/claims.h"
#include "testbench/dsan/own/cq_waits.h"

const char *holder_name(const struct holder *h)
{
	return "";
}

uint32_t object_index(const struct hca *hca, enum hca_object type, uint32_t number)
{
	return number;
}

struct ask *ask_now(const struct checker *of)
{
	return NULL;
}

bool ask_is_of_qp(const struct ask *a, uint32_t index)
{
	return false;
}

void ask_report(const struct ask *a, enum guest_rule rule, struct guest_object object,
		const char *format, ...)
{
}

bool asked_send_given(struct checker *of, uint32_t qpn, uintptr_t wqe, uint64_t *wr_id)
{
	return false;
}

bool asked_receive_given(struct checker *of, bool srq, uint32_t number, uintptr_t wqe, size_t bytes,
			 uint64_t *wr_id)
{
	return false;
}

void asked_send_rung(struct checker *of, uint32_t qpn)
{
}

void asked_cq_armed(struct checker *of, uint32_t cqn, unsigned command, const void *pc)
{
}

void asked_entries_back(struct checker *of, uint32_t cqn, uint32_t from, uint32_t to)
{
}

void function_armed(struct checker *of, unsigned vector, const void *pc)
{
}

void cq_waits_event_by(const struct checker *of, uint32_t cqn, char *text, size_t size)
{
	*text = 0;
}

void checker_functions(const void *const *pcs, unsigned n, char *text, size_t size)
{
	*text = 0;
}

void checker_recent(const struct checker *of, uint32_t since, char *text, size_t size)
{
	*text = 0;
}

#endif
