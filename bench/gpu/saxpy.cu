/* SPDX-License-Identifier: MIT
 * y = a x + y. Measures the memory's throughput and checks the whole path through the driver. */
extern "C" __global__ void saxpy(unsigned count, float a, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        y[i] = a * x[i] + y[i];
    }
}
