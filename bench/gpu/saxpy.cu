/* SPDX-License-Identifier: MIT
 * y = a x + y: what the memory can do, and the check of the whole path through the driver. */
extern "C" __global__ void saxpy(unsigned count, float a, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        y[i] = a * x[i] + y[i];
    }
}
