# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, rows.c wire_rows.c ethernet.c)
test-y += $(addprefix $(d)/tests/, field_test.c field_misuse_test.c field_width_test.c rows_test.c wire_rows_test.c cm_rows_test.c)
