src-y += $(addprefix $(d)/, engine_process.cpp hca_module.cpp kernel.cpp)
