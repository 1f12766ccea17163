/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The position of each field of the CM messages: byte and bits in the MAD's data. The positions are
 * those of tables 106 to 120 of IBA vol. 1 ch. 12 and of Linux' include/rdma/ibta_vol1_c12.h. Bit 0
 * is the most significant bit of its byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "model/interface/macros.h"
#include "model/interface/rows.h"

struct place {
	const char *message, *field; /* "path.field": a field of an embedded path */
	unsigned byte, bit, bits;
};

static const struct place places[] = {
	{"cm_req", "local_comm_id", 0, 0, 32},
	{"cm_req", "service_id", 8, 0, 64},
	{"cm_req", "local_ca_guid", 16, 0, 64},
	{"cm_req", "local_qkey", 28, 0, 32},
	{"cm_req", "local_qpn", 32, 0, 24},
	{"cm_req", "responder_resources", 35, 0, 8},
	{"cm_req", "local_eecn", 36, 0, 24},
	{"cm_req", "initiator_depth", 39, 0, 8},
	{"cm_req", "remote_eecn", 40, 0, 24},
	{"cm_req", "remote_cm_response_timeout", 43, 0, 5},
	{"cm_req", "transport_type", 43, 5, 2},
	{"cm_req", "flow_control", 43, 7, 1},
	{"cm_req", "starting_psn", 44, 0, 24},
	{"cm_req", "local_cm_response_timeout", 47, 0, 5},
	{"cm_req", "retry_count", 47, 5, 3},
	{"cm_req", "pkey", 48, 0, 16},
	{"cm_req", "path_mtu", 50, 0, 4},
	{"cm_req", "rdc_exists", 50, 4, 1},
	{"cm_req", "rnr_retry_count", 50, 5, 3},
	{"cm_req", "max_cm_retries", 51, 0, 4},
	{"cm_req", "srq", 51, 4, 1},
	{"cm_req", "extended_transport", 51, 5, 3},
	{"cm_path", "local_lid", 0, 0, 16},
	{"cm_path", "remote_lid", 2, 0, 16},
	{"cm_path", "local_gid", 4, 0, 128},
	{"cm_path", "remote_gid", 20, 0, 128},
	{"cm_path", "flow_label", 36, 0, 20},
	{"cm_path", "packet_rate", 39, 2, 6},
	{"cm_path", "traffic_class", 40, 0, 8},
	{"cm_path", "hop_limit", 41, 0, 8},
	{"cm_path", "sl", 42, 0, 4},
	{"cm_path", "subnet_local", 42, 4, 1},
	{"cm_path", "ack_timeout", 43, 0, 5},
	{"cm_req", "private_data", 140, 0, 736},
	{"cm_mra", "local_comm_id", 0, 0, 32},
	{"cm_mra", "remote_comm_id", 4, 0, 32},
	{"cm_mra", "message_mraed", 8, 0, 2},
	{"cm_mra", "service_timeout", 9, 0, 5},
	{"cm_mra", "private_data", 10, 0, 1776},
	{"cm_rej", "message_rejected", 8, 0, 2},
	{"cm_rej", "info_length", 9, 0, 7},
	{"cm_rej", "reason", 10, 0, 16},
	{"cm_rej", "ari", 12, 0, 576},
	{"cm_rej", "private_data", 84, 0, 1184},
	{"cm_rep", "local_qkey", 8, 0, 32},
	{"cm_rep", "local_qpn", 12, 0, 24},
	{"cm_rep", "local_eecn", 16, 0, 24},
	{"cm_rep", "starting_psn", 20, 0, 24},
	{"cm_rep", "responder_resources", 24, 0, 8},
	{"cm_rep", "initiator_depth", 25, 0, 8},
	{"cm_rep", "target_ack_delay", 26, 0, 5},
	{"cm_rep", "failover_accepted", 26, 5, 2},
	{"cm_rep", "flow_control", 26, 7, 1},
	{"cm_rep", "rnr_retry_count", 27, 0, 3},
	{"cm_rep", "srq", 27, 3, 1},
	{"cm_rep", "local_ca_guid", 28, 0, 64},
	{"cm_rep", "private_data", 36, 0, 1568},
	{"cm_rtu", "private_data", 8, 0, 1792},
	{"cm_dreq", "remote_qpn", 8, 0, 24},
	{"cm_dreq", "private_data", 12, 0, 1760},
	{"cm_drep", "private_data", 8, 0, 1792},
	{"cm_lap", "remote_qpn", 12, 0, 24},
	{"cm_lap", "remote_cm_response_timeout", 15, 0, 5},
	{"cm_lap_path", "local_lid", 0, 0, 16},
	{"cm_lap_path", "remote_lid", 2, 0, 16},
	{"cm_lap_path", "local_gid", 4, 0, 128},
	{"cm_lap_path", "remote_gid", 20, 0, 128},
	{"cm_lap_path", "flow_label", 36, 0, 20},
	{"cm_lap_path", "traffic_class", 39, 0, 8},
	{"cm_lap_path", "hop_limit", 40, 0, 8},
	{"cm_lap_path", "packet_rate", 41, 2, 6},
	{"cm_lap_path", "sl", 42, 0, 4},
	{"cm_lap_path", "subnet_local", 42, 4, 1},
	{"cm_lap_path", "ack_timeout", 43, 0, 5},
	{"cm_lap", "private_data", 64, 0, 1344},
	{"cm_apr", "info_length", 8, 0, 8},
	{"cm_apr", "ap_status", 9, 0, 8},
	{"cm_apr", "info", 12, 0, 576},
	{"cm_apr", "private_data", 84, 0, 1184},
	{"cm_sidr_req", "request_id", 0, 0, 32},
	{"cm_sidr_req", "pkey", 4, 0, 16},
	{"cm_sidr_req", "service_id", 8, 0, 64},
	{"cm_sidr_req", "private_data", 16, 0, 1728},
	{"cm_sidr_rep", "request_id", 0, 0, 32},
	{"cm_sidr_rep", "status", 4, 0, 8},
	{"cm_sidr_rep", "info_length", 5, 0, 8},
	{"cm_sidr_rep", "qpn", 8, 0, 24},
	{"cm_sidr_rep", "service_id", 12, 0, 64},
	{"cm_sidr_rep", "qkey", 20, 0, 32},
	{"cm_sidr_rep", "info", 24, 0, 576},
	{"cm_sidr_rep", "private_data", 96, 0, 1088},
};

