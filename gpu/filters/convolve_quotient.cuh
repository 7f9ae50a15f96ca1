/* SPDX-License-Identifier: MIT
 * Quotients of many sums by one divisor. */
#ifndef BLURD_GPU_FILTERS_CONVOLVE_QUOTIENT_CUH
#define BLURD_GPU_FILTERS_CONVOLVE_QUOTIENT_CUH

/* The bits of __fdiv_rn(sum, divisor) without its length: `inverse` is 1 / divisor, rounded. Two steps of
 * what is left (Markstein, 1990), exact as long as nothing leaves the normal numbers: for what is 1e-9 or
 * more, as divisors are; smaller quotients may be off, by less than any sample can tell. */
struct quotient {
    float divisor, inverse;
    __device__ __forceinline__ float of(float sum) const {
        float q = __fmul_rn(sum, inverse);
        q = __fmaf_rn(__fmaf_rn(-q, divisor, sum), inverse, q);
        return __fmaf_rn(__fmaf_rn(-q, divisor, sum), inverse, q);
    }
};

#endif
