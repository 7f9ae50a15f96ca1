/* SPDX-License-Identifier: MIT
 * The textbook blur: one thread for each pixel, a loop over its channels, 7x7 integer weights and a
 * truncating division at the end. Only benchmarks use it, as the baseline. */
struct textbook_weights {
    int weight[7][7];
    int sum;
};

extern "C" __global__ void textbook_blur(const unsigned char *source, unsigned char *target, int width,
                                         int height, int channels, const struct textbook_weights weights) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    for (int c = 0; c < channels; c++) {
        int sum = 0;
        for (int j = -3; j <= 3; j++) {
            for (int i = -3; i <= 3; i++) {
                int near_x = min(max(x + i, 0), width - 1);
                int near_y = min(max(y + j, 0), height - 1);
                sum += weights.weight[j + 3][i + 3] * source[(near_y * width + near_x) * channels + c];
            }
        }
        target[(y * width + x) * channels + c] = sum / weights.sum;
    }
}
