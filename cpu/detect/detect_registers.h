/* SPDX-License-Identifier: MIT
 * Included first by files whose sums must stay in registers. GCC's elimination of partial redundancies makes
 * copies of all sums in the loop over the inputs, for which there are not enough registers. */
#ifndef BLURD_CPU_DETECT_DETECT_REGISTERS_H
#define BLURD_CPU_DETECT_DETECT_REGISTERS_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("no-tree-pre")
#endif

#endif
