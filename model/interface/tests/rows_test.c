/* SPDX-License-Identifier: Apache-2.0 */
/* What must be true for every layout and code table: no overlap, nothing outside of the object,
 * unique names. Also the decoded view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/rows.h"
#include "model/interface/qp_transitions.h"

/* Marks bit `bit` of byte `byte` as used. False: it was used already. */
static bool take(uint8_t *used, unsigned int byte, unsigned int bit)
{
	const uint8_t m = (uint8_t)(1u << bit);
	const bool free = !(used[byte] & m);

	used[byte] |= m;
	return free;
}

/* Marks all bits of a row. Computes their positions from the big-endian rule alone. */
static bool take_row(uint8_t *used, const struct field_row *r)
{
	bool free = true;

	if (r->width) {
		for (unsigned int b = r->lo; b <= r->hi; b++)
			free &= take(used, r->offset + (r->width - 1 - b) / 8, b % 8);
		return free;
	}
	for (unsigned int i = 0; i < 8u * r->size; i++)
		free &= take(used, r->offset + i / 8, i % 8);
	return free;
}

static void test_no_overlap(void **state)
{
	const struct layout *l;

	for (unsigned int k = 0; (l = layout_at(k)); k++) {
		uint8_t used[4096] = {0};

		assert_true(l->size <= sizeof(used));
		for (unsigned int i = 0; i < l->n; i++) {
			const struct field_row *r = &l->rows[i];

			if (r->offset + r->size > l->size)
				fail_msg("%s.%s leaves the layout", l->name, r->name);
			if (r->kind == FIELD_KIND_UNION)
				continue;
			if (r->kind == FIELD_KIND_LAYOUT && r->size == l->size)
				continue;
			if (!take_row(used, r))
				fail_msg("%s.%s overlaps a row above it", l->name, r->name);
		}
	}
	assert_true(l == NULL);
}

static void test_overlap_is_found(void **state)
{
	const struct field_row low = {"low", FIELD_KIND_BITS, 32, 4, 4, 8, 0, NULL, ""};
	const struct field_row high = {"high", FIELD_KIND_BITS, 16, 6, 2, 8, 8, NULL, ""};
	uint8_t used[16] = {0};

	assert_true(take_row(used, &low));
	assert_false(take_row(used, &high));
}

static void test_names_unique(void **state)
{
	const struct layout *l;

	for (unsigned int k = 0; (l = layout_at(k)); k++) {
		assert_ptr_equal(layout_by_name(l->name), l);
		for (unsigned int i = 0; i < l->n; i++)
			assert_ptr_equal(layout_field(l, l->rows[i].name), &l->rows[i]);
	}
	for (unsigned int i = 0; hcr_row_at(i); i++)
		assert_ptr_equal(hcr_row_find(hcr_row_at(i)->op), hcr_row_at(i));
}

static void test_get_set_every_row(void **state)
{
	const struct layout *l;

	for (unsigned int k = 0; (l = layout_at(k)); k++) {
		for (unsigned int i = 0; i < l->n; i++) {
			const struct field_row *r = &l->rows[i];
			uint8_t bytes[4096];

			if (!r->width)
				continue;
			memset(bytes, 0, sizeof(bytes));
			layout_set(l, i, bytes, UINT64_MAX);
			for (unsigned int j = 0; j < l->size; j++)
				if (j < r->offset || j >= (unsigned int)r->offset + r->size)
					assert_int_equal(bytes[j], 0);
			layout_set(l, i, bytes, 0);
			assert_int_equal(layout_get(l, i, bytes), 0);
		}
	}
}

static void test_format(void **state)
{
	struct qp_mbox m = {{0}};
	char text[256], cut[12];
	int n;

	qp_mbox_set_opt_mask(&m, 0x2);
	qpc_set_state(qp_mbox_context(&m), QP_STATE_RTR);
	qp_path_set_rlid(qpc_primary(qp_mbox_context(&m)), 0x12);
	n = layout_format(&layout_qp_mbox, m.b, text, sizeof(text));
	assert_string_equal(text, "opt_mask 0x2, context {state 0x2, primary {rlid 0x12}}");
	assert_int_equal(n, strlen(text));
	assert_int_equal(layout_format(&layout_qp_mbox, m.b, cut, sizeof(cut)), n);
	assert_string_equal(cut, "opt_mask 0x");
	assert_int_equal(layout_format(&layout_qp_mbox, m.b, NULL, 0), n);
}

static void test_code_names(void **state)
{
	assert_string_equal(code_name(&code_table_qp_state, 3), "RTS");
	assert_string_equal(code_name(&code_table_smp_attr, 0x15), "PORT_INFO");
	assert_null(code_name(&code_table_qp_state, 9));
}

static void test_transitions(void **state)
{
	const struct qp_transition *t = qp_transition_find(HCR_INIT2RTR_QP);

	assert_non_null(t);
	assert_int_equal(t->from, 1 << 1);
	assert_int_equal(t->to, 2);
	/* the P_Key index is taken only with its mask bit; a UD QP's port also without */
	assert_false(qp_transition_opts(t, 0, 0) & 1 << 4);
	assert_true(qp_transition_opts(t, 0, 1 << 4) & 1 << 4);
	assert_int_equal(qp_transition_opts(t, 3, 0), 1 << 16);
	/* RC: alternate path, RNR timer, responder depth, port */
	assert_int_equal(qp_transition_opts(t, 0, 0), 1 << 7 | 1 << 6 | 1 << 9 | 1 << 16);
	t = qp_transition_find(HCR_RTR2RTS_QP);
	assert_int_equal(qp_transition_opts(t, 0, 0), 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14);
	assert_int_equal(t->take, QP_TAKE_SEND_PSN);
	assert_int_equal(qp_transition_find(HCR_2RST_QP)->from, 0xff);
	assert_null(qp_transition_find(HCR_QUERY_QP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_overlap),   cmocka_unit_test(test_overlap_is_found),
		cmocka_unit_test(test_names_unique), cmocka_unit_test(test_get_set_every_row),
		cmocka_unit_test(test_format),       cmocka_unit_test(test_code_names),
		cmocka_unit_test(test_transitions),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
