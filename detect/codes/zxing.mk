# SPDX-License-Identifier: MIT
# Compiles the readers of zxing-cpp (SOURCE) to OUT/libblurd-zxing.so: detect/codes/fetch.sh.
CXX ?= g++
CCACHE ?= $(shell command -v ccache)
OBJECTS := $(OUT)/objects
WRITERS := %Writer.cpp %Encoder.cpp %EncodingState.cpp %SymbolInfo.cpp %MaskUtil.cpp %MatrixUtil.cpp %WriterHelper.cpp
FILES := $(filter-out $(WRITERS),$(wildcard $(SOURCE)/src/*.cpp $(addsuffix /*.cpp,$(addprefix $(SOURCE)/src/,aztec datamatrix maxicode oned pdf417 qrcode)))) \
         $(SOURCE)/src/libzueci/zueci.c
FLAGS := -O2 -g0 -fPIC -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$(OUT)=. -DZXING_INTERNAL \
         -DZUECI_EMBED_NO_TO_ECI -I$(OBJECTS) -I$(SOURCE)/src -I$(SOURCE)/src/libzueci

# Only the C interface is seen from outside. The C++ library is linked in, so that no package has to name it.
$(OUT)/libblurd-zxing.so: $(patsubst $(SOURCE)/src/%,$(OBJECTS)/%.o,$(FILES)) $(OBJECTS)/symbols
	$(CXX) -shared -static-libstdc++ -static-libgcc -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack,--gc-sections,--strip-all \
	    -Wl,--version-script=$(OBJECTS)/symbols -o $@ $(filter %.o,$^)

$(OBJECTS)/%.cpp.o: $(SOURCE)/src/%.cpp $(OBJECTS)/Version.h
	@mkdir -p $(@D)
	$(CCACHE) $(CXX) -std=c++20 $(FLAGS) -c -o $@ $<
$(OBJECTS)/%.c.o: $(SOURCE)/src/%.c
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(FLAGS) -c -o $@ $<

# As the package's own build makes it.
$(OBJECTS)/Version.h:
	@mkdir -p $(@D)
	{ echo '#pragma once'; printf '#define ZXING_ENABLE_%s 1\n' 1D AZTEC DATAMATRIX MAXICODE PDF417 QRCODE; \
	  echo '#define ZXING_READERS'; echo '#define ZXING_VERSION_STR ""'; } >$@
$(OBJECTS)/symbols:
	@mkdir -p $(@D)
	echo '{ global: ZXing_*; local: *; };' >$@
