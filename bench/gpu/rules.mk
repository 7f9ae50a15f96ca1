# SPDX-License-Identifier: MIT
# The GPU benchmark, and the archive for hosts without packages. Included by the Makefile.
BENCH_SOURCES := $(if $(CUDA_INCLUDE),$(wildcard bench/gpu/*.c bench/gpu/facts/*.c) $(addprefix tests/filters/,network_fixture.c))
BENCH_GPU := $(if $(CUDA_INCLUDE),$(BUILD)/blurd-bench)

$(BUILD)/blurd-bench: $(call objects,$(BENCH_SOURCES)) $(BUILD)/libblurd.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
tools: $(BENCH_GPU)
$(BUILD)/bench/gpu/sources.o: bench/gpu/tutorial.cu bench/gpu/hold.cu bench/gpu/saxpy.cu bench/gpu/special.cu \
    bench/gpu/facts/kernels.h bench/gpu/facts/kernels.cu

# The same programs linked anew, so that they find libraries beside themselves: RPATH and not
# RUNPATH, since that is also used for the libraries of libraries.
BUNDLED := $(addprefix $(BUILD)/bundled/,blurd sample $(if $(CUDA_INCLUDE),blurd-bench check_gpu))
$(BUILD)/bundled/blurd: $(BUILD)/server/main.o
$(BUILD)/bundled/sample: $(BUILD)/bench/sample.o
$(BUILD)/bundled/blurd-bench: $(call objects,$(BENCH_SOURCES))
$(BUILD)/bundled/check_gpu: $(call objects,$(CHECK_SOURCES))
$(BUILD)/bundled/check_gpu: BUNDLED_LDFLAGS := $(CHECK_LDFLAGS)
$(BUNDLED): $(BUILD)/libblurd.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(BUNDLED_LDFLAGS) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@ $(filter %.o,$^) \
	    $(BUILD)/libblurd.a $(LIBS)

bundle: $(BUNDLED) models
	$(Q)bench/gpu/bundle.sh build/bundle $(BUNDLED)

-include $(patsubst %.c,$(BUILD)/%.d,$(BENCH_SOURCES))
.PHONY: bundle
