# SPDX-License-Identifier: MIT
#
#   make                 builds build/release/blurd
#   make run             installs what is missing, builds, serves this machine on port 8080 (PORT=9000, LISTEN=:: for others, ARGS='--workers 2')
#
# While you work on something:
#   make t T=unit/admission       builds one test and runs it: T=filters/blur, T=fuzz/query,
#                                 T=http/regions ARGS='-k box', T=browser/playground; CONFIG=asan
#   make lint            style: seconds          make format    clang-format over the tree
#   make check           minutes: style, the release build, unit and filter tests, some HTTP tests
#   make test            installs what is missing, builds, runs every test
#   make ci              make test as CI runs it, warnings are errors; ARGS='image deb archive': make check-image and so on as well
#   make hooks           lets git run the style checks before each commit
#   make compile_commands.json    for clangd and other editors' tools
#   make docs            the generated pages and tables
#   make site            the pages as a site with search and a gallery, in build/site; what builds it comes from PyPI
#
# Further checks:
#   make tidy            static analysis, all tools
#   make memcheck        the unit tests under valgrind
#   make coverage        lines and branches that the tests reach (ARGS=--all: of each file)
#   make check-arm64     filter and unit tests for 64-bit ARM, under emulators
#   make check-api       the description of the interface, clients made from it, and the daemon against it (schemathesis)
#   make check-python    the Python client on each Python from 3.9 to 3.13 that this machine has, two minutes
#   make check-browser   the playground in Chromium, some minutes
#   make check-clients   the playground's programs and docs/examples in each language, with Go and Mono
#   make check-clusters  docs/examples on clusters of Ray and Spark on this host, which come from PyPI (600 MB), and Debian's Java
#   make check-encoders  files of the newest encoders, which come from PyPI (150 MB), and other decoders on the answers, two minutes
#   make check-hostile   hostile pictures and clients against this build, some minutes
#   make check-site      the site of the pages (make site), in Chromium on a desktop and on a phone
#   make check-load      faults, restarts, slow clients, a soak: a line for each promise; about ten minutes
#   make check-image     the container image, built by buildah and run, some minutes
#   make check-docker    the image, Compose and a Swarm with Docker's engine, under load, some minutes
#   make check-prometheus    dashboard and alerts, evaluated by Prometheus on a daemon under load
#   make check-deb       the Debian packages for 12 and 13, each built, installed, upgraded, run and removed in a Debian of its own
#   make check-archive   the archive, run where there is only the C library of Debian 12 and 13
#   make check-serverless    what Cloud Run and Knative ask of a container, and times of cold starts, on this build
#   make check-toolkits      the kernels, compiled by each CUDA toolkit from 12.0 on, which come from PyPI (ARGS=12.0: that alone)
#   make check-reproducible    Debian package and archive built twice, in different folders: the same bytes
#   make check-readme    the README's own lines, make run and make test among them, in an empty Debian 12 and 13, two hours (ARGS=quick: half an hour)
#   make check-install   make install into an empty folder, and make uninstall
#   make check-workflows     .github/workflows against GitHub's schema and by zizmor, which come from PyPI (ARGS=run: their quick job in an empty Debian)
#   make mutants         puts small bugs into the code, one at a time, and tells which no test notices
#                        (ARGS='--files core,codecs --count 50'); hours for many
#   make bench           installs the peers, measures them and blurd, writes bench/results (ARGS=--quick)
#
# Packages:
#   make install         DESTDIR= PREFIX=/usr/local; install-strip, uninstall
#   make deb             a Debian package in build/deb
#   make archive         an archive in build/archive for hosts without packages: the program and its libraries
#   make bundle          an archive for bench/gpu.sh, with its programs
#   make release         all files of a release of the last commit, in build/blurd-VERSION (SIGNING_KEY=, HOME_URL=); needs root
#   make check-release       a release of the last commit made twice, and each file of it used in an empty Debian 12 and 13; up to an hour (ARGS=cached: with the compiler's cache, a quarter; ARGS=quick: made once)
#   make python-client       the wheel of clients/python in build/python-client
#   make typescript-types    types of the interface for TypeScript, build/typescript/blurd.d.ts
#   make home            writes the address of the project into all files: HOME_URL=https://HOST/PATH (config/home.sh)
#   make clean           removes what was built; make distclean: downloads, too
#
# Variables:
#   CONFIG=release|debug|asan|tsan|fuzz|afl|coverage    side by side under build/$(CONFIG)
#   V=1                                    shows the commands
#   CCACHE=                                without ccache, which is used where it is installed and CC is not given
#   WERROR=1                               warnings are errors, as in CI
#   CUDA_HOME=/usr/local/cuda              where the CUDA toolkit is
#   FORMATS="webp avif heif tiff"          formats beside JPEG and PNG, all by default: each is built where its library is found
#   ARCHITECTURES=own|all                  kernels in the binary: for this machine's GPUs, and PTX for others; or for all, as packages and tests have
#   GPU=auto|required|none                 without what the GPU needs: build for the CPU alone, or stop; none: do without

