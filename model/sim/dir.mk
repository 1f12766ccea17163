# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, cfg.c fault.c file.c near_name.c rng.c units.c)
test-y += $(addprefix $(d)/tests/, cfg_test.c fault_test.c file_test.c rng_test.c units_test.c)
prog-y += params_ini:$(d)/params_ini.c

# Headers that follow from the rows of params.h. Each is written only when its text changes, so that a new row compiles the
# users of its section again, and no others.
params-gen := $(O)/gen/model/sim/params
gen-y += $(params-gen).stamp
$(params-gen).stamp: $(d)/params.h $(d)/params.awk
	@rm -rf $(params-gen).new; mkdir -p $(params-gen) $(params-gen).new
	$(Q)awk -v dir=$(params-gen).new -f model/sim/params.awk model/sim/params.h
	@cd $(params-gen) && for f in *; do [ -e "../params.new/$$f" ] || rm -f "$$f"; done
	@cd $(params-gen).new && for f in *; do cmp -s $$f ../params/$$f || cp $$f ../params; done
	@rm -r $(params-gen).new; touch $@
$(params-gen)/%.h: $(params-gen).stamp ;
