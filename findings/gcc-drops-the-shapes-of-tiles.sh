#!/bin/bash
# SPDX-License-Identifier: MIT
# GCC 12, AMX: _tile_loadconfig reads 64 bytes, the shapes of eight tiles. The header tells the compiler that the instruction
# reads a pointer's worth, the first 8. So from -O2 on GCC takes the stores of all shapes for unused and leaves them out, without a
# warning: LDTILECFG then reads what the stack held, which faults or, worse, gives tiles of another size. The usual form, a local
# structure that is filled and handed over, is struck; where the structure is global, or another function has seen its address, the
# stores stay. A statement that says that memory is read before the call, as cpu/detect/simd/amx.h has, mends it.
# Only the compiler proper of Debian 12's package is run, on x86-64; no processor with AMX is needed.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ "$(dpkg --print-architecture)" = amd64 ] || { echo "x86-64 only" && exit 77; }
cd "$folder"
apt-get -qq download cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 ||
    { echo "the packages of Debian 12 cannot be had" && exit 77; }
for package in *.deb; do
    dpkg -x "$package" root
done
gcc=root/usr/lib/gcc/x86_64-linux-gnu/12

cat >try.c <<'C'
#define _IMMINTRIN_H_INCLUDED /* the part about tiles alone, which needs no C library */
#include <amxtileintrin.h>

struct shapes { unsigned char palette, first, none[14]; unsigned short bytes[16]; unsigned char rows[16]; };

void configure(int rows) {
    struct shapes shapes = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        shapes.bytes[tile] = 48;
        shapes.rows[tile] = rows;
    }
#ifdef READ
    __asm__ volatile("" : : "m"(shapes));
#endif
    _tile_loadconfig(&shapes);
}
C

compile() { # output, options: the instructions
    LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu "$gcc/cc1" -quiet -mamx-tile -I "$gcc/include" "${@:2}" try.c -o "$1.s"
    grep -P '^\t[^.]' "$1.s" >"$1"
}

compile plain -O0
compile optimised -O2
compile read -O2 -DREAD
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu "$gcc/cc1" --version </dev/null 2>&1 | head -n 1 || true
echo "-O2:"
cat optimised
# 48 is 0x30; a vector of eight of them is a constant of 0x0030003000300030.
# shellcheck disable=SC2016 # a dollar stands before constants
stores() { grep -cE '\$48|3145776|13511005043687472|\.LC' "$1" || true; }
echo "instructions with the width of 48: -O0 $(stores plain), -O2 $(stores optimised), -O2 after a read of all $(stores read)"
grep -q ldtilecfg optimised
[ "$(stores plain)" -gt 0 ] && [ "$(stores optimised)" = 0 ] && [ "$(stores read)" -gt 0 ]