CONFIG ?= release
V ?= 0
WERROR ?= 0
PORT ?= 8080
LISTEN ?= 127.0.0.1
PREFIX ?= /usr/local
CUDA_HOME ?= /usr/local/cuda
GPU ?= auto
FORMATS ?= $(shell sed -nE 's|^(READ_)?FORMAT.\w+, \w+, (\w+),.*|\2|p' codecs/formats.def)
# For the makes that these goals call, too.
ARCHITECTURES ?= $(if $(filter archive bundle check-reproducible ci deb test,$(MAKECMDGOALS)),all,own)
export ARCHITECTURES
ifeq ($(filter $(ARCHITECTURES),own all),)
$(error ARCHITECTURES is "$(ARCHITECTURES)", it must be own or all)
endif
BUILD := build/$(CONFIG)
PLAYGROUND := build/playground
ifeq ($(filter $(GPU),auto required none),)
$(error GPU is "$(GPU)", it must be auto, required or none)
endif
ifeq ($(GPU),none)
override CUDA_HOME := none
endif
CUDA_BUILD := build/cuda/$(subst /,-,$(patsubst /%,%,$(CUDA_HOME)))
empty :=
FORMATS_MK := $(BUILD)/formats-$(subst $(empty) ,-,$(strip $(FORMATS))).mk

CONFIGS := release debug asan tsan fuzz afl coverage
ifeq ($(filter $(CONFIG),$(CONFIGS)),)
$(error CONFIG is "$(CONFIG)", it must be one of $(CONFIGS))
endif

ifeq ($(V),0)
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

# libFuzzer comes with clang only, AFL++ brings a compiler of its own.
ENGINE := $(filter fuzz afl,$(CONFIG))
ifeq ($(origin CC),default)
CC := $(or $(if $(filter fuzz,$(CONFIG)),clang),$(if $(filter afl,$(CONFIG)),afl-clang-fast),cc)
ifeq ($(filter afl coverage,$(CONFIG)),)
CCACHE ?= $(shell command -v ccache)
endif
endif

# --- flags ---------------------------------------------------------------------------
# Those that not every compiler knows are tried once and remembered. Not -ftrivial-auto-var-init=zero: to clear padding,
# GCC 12.2 writes zeros over members of arrays of structures that an initialiser has filled (tests/gpu/check.c found it).
PROBED_MK := $(BUILD)/probed-$(notdir $(firstword $(CC))).mk
PROBE := -Wduplicated-cond -Wlogical-op -Wimplicit-fallthrough -Walloca -Wcast-align=strict -Warray-bounds=2 \
         -fstack-clash-protection -fcf-protection

WARN = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla \
        -Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wno-format-nonliteral -Wundef -Wredundant-decls -Wnested-externs \
        $(filter -W%,$(PROBED)) $(if $(filter 1,$(WERROR)),-Werror)
HARDEN = -fstack-protector-strong $(filter -f%,$(PROBED)) -fPIE
SANITIZE_asan := -fsanitize=address,undefined
SANITIZE_tsan := -fsanitize=thread
SANITIZE_fuzz := -fsanitize=fuzzer-no-link,address,undefined

# -ffp-contract=off: the floating-point path must round alike on every processor and backend.
COMMON := -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -g -pthread -ffp-contract=off
# -ffile-prefix-map: the debug information, and so the build's ID, do not tell in which folder it was built.
CFLAGS_release = -O3 -ffile-prefix-map=$(CURDIR)=. -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 $(HARDEN)
CFLAGS_debug   = -O0 -DPOISON_MEMORY $(HARDEN)
CFLAGS_asan   := -O1 -DPOISON_MEMORY $(SANITIZE_asan) -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan   := -O1 $(SANITIZE_tsan) -fno-omit-frame-pointer
CFLAGS_fuzz   := -O1 $(SANITIZE_fuzz) -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_afl    := -O2 $(SANITIZE_asan) -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_coverage := -O0 --coverage -fprofile-update=atomic
LDFLAGS_release := -pie -Wl,--build-id -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
LDFLAGS_debug   := $(LDFLAGS_release)
LDFLAGS_asan    := $(SANITIZE_asan)
LDFLAGS_tsan    := $(SANITIZE_tsan)
LDFLAGS_fuzz    := -fsanitize=address,undefined
LDFLAGS_afl     := $(SANITIZE_asan)
LDFLAGS_coverage := --coverage
ALL_CFLAGS  = $(COMMON) $(WARN) $(CFLAGS_$(CONFIG)) $(CFLAGS)
ALL_LDFLAGS = -pthread $(LDFLAGS_$(CONFIG)) $(LDFLAGS)
LIBS := -lmicrohttpd -lgnutls -lseccomp -ljpeg -lpng16 -ldeflate -llzma -lz -lm

# --- what is built -------------------------------------------------------------------
# Make builds the files that it includes first, and then starts again. Goals that build
# nothing by themselves do without, since there may be no compiler yet.
BUILDS_NOTHING := ci clean distclean format help home hooks lint run t test bench check check-api check-arm64 check-browser check-clients check-clusters check-encoders check-hostile check-load check-python check-serverless check-site check-workflows site coverage \
                  check-image check-docker check-prometheus check-install check-deb check-archive check-reproducible check-readme check-toolkits deb archive release check-release mutants uninstall