/* Fields of a path count from the path's first byte, fields of a message from the end of the MAD
 * header. */
static unsigned base_of(const struct layout *l)
{
	return l->size == MAD_BYTES ? sizeof(struct mad_hdr) : 0;
}

static void fields_stand_where_the_tables_have_them(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct place *p = &places[i];
		const struct layout *l = layout_by_name(p->message);
		const struct field_row *f = l ? layout_field(l, p->field) : NULL;
		unsigned first, bits;

		assert_non_null(f);
		first = f->width ? 8 * f->offset + f->width - 1u - f->hi : 8u * f->offset;
		bits = f->width ? (unsigned)(f->hi - f->lo + 1) : 8u * f->size;
		if (first != 8 * (p->byte + base_of(l)) + p->bit || bits != p->bits)
			fail_msg("%s.%s: bit %u, %u bits", p->message, p->field, first, bits);
	}
}

static void paths_stand_in_their_messages(void **state)
{
	assert_int_equal(layout_field(layout_by_name("cm_req"), "primary")->offset, 24 + 52);
	assert_int_equal(layout_field(layout_by_name("cm_req"), "alternate")->offset, 24 + 96);
	assert_int_equal(layout_field(layout_by_name("cm_lap"), "alternate")->offset, 24 + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_stand_where_the_tables_have_them),
		cmocka_unit_test(paths_stand_in_their_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
