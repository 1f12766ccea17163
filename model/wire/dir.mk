# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, wire.c dgram.c replay.c)
test-y += $(addprefix $(d)/tests/, dgram_test.c replay_test.c)
