/* SPDX-License-Identifier: MIT
 * filters/convolve/gpu/convolve.cuh for one matrix and RGB of 8 bits; the nearest sample stands for those
 * outside. special.c writes definitions of WIDTH, HEIGHT, DIVISOR and SUMS before this text. */
#define TILE_COLUMNS 256
#define TILE_HEIGHT 32
#define CHANNELS 3
#define TILE_WIDTH (TILE_COLUMNS / CHANNELS - (WIDTH - 1))
#define VALUE(y, x)                                                                                          \
    for (int c = 0; c < 4; c++) {                                                                            \
        v[c] = at[(y)*TILE_COLUMNS + (x)*CHANNELS + 32 * c];                                                 \
    }
#define ADD(r, weight)                                                                                       \
    for (int c = 0; c < 4; c++) {                                                                            \
        sum[r][c] = __fadd_rn(sum[r][c], __fmul_rn(weight, v[c]));                                           \
    }

extern "C" __global__ void __launch_bounds__(256)
    special(const unsigned char *source, unsigned char *target, long long stride, int width, int height) {
    __shared__ float memory[(TILE_HEIGHT + HEIGHT - 1) * TILE_COLUMNS + 64];
    int tile_x = blockIdx.x * TILE_WIDTH, tile_y = blockIdx.y * TILE_HEIGHT;
    int tile_width = min(TILE_WIDTH, width - tile_x), tile_height = min(TILE_HEIGHT, height - tile_y);
    int thread = threadIdx.y * 32 + threadIdx.x;
    int x = thread / CHANNELS;
    if (x < tile_width + WIDTH - 1) {
        int from = min(max(tile_x - WIDTH / 2 + x, 0), width - 1) * CHANNELS + thread % CHANNELS;
#pragma unroll 8
        for (int row = 0; row < tile_height + HEIGHT - 1; row++) {
            int y = min(max(tile_y - HEIGHT / 2 + row, 0), height - 1);
            memory[row * TILE_COLUMNS + thread] = (float)source[y * stride + from];
        }
    }
    __syncthreads();
    int across = (tile_width * CHANNELS + 127) / 128;
    int tasks = across * ((tile_height + 3) / 4);
    for (int task = threadIdx.y; task < tasks; task += 8) {
        int first = task / across * 4;
        int i = (task - task / across * across) * 128 + threadIdx.x;
        const float *at = memory + first * TILE_COLUMNS + i;
        float sum[4][4] = {}, v[4];
        SUMS for (int r = 0; r < 4; r++) {
            for (int c = 0; c < 4; c++) {
                if (i + 32 * c < tile_width * CHANNELS && first + r < tile_height) {
                    float rounded = floorf(__fadd_rn(__fdiv_rn(sum[r][c], DIVISOR), 0.5f));
                    rounded = fmaxf(fminf(rounded, 255.0f), 0.0f);
                    target[(tile_y + first + r) * stride + tile_x * CHANNELS + i + 32 * c] =
                        (unsigned char)rounded;
                }
            }
        }
    }
}
