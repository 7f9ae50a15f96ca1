# SPDX-License-Identifier: MIT
# make                 build/release/blurd
# make CONFIG=asan     build/asan/blurd; also debug, tsan, fuzz; they stand side by side
# make V=1             shows the commands

CONFIG ?= release
BUILD := build/$(CONFIG)
CC ?= cc
V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Werror
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero -fPIE
# -ffp-contract=off: the floating-point path must round alike on every processor and backend.
COMMON := -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -g -pthread -ffp-contract=off -MMD -MP $(WARN)
CFLAGS_release := -O3 -D_FORTIFY_SOURCE=2 $(HARDEN)
CFLAGS_debug   := -O0 $(HARDEN)
CFLAGS_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan    := -O1 -fsanitize=thread -fno-omit-frame-pointer
LDFLAGS_release := -pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
LDFLAGS_debug   := $(LDFLAGS_release)
LDFLAGS_asan    := -fsanitize=address,undefined
LDFLAGS_tsan    := -fsanitize=thread
ALL_CFLAGS := $(COMMON) $(CFLAGS_$(CONFIG)) $(CFLAGS)
ALL_LDFLAGS := -pthread $(LDFLAGS_$(CONFIG)) $(LDFLAGS)
LIBS := -lmicrohttpd -ljpeg -lpng16 -lz -lm

SOURCES := $(wildcard core/*.c filters/*.c codecs/*.c cpu/*.c gpu/*.c config/*.c server/*.c)
OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out server/main.c,$(SOURCES)))
TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c tests/filters/test_*.c))

all: $(BUILD)/blurd
tests: $(TESTS)

$(BUILD)/blurd: $(BUILD)/server/main.o $(BUILD)/libblurd.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libblurd.a: $(OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libblurd.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/cpu/%_avx2.o: ALL_CFLAGS += -mavx2
$(BUILD)/cpu/%_avx512.o: ALL_CFLAGS += -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

clean:
	rm -rf build

.PHONY: all tests clean
.SECONDARY:
-include $(patsubst %.c,$(BUILD)/%.d,$(SOURCES)) $(TESTS:=.d)
