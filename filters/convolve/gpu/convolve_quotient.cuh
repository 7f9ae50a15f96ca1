/* SPDX-License-Identifier: MIT
 * Division of many sums by one divisor. */
#ifndef BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_QUOTIENT_CUH
#define BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_QUOTIENT_CUH

/* The bits of __fdiv_rn(sum, divisor) with fewer instructions: `inverse` is 1 / divisor, rounded, and two
 * remainders correct the quotient (Markstein, 1990). Exact for quotients of at least 1e-9, as no step then
 * leaves the normal numbers; divisors are at least 1e-9, too. The error of smaller ones changes no sample. */
struct quotient {
    float divisor, inverse;
    __device__ __forceinline__ float of(float sum) const {
        float q = __fmul_rn(sum, inverse);
        q = __fmaf_rn(__fmaf_rn(-q, divisor, sum), inverse, q);
        return __fmaf_rn(__fmaf_rn(-q, divisor, sum), inverse, q);
    }
};

#endif
