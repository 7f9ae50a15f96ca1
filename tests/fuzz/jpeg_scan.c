/* SPDX-License-Identifier: MIT
 * A JPEG's header as the GPU's walk over the scan reads it: its tables lead nowhere outside of them, and it
 * finds the picture that libjpeg finds. */
#include "gpu/jpeg/jpeg_header.h"

#include "tests/fuzz/common/fuzz.h"

enum { PATTERNS = 1 << 16, STEP = 37 /* so that each input is quick */, BITS_MAX = 27 };

/* The kernel's action on the next 16 bits. */
static uint32_t entry_of(const struct sync_codes *codes, uint32_t bits) {
    uint32_t entry = codes->look[bits >> KERNEL_SYNC_LONG];
    for (int i = 0; i < KERNEL_SYNC_LONG && entry == 0; i++) {
        if (bits < codes->limit[i]) {
            int32_t at = (int32_t)(bits >> (KERNEL_SYNC_LONG - 1 - i)) + codes->first[i];
            fuzz_require(at >= 0 && at < 256, "a code lies in its table");
            entry = codes->code[at];
            fuzz_require(entry != 0, "a code that is looked up is there");
        }
    }
    return entry ? entry : KERNEL_SYNC_NO_CODE;
}

static void check_codes(const struct sync_codes *codes) {
    for (uint32_t bits = 0; bits < PATTERNS; bits += STEP) {
        uint32_t entry = entry_of(codes, bits), count = entry & ((1U << KERNEL_SYNC_VALUE_SHIFT) - 1);
        uint32_t steps = entry >> KERNEL_SYNC_STEP_SHIFT;
        uint32_t value = (entry >> KERNEL_SYNC_VALUE_SHIFT) &
                         ((1U << (KERNEL_SYNC_STEP_SHIFT - KERNEL_SYNC_VALUE_SHIFT)) - 1);
        fuzz_require(count == KERNEL_SYNC_NO_CODE ||
                         (count > 0 && count <= BITS_MAX && steps > 0 && value < count),
                     "each code gets on");
    }
    uint32_t ones = entry_of(codes, PATTERNS - 1);
    fuzz_require(ones == KERNEL_SYNC_NO_CODE, "padding is no code");
}

/* Offsets lead to the tables of this block and the next one. */
static void check_block(const struct sync_tables *tables, uint32_t number) {
    const struct sync_block *block = &tables->block[number];
    const uint32_t each = sizeof *tables->codes;
    fuzz_require(block->dc == each * (tables->dc >> number & 1) &&
                     block->ac == each * (2 + (tables->ac >> number & 1)),
                 "a block has its tables");
    fuzz_require(block->next == (number + 1) % tables->in_mcu &&
                     block->next_dc == each * (tables->dc >> block->next & 1),
                 "a block leads to the next one");
}

static void check_sync(const struct sync_tables *tables) {
    fuzz_require(tables->finished == 0 && tables->blocks > 0, "there are blocks");
    fuzz_require(tables->in_mcu >= 1 && tables->in_mcu <= 10, "an MCU has 1 to 10 blocks");
    fuzz_require(tables->dc >> 10 == 0 && tables->ac >> 10 == 0, "so many have tables");
    fuzz_require(tables->interval == 0 || (uint64_t)tables->markers * tables->interval < tables->blocks,
                 "each interval has blocks");
    for (uint32_t block = 0; block < tables->in_mcu; block++) {
        check_block(tables, block);
        check_codes(&tables->codes[tables->dc >> block & 1]);
        check_codes(&tables->codes[2 + (tables->ac >> block & 1)]);
    }
}

static void check_decode(const struct decode_tables *tables) {
    for (unsigned i = 0; i < 64; i++) {
        fuzz_require(tables->place[i] < 64, "a coefficient lies in its block");
    }
    fuzz_require(tables->finished == 0, "nothing is decoded yet");
}

static void check_shape(struct bytes input, const struct image_shape *shape) {
    const struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    if (codec_probe(input, &limits, &picture, &err) != ST_OK) {
        return;
    }
    const struct image_shape *native = &picture.native;
    fuzz_require(native->width == shape->width && native->height == shape->height, "it has that size");
    fuzz_require(!picture.progressive, "it is one scan");
    fuzz_require(native->model == PIXEL_RGB ||
                     (native->model == shape->model && native->chroma_shift_x == shape->chroma_shift_x &&
                      native->chroma_shift_y == shape->chroma_shift_y),
                 "it has that shape");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scan_tables tables; /* the state of the last input is still there, as in a lane */
    struct bytes input = {data, size};
    struct jpeg_header scan;
    struct error err = {0};
    if (jpeg_header_parse(input, &scan, &tables, &err) != ST_OK) {
        fuzz_require(err.status == ST_UNSUPPORTED && err.text[0], "a refusal is explained");
        return 0;
    }
    size_t end = scan.offset + scan.size;
    fuzz_require(scan.size > 0 && end + 2 <= size && data[end] == 0xff && data[end + 1] == 0xd9,
                 "the scan ends before an end marker");
    check_sync(&tables.sync);
    check_decode(&tables.decode);
    check_shape(input, &scan.shape);
    return 0;
}
