/* SPDX-License-Identifier: MIT
 * The blur of the textbooks: a thread a pixel, its channels in a loop, 7x7 whole weights, a
 * division at the end that truncates. Nothing is served with it; it is what others are measured against. */
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

/* Nothing, to time a launch. */
extern "C" __global__ void empty() {
}

/* Keeps the stream busy for so many nanoseconds, while the host enqueues what is to be timed. */
extern "C" __global__ void hold(unsigned long long nanoseconds) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begin < nanoseconds);
}