ifneq ($(filter-out $(BUILDS_NOTHING),$(or $(MAKECMDGOALS),all)),)
include $(PROBED_MK)
include $(CUDA_BUILD)/cuda.mk
include $(CUDA_BUILD)/own.mk
include $(FORMATS_MK)
ifneq ($(and $(filter required,$(GPU)),$(wildcard $(CUDA_BUILD)/cuda.mk)),)
ifeq ($(and $(CUDA_INCLUDE),$(NVRTC)),)
$(error GPU=required, but NVRTC or CUDA headers are missing ($(shell sed -n '1s/^# //p' $(CUDA_BUILD)/cuda.mk)); remove $(CUDA_BUILD) to look again)
endif
endif
endif

# With the CUDA headers all of gpu/ is built, without them what stands in for it.
GPU_NONE := $(wildcard gpu/*/*none.c)
GPU_SOURCES := $(if $(CUDA_INCLUDE),$(filter-out gpu/cuda/compile.c $(GPU_NONE),$(wildcard gpu/*.c gpu/*/*.c gpu/*/*/*.c filters/*/gpu/*.c)),$(GPU_NONE))

SOURCES := $(wildcard $(foreach folder,core detect filters codecs cpu config server,$(folder)/*.c $(folder)/*/*.c $(folder)/*/*/*.c))
SOURCES := $(filter-out server/main.c $(NO_FORMAT) $(wildcard filters/*/gpu/*.c),$(SOURCES)) $(GPU_SOURCES)

# Tests are test_*.c; what else lies beside them is shared by them (libtest.a). A unit test stands in the folder of what it tests;
# those of gpu/ need the CUDA headers, and open what stands in for NVIDIA's driver.
TEST_FOLDERS := tests/unit tests/unit/* tests/unit/*/* tests/filters tests/filters/reference
TEST_SOURCES := $(wildcard $(TEST_FOLDERS:%=%/test_*.c))
SHARED_SOURCES := $(filter-out $(TEST_SOURCES),$(wildcard $(TEST_FOLDERS:%=%/*.c)))
GPU_TESTS := $(filter tests/unit/gpu/%,$(TEST_SOURCES))
TEST_SOURCES := $(filter-out $(if $(CUDA_INCLUDE),,$(GPU_TESTS)),$(TEST_SOURCES))
TOOL_SOURCES := $(filter-out bench/waits.c,$(wildcard bench/*.c tests/corpus/*.c tests/modern/*.c)) tests/load/welch.c
# Fuzz targets share common/; without an engine that has their main function, too.
GPU_FUZZ := $(addprefix tests/fuzz/,engine.c jpeg_scan.c module_cache.c progressive_scan.c wire.c)
FUZZ_SOURCES := $(filter-out $(if $(CUDA_INCLUDE),,$(GPU_FUZZ)),$(wildcard tests/fuzz/*.c))
FUZZ_COMMON := $(filter-out $(if $(ENGINE),%/replay.c),$(wildcard tests/fuzz/common/*.c))
# With the CUDA headers: a driver without a GPU, and the programs that compare and time GPUs.
CHECK_SOURCES := $(if $(CUDA_INCLUDE),$(wildcard tests/gpu/*.c) $(addprefix tests/filters/,network_fixture.c networks.c reference/reference_network.c))
FAKE_SOURCES := $(if $(CUDA_INCLUDE),$(wildcard tests/fake_cuda/*.c tests/fake_cuda/*.cpp))
FAKE_CUDA := $(if $(CUDA_INCLUDE),$(BUILD)/tests/fake_cuda/libfakecuda.so)
CHECK_GPU := $(if $(CUDA_INCLUDE),$(BUILD)/tests/gpu/check_gpu)
ALL_SOURCES := $(SOURCES) server/main.c $(TEST_SOURCES) $(SHARED_SOURCES) $(TOOL_SOURCES) $(FUZZ_SOURCES) \
               $(FUZZ_COMMON) $(CHECK_SOURCES)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
# The programs of unit tests stand in one folder: no two have the same name.
programs = $(foreach path,$(basename $(1)),$(BUILD)/$(if $(filter tests/unit/%,$(path)),tests/unit/$(notdir $(path)),$(path)))

all: $(BUILD)/blurd models code-reader
tests: $(call programs,$(TEST_SOURCES)) $(FAKE_CUDA) $(if $(filter release,$(CONFIG)),$(BUILD)/tests/load/libfail.so) fuzzers
tools: $(call programs,$(TOOL_SOURCES)) $(CHECK_GPU) $(BUILD)/bench/libwaits.so
fuzzers: $(call programs,$(FUZZ_SOURCES)) $(FAKE_CUDA)

# --- rules ---------------------------------------------------------------------------
$(BUILD)/blurd: $(BUILD)/server/main.o $(BUILD)/libblurd.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libblurd.a: $(call objects,$(SOURCES))
$(BUILD)/libtest.a: $(call objects,$(SHARED_SOURCES))
$(BUILD)/lib%.a: $(BUILD)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)

define link_program
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(1) -o $@ $(filter %.o,$^) $(filter %libtest.a,$^) $(BUILD)/libblurd.a $(2) $(LIBS)
endef
$(foreach source,$(TEST_SOURCES),$(eval $(call programs,$(source)): $(call objects,$(source))))
$(call programs,$(TEST_SOURCES)): $(BUILD)/libtest.a $(BUILD)/libblurd.a
	$(call link_program,-Wl$(comma)--wrap=_cmocka_run_group_tests,-lcmocka)
$(call programs,$(TOOL_SOURCES)): %: %.o $(BUILD)/libblurd.a
	$(call link_program,,)
$(addprefix $(BUILD)/tests/fuzz/,model jpeg_encode jpeg_sequential): $(BUILD)/libtest.a
$(call programs,$(FUZZ_SOURCES)): %: %.o $(call objects,$(FUZZ_COMMON)) $(BUILD)/libblurd.a
	$(call link_program,$(if $(ENGINE),-fsanitize=fuzzer),)

# A driver for one test, which opens it as it opens the real one.
$(BUILD)/tests/unit/test_driver: | $(BUILD)/tests/odd_driver/odd_driver.so
$(BUILD)/tests/odd_driver/odd_driver.so: tests/odd_driver/odd_driver.c gpu/cuda/driver.def
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -I. -g -O1 $(WARN) -shared -fPIC -o $@ $<

$(call programs,$(GPU_TESTS)): | $(FAKE_CUDA)

# What makes calls fail on purpose, loaded in front of the C library.
FAIL := $(BUILD)/tests/load/libfail.so
$(FAIL): tests/load/fail.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -g -O1 $(WARN) -shared -fPIC -o $@ $< -ldl

# It counts the waits of a program, and is loaded in the same way.
$(BUILD)/bench/libwaits.so: bench/waits.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -g -O2 $(WARN) -Wno-reserved-identifier -shared -fPIC -o $@ $< -ldl -pthread

# --wrap: see tests/gpu/poison.h.
CHECK_LDFLAGS := -Wl,--wrap=gpu_buffer_reserve
$(BUILD)/tests/gpu/check_gpu: $(call objects,$(CHECK_SOURCES)) $(BUILD)/libblurd.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(CHECK_LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests/gpu/poison.o: bench/gpu/hold.cu bench/gpu/facts/kernels.h bench/gpu/facts/kernels.cu

include bench/gpu/rules.mk

# The kernels run as host code there, fiber by fiber: no sanitizer follows that.
FAKE_FLAGS := -g -O2 -fPIC -fvisibility=hidden -I. -ffp-contract=off -pthread -MMD -MP
$(BUILD)/tests/fake_cuda/libfakecuda.so: $(patsubst %,$(BUILD)/%.o,$(FAKE_SOURCES))
	$(call say,LINK,$@)
	$(Q)$(CXX) -shared -pthread -o $@ $^
$(BUILD)/tests/fake_cuda/%.c.o: tests/fake_cuda/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CCACHE) $(if $(ENGINE),gcc,$(CC)) -std=c11 -D_GNU_SOURCE $(FAKE_FLAGS) $(CUDA_INCLUDE) -c -o $@ $<
$(BUILD)/tests/fake_cuda/%.cpp.o: tests/fake_cuda/%.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CCACHE) $(CXX) -std=c++17 -D_GNU_SOURCE -DKERNEL_SOURCE='"$(KERNELS)/source.cu"' $(FAKE_FLAGS) $(CUDA_INCLUDE) -c -o $@ $<

# What the compiler makes code for; empty where there is none yet.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(filter x86_64-% amd64-%,$(TARGET)),)
VECTOR_avx2 := -mavx2
# GCC learns of VNNI from a pragma in the files that need it; clang knows no such pragma.
VECTOR_avx512 := -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512 $(if $(findstring clang,$(CC)),-mavx512vnni)
VECTOR_amx := $(VECTOR_avx512) $(if $(findstring clang,$(CC)),-mamx-tile -mamx-int8)
endif
comma := ,

# References are plain loops that are compared with, and not what is tested: sanitizers would make them ten times slower.
base_flags = $(if $(filter tests/filters/reference/%,$(1)),$(COMMON) $(WARN) $(CFLAGS_release) $(CFLAGS),$(ALL_CFLAGS))
own_flags = $(if $(filter cpu/%_avx2.c codecs/%_avx2.c,$(1)),$(VECTOR_avx2)) $(if $(filter cpu/%_avx512.c codecs/%_avx512.c tests/filters/%_avx512.c,$(1)),$(VECTOR_avx512)) $(if $(filter cpu/%_amx.c,$(1)),$(VECTOR_amx)) \
            $(if $(filter gpu/% tests/% bench/gpu/%,$(1))$(findstring /gpu/,$(1)),$(CUDA_INCLUDE) -Wa$(comma)-I$(comma)$(EMBEDDED) -Wa$(comma)-I$(comma)$(KERNELS)) \
            $(if $(filter codecs/%,$(1)),$(FORMAT_FLAGS)) \
            $(if $(filter server/pages/playground.c,$(1)),-Wa$(comma)-I$(comma)$(PLAYGROUND))
file_flags = $(strip $(base_flags) $(own_flags))

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CCACHE) $(CC) $(call file_flags,$<) -MMD -MP -c -o $@ $<

# Without the warnings that only some compilers know: clangd would complain of them in each file.
entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(CC) $(subst ",\",$(filter-out $(filter -W%,$(PROBE)),$(file_flags))) -c $(1)"}
compile_commands.json: FORCE
	$(file >$@,[)
	$(foreach source,$(wordlist 2,9999,$(ALL_SOURCES)),$(file >>$@,$(call entry,$(source))$(comma)))
	$(file >>$@,$(call entry,$(firstword $(ALL_SOURCES))))
	$(file >>$@,])
	$(call say,WRITE,$@)

# The assembler includes it, and tells the compiler nothing.
$(BUILD)/server/pages/openapi.o: server/pages/openapi.json

# --- kernels -----------------------------------------------------------------------------
# NVRTC needs no GPU. Shared by all CONFIGs, as is the tool. Without NVRTC, or where it does
# not know an architecture, the files are empty, and gpu/cuda/program.c goes on without them.
KERNELS := $(CUDA_BUILD)/kernels
KERNEL_FILES := $(shell sed -n 's|^CUBIN(\(.*\))|sm_\1.cubin|p; s|^PTX(\(.*\))|compute_\1.ptx|p' gpu/cuda/architectures.def)
WANTED_KERNELS := $(if $(filter own,$(ARCHITECTURES)),$(OWN_KERNELS),$(KERNEL_FILES))
EMBEDDED := $(BUILD)/kernels
KERNEL_TOOL := $(CUDA_BUILD)/compile

$(KERNEL_TOOL): gpu/cuda/compile.c gpu/cuda/nvrtc.c core/status.c core/bytes.c gpu/cuda/nvrtc.h gpu/cuda/nvrtc.def core/status.h core/bytes.h
	$(call say,CC,gpu/cuda/compile.c)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -I. -o $@ $(filter %.c,$^)

# Made each time and replaced when it changes, so that nothing has to know what includes what. Two makes may be
# at it at the same time (make test builds fuzz targets beside the rest): each has a file of its own.
$(KERNELS)/source.cu: $(KERNEL_TOOL) FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$ && $(KERNEL_TOOL) flatten $$new $(sort $(wildcard gpu/*/*.cu gpu/*/*/*.cu filters/*/gpu/*.cu)) && \
	    if cmp -s $@ $$new; then rm $$new; else mv $$new $@; fi

$(BUILD)/tests/fake_cuda/kernels.cpp.o: $(KERNELS)/source.cu

# NVRTC looks for its second library where the loader does, and not beside itself.
define make_kernels
	$(if $(NVRTC),$(call say,NVRTC,$@))
	$(Q)$(if $(NVRTC),LD_LIBRARY_PATH=$(dir $(NVRTC)) $(KERNEL_TOOL) $(1) $@ $* $< $(NVRTC),: >$@)
endef
$(KERNELS)/sm_%.cubin: $(KERNELS)/source.cu $(CUDA_BUILD)/cuda.mk
	$(call make_kernels,cubin)
$(KERNELS)/compute_%.ptx: $(KERNELS)/source.cu $(CUDA_BUILD)/cuda.mk
	$(call make_kernels,ptx)
# Compressed, as a process uses one of them at most. The dictionary of 4 MiB is what decompressing takes. A make
# that is killed meanwhile leaves no part of a file that the next one takes for all of it.
$(KERNELS)/%.xz: $(KERNELS)/%
	$(Q)if [ -s $< ]; then xz --stdout --threads=1 --check=crc32 --lzma2=preset=9e,dict=4MiB $<; fi >$@.new
	$(Q)mv $@.new $@
# What this build embeds. The files of architectures that it leaves out are empty.
$(EMBEDDED)/wanted: FORCE
	@mkdir -p $(@D)
	@echo '$(WANTED_KERNELS)' | cmp -s - $@ || echo '$(WANTED_KERNELS)' >$@
EMBEDDED_FILES := $(KERNEL_FILES:%=$(EMBEDDED)/%.xz)
$(WANTED_KERNELS:%=$(EMBEDDED)/%.xz): $(EMBEDDED)/%: $(KERNELS)/% $(EMBEDDED)/wanted
	$(Q)cp $< $@
$(patsubst %,$(EMBEDDED)/%.xz,$(filter-out $(WANTED_KERNELS),$(KERNEL_FILES))): $(EMBEDDED)/wanted
	$(Q): >$@
$(BUILD)/gpu/cuda/embedded.o: $(EMBEDDED_FILES) $(KERNELS)/source.cu.xz
kernels: $(EMBEDDED_FILES)
kernel-source: $(KERNELS)/source.cu # for tests/toolkits.sh
	@echo $<

# The page that `GET /` shows, as it goes into the binary.
$(PLAYGROUND)/page.html: $(wildcard server/pages/playground/*) codecs/formats.def \
		$(shell sed -nE 's|^(READ_)?FORMAT.\w+, (\w+).*|codecs/\2/\2.c|p' codecs/formats.def)
	$(call say,JOIN,$@)
	$(Q)server/pages/playground/join.sh $(PLAYGROUND)
$(BUILD)/server/pages/playground.o: $(PLAYGROUND)/page.html

# The models of the detectors. The stamp says that they were looked for: offline there are none, which is said once.
MODELS := build/models
$(MODELS)/looked-for: detect/fetch.sh detect/models.txt $(wildcard detect/*.py detect/persons/*.py detect/*/network.def detect/*/*.scales detect/*/*.head detect/*/*.sha256)
	@detect/fetch.sh $(MODELS)
	@touch $@
models: $(MODELS)/looked-for

# The library that reads codes, in the same way. What is not of this program is compiled once for all CONFIGs.
CODES := build/codes
$(CODES)/looked-for: $(addprefix detect/codes/,fetch.sh zxing.mk zxing.txt) $(wildcard detect/codes/metadata/*/*.py)
	+@detect/codes/fetch.sh $(CODES)
	@touch $@
code-reader: $(CODES)/looked-for

# Changes only when the compiler or the flags do; everything depends on it.
FLAGS_TEXT = $(CC) $(ALL_CFLAGS) $(CUDA_INCLUDE) $(subst ','\'',$(FORMAT_FLAGS)) $(ALL_LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@{ $(CC) --version | head -n 1; printf '%s\n' '$(FLAGS_TEXT)' '$(sort $(SOURCES))'; } >$@.new
	@if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi

# --- what is found out before building -------------------------------------------------
$(PROBED_MK): Makefile
	@mkdir -p $(@D)
	@for flag in $(PROBE); do \
	    echo 'int probed;' | $(CC) -Werror $$flag -c -x c -o /dev/null - 2>/dev/null && echo $$flag; \
	done | xargs echo 'PROBED :=' >$@

# The name has the formats that were asked for, so that other ones are looked for anew.
$(FORMATS_MK): codecs/formats.sh codecs/formats.def
	@CC='$(CC)' codecs/formats.sh $@ '$(FORMATS)'

$(CUDA_BUILD)/cuda.mk: gpu/cuda/cuda_headers.sh gpu/cuda/cuda_headers.txt
	@CC='$(CC)' gpu/cuda/cuda_headers.sh $(CUDA_BUILD) '$(CUDA_HOME)'
$(CUDA_BUILD)/own.mk: gpu/cuda/architectures.sh gpu/cuda/architectures.def $(CUDA_BUILD)/cuda.mk
	@gpu/cuda/architectures.sh $@

# What lacks its tools is skipped, and fails where CI=true.
OR_SKIPPED := || [ $$? = 77 -a "$$CI" != true ]

# --- for people ------------------------------------------------------------------------
# A second make, as the compiler may only now have come. It uses all cores unless -j says otherwise.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
run:
	@config/packages.sh run
	@$(MAKE) --no-print-directory $(JOBS) CONFIG=$(CONFIG) all build/sample.jpg
	@$(MAKE) --no-print-directory -s CONFIG=$(CONFIG) built
	@printf '\nTry it from another terminal:\n\n    %s\n\n' \
	    "curl -f --data-binary @$(CURDIR)/build/sample.jpg 'localhost:$(PORT)/blur?sigma=8' -o blurred.jpg"
	@exec $(BUILD)/blurd --listen $(LISTEN) --port $(PORT) $(ARGS)

built: all
	@config/built.sh $(BUILD)/blurd $(CUDA_BUILD) $(MODELS) '$(FORMATS)' '$(FORMATS_FOUND)' $(CODES)

build/sample.jpg: $(BUILD)/bench/sample
	$(call say,MAKE,$@)
	$(Q)$< $@

test:
	@config/packages.sh test
	@tests/run.sh

# Further checks follow, one after the other, where ARGS names them.
ci:
	@CI=true .ci/run
	@set -e; for check in $(ARGS); do $(MAKE) --no-print-directory ARGS= check-$$check; done

bench:
	@config/packages.sh bench
	@bench/peers/install.sh
	@$(MAKE) --no-print-directory CONFIG=release all tools build/sample.jpg
	@tests/python.sh bench/run.py $(ARGS)

# T=unit/admission is tests/unit/server/queue/test_admission.c, T=http/regions tests/http/test_regions.py, T=fuzz/query tests/fuzz/query.c.
T_FOLDER := $(firstword $(subst /, ,$(T)))
T_NAME := $(patsubst test_%,%,$(basename $(notdir $(T))))
T_PROGRAM := $(BUILD)/tests/$(T_FOLDER)/$(if $(filter unit filters,$(T_FOLDER)),test_)$(T_NAME)
t:
	@config/packages.sh $(if $(filter browser,$(T_FOLDER)),browser,test)
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) T='$(T)' t-built
	@CONFIG=$(CONFIG) tests/one.sh '$(T_FOLDER)' '$(T_NAME)' $(ARGS) $(OR_SKIPPED)
t-built: $(if $(filter http browser clients,$(T_FOLDER)),$(BUILD)/blurd $(FAKE_CUDA), \
     $(if $(filter $(T_PROGRAM),$(call programs,$(TEST_SOURCES) $(FUZZ_SOURCES) $(TOOL_SOURCES))),$(T_PROGRAM)))
	@:

lint:
	@config/packages.sh lint
	@tests/check/run.sh

check:
	@config/packages.sh test
	@tests/run.sh quick

hooks:
	git config core.hooksPath .githooks

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

check-arm64:
	@{ tests/arm64/filters.sh && tests/arm64/units.sh; } $(OR_SKIPPED)

check-api:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all
	@config/pypi.sh api
	@config/pypi.sh clients
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/clients $(OR_SKIPPED)
	@CONFIG=$(CONFIG) tests/python.sh tests/api/run.py $(ARGS) $(OR_SKIPPED)

check-python:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all
	@BLURD=$(BUILD)/blurd tests/clients/versions.sh $(ARGS) $(OR_SKIPPED)

# Both are made from what the program says of its interface.
python-client: $(BUILD)/blurd
	$(Q)config/pypi.sh clients
	$(Q)BLURD=$< clients/python/build.sh build/python-client
typescript-types: $(BUILD)/blurd
	$(Q)mkdir -p build/typescript
	$(Q)$< --help-openapi | clients/typescript/generate.py >build/typescript/blurd.d.ts

hostile-tests: $(addprefix $(BUILD)/tests/unit/test_,sandbox codec_sandbox admission_load $(if $(CUDA_INCLUDE),engine_sandbox shared_memory))
check-encoders:
	@config/packages.sh encoders
	@config/pypi.sh encoders
	@$(MAKE) --no-print-directory CONFIG=release all $(BUILD)/tests/modern/samples
	@tests/python.sh tests/encoders/run.py $(ARGS)

check-hostile:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=release all hostile-tests
	@$(MAKE) --no-print-directory CONFIG=asan all fuzzers
	@tests/python.sh tests/hostile/run.py $(ARGS)

check-site:
	@config/packages.sh browser
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) site
	@tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/mkdocs $(ARGS)

check-load:
	@config/packages.sh load
	@$(MAKE) --no-print-directory CONFIG=release all build/release/tests/load/welch load-libraries
	@tests/python.sh tests/load/run.py $(ARGS)
load-libraries: $(FAIL) $(FAKE_CUDA)

mutants:
	@config/packages.sh test
	@tests/python.sh tests/mutants/run.py $(ARGS)

# Which lines and branches the tests reach; the parser of parameters and options file by file.
coverage:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=coverage all tests
	@tests/python.sh tests/coverage.py $(ARGS)

check-browser:
	@config/packages.sh browser
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all load-libraries
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/browser $(ARGS)

check-clients:
	@config/packages.sh clients
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all load-libraries
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/browser/test_snippets.py $(ARGS)
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/http/test_examples.py tests/http/test_nginx_example.py $(ARGS)

check-clusters:
	@config/packages.sh clusters
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all
	@config/pypi.sh clusters
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/clusters $(ARGS)

# The image needs root, as buildah and debootstrap do here.
check-image:
	@config/packages.sh image
	@$(MAKE) --no-print-directory CONFIG=release all load-libraries build/sample.jpg
	@tests/containers/image.sh $(OR_SKIPPED)

check-docker:
	@config/packages.sh docker
	@$(MAKE) --no-print-directory CONFIG=release build/sample.jpg
	@tests/containers/docker.sh $(OR_SKIPPED)

# Dashboard and alerts, evaluated by Prometheus while a daemon with the fake driver is under load.
check-prometheus:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all load-libraries
	@CONFIG=$(CONFIG) tests/python.sh -m pytest -q -p no:cacheprovider tests/http/test_prometheus.py $(ARGS)

check-readme:
	@config/packages.sh image
	@tests/readme.sh $(ARGS) $(OR_SKIPPED)

check-serverless:
	@config/packages.sh test
	@config/pypi.sh kubernetes
	@config/pypi.sh knative
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all
	@BLURD=$(BUILD)/blurd tests/python.sh -m pytest -q -rs -p no:cacheprovider tests/http/test_serverless.py tests/http/test_serverless_contract.py \
	    tests/http/test_kubernetes.py -k 'serverless or knative' $(ARGS)

check-workflows:
	@config/packages.sh workflows
	@config/pypi.sh workflows
	@tests/workflows/run.sh $(ARGS) $(OR_SKIPPED)

check-deb:
	@config/packages.sh package
	@$(MAKE) --no-print-directory CONFIG=release all build/sample.jpg
	@tests/packages/deb.sh $(ARGS) $(OR_SKIPPED)

check-archive:
	@config/packages.sh package
	@$(MAKE) --no-print-directory CONFIG=release all build/sample.jpg
	@tests/packages/archive.sh $(OR_SKIPPED)

check-toolkits:
	@config/packages.sh build
	@tests/toolkits.sh $(ARGS)

check-reproducible:
	@config/packages.sh deb
	@tests/packages/reproducible.sh $(ARGS) $(OR_SKIPPED)

# With the libraries beside the program, which finds them there (bench/gpu/rules.mk).
archive:
	@config/packages.sh build
	@$(MAKE) --no-print-directory CONFIG=release all build/release/blurd.8 build/release/blurd.bash build/release/bundled/blurd
	@docker/archive.sh build/release/bundled/blurd build/archive

release:
	@config/packages.sh release
	@docker/release/release.sh

check-release:
	@config/packages.sh release
	@$(MAKE) --no-print-directory CONFIG=release all load-libraries build/sample.jpg
	@tests/packages/release.sh $(ARGS) $(OR_SKIPPED)

deb:
	@config/packages.sh deb
	@$(MAKE) --no-print-directory CONFIG=release all $(addprefix build/release/blurd.,8 bash zsh fish)
	@docker/debian/build.sh

check-install:
	@config/packages.sh build
	@$(MAKE) --no-print-directory CONFIG=release all
	@tests/install.sh

CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)
format:
	$(Q)$(CLANG_FORMAT) -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' | grep -vxF -f tests/check/format.known)

docs: $(BUILD)/blurd
	$(Q)$(BUILD)/blurd --help-markdown >docs/configuration.md
	$(Q)$(BUILD)/blurd --help-file >config/blurd.conf
	$(Q)BLURD=$(BUILD)/blurd docs/generate/tables.py
	$(Q)docs/generate/results.py
	$(Q)docs/generate/figures.py
	$(Q)docker/prometheus/rules.sh >docker/kubernetes/components/monitoring/rules.yaml

# The pictures of the gallery are made by this build, and drawn by what the tests have.
site:
	@config/packages.sh test
	@$(MAKE) --no-print-directory CONFIG=$(CONFIG) all $(BUILD)/bench/sample
	@config/pypi.sh mkdocs
	@config/pypi.sh faces
	$(Q)BLURD=$(BUILD)/blurd SAMPLE=$(BUILD)/bench/sample tests/python.sh docs/site/build.py

home:
	@config/home.sh $(HOME_URL)

tidy: $(CUDA_BUILD)/cuda.mk
	$(Q)tests/check/analyze.sh

# Every unit and filter test under valgrind, which does not know all vector instructions.
memcheck: tests
	$(Q)tests/check/memcheck.sh $(BUILD)

# What other tools show of the options.
$(BUILD)/blurd.8: $(BUILD)/blurd
	$(Q)$< --help-man >$@
$(BUILD)/blurd.bash: $(BUILD)/blurd
	$(Q)$< --help-completion >$@
$(BUILD)/blurd.zsh: $(BUILD)/blurd
	$(Q)$< --help-completion-zsh >$@
$(BUILD)/blurd.fish: $(BUILD)/blurd
	$(Q)$< --help-completion-fish >$@

# The unit names the program by its path, which is not DESTDIR's.
ROOT = $(DESTDIR)$(PREFIX)
UNITS ?= $(PREFIX)/lib/systemd/system
ZSH_FUNCTIONS ?= $(PREFIX)/share/zsh/site-functions
INSTALL_PROGRAM ?= install
install: all $(addprefix $(BUILD)/blurd.,8 bash zsh fish)
	$(INSTALL_PROGRAM) -D -m 755 $(BUILD)/blurd $(ROOT)/bin/blurd
	install -D -m 644 $(BUILD)/blurd.8 $(ROOT)/share/man/man8/blurd.8
	install -D -m 644 $(BUILD)/blurd.bash $(ROOT)/share/bash-completion/completions/blurd
	install -D -m 644 $(BUILD)/blurd.zsh $(DESTDIR)$(ZSH_FUNCTIONS)/_blurd
	install -D -m 644 $(BUILD)/blurd.fish $(ROOT)/share/fish/vendor_completions.d/blurd.fish
	install -D -m 644 -t $(DESTDIR)$(UNITS) docker/systemd/blurd.service docker/systemd/blurd.socket
	sed -i 's|/usr/local/bin/blurd|$(PREFIX)/bin/blurd|' $(DESTDIR)$(UNITS)/blurd.service
	install -D -m 644 config/blurd.conf $(ROOT)/share/blurd/blurd.conf
	detect/install.sh $(MODELS) $(ROOT)/share/blurd
	if [ -f $(CODES)/libblurd-zxing.so ]; then \
	    install -D -m 644 -t $(ROOT)/lib/blurd $(CODES)/libblurd-zxing.so detect/codes/zxing.copyright; fi
	install -D -m 644 -t $(ROOT)/share/doc/blurd LICENSE README.md CHANGELOG.md
	install -D -m 644 -t $(ROOT)/share/doc/blurd/docs $(wildcard docs/*.md)
	install -D -m 644 -t $(ROOT)/share/doc/blurd/docs/api $(wildcard docs/api/*.md)
	install -D -m 644 -t $(ROOT)/share/doc/blurd/docs/start $(wildcard docs/start/*.md)
	install -D -m 644 -t $(ROOT)/share/doc/blurd/docs/gpu $(wildcard docs/gpu/*.md)
install-strip:
	@$(MAKE) --no-print-directory INSTALL_PROGRAM='install -s' install
uninstall:
	rm -f $(ROOT)/bin/blurd $(ROOT)/share/man/man8/blurd.8 $(ROOT)/share/bash-completion/completions/blurd
	rm -f $(DESTDIR)$(ZSH_FUNCTIONS)/_blurd $(ROOT)/share/fish/vendor_completions.d/blurd.fish
	rm -f $(DESTDIR)$(UNITS)/blurd.service $(DESTDIR)$(UNITS)/blurd.socket
	rm -rf $(ROOT)/share/blurd $(ROOT)/lib/blurd $(ROOT)/share/doc/blurd

clean:
	rm -rf $(addprefix build/,$(CONFIGS)) build/arm64/release build/sample.jpg
distclean:
	rm -rf build

.PHONY: all built code-reader models kernels kernel-source tests tools fuzzers t t-built help home hooks lint run t test ci bench check check-api check-arm64 check-browser check-clients check-clusters check-encoders check-hostile check-load check-python check-serverless check-site check-workflows site python-client typescript-types load-libraries hostile-tests coverage format docs tidy \
        memcheck mutants install install-strip uninstall check-image check-docker check-prometheus check-deb check-archive check-reproducible check-install check-readme check-toolkits deb archive release check-release clean distclean FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(patsubst %.c,$(BUILD)/%.d,$(ALL_SOURCES)) $(patsubst %,$(BUILD)/%.d,$(FAKE_SOURCES))
