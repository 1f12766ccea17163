# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, engine_process.cpp hca_module.cpp kernel.cpp)
prog-y += tlm_example:$(d)/example/example.cpp,$(d)/example/foreign_platform.cpp
