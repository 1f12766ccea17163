# SPDX-License-Identifier: Apache-2.0
# The responder in software counts a message for each packet.
s/^\tif (bth_op_is(in->op, BTH_END)) {$/\tr->msn = psn_add(r->msn, !bth_op_is(in->op, BTH_END));\n&/
