/* SPDX-License-Identifier: MIT
 * The reader of gain maps: a whole file, and each form of numbers alone. What is read can be written, and
 * reads as the same. */
#include "codecs/gainmap/gainmap.h"
#include "codecs/gainmap/gainmap_apple.h"
#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_pictures.h"
#include "codecs/gainmap/gainmap_xmp.h"
#include "tests/fuzz/common/fuzz.h"

static bool inside(struct bytes outer, struct bytes inner) {
    return inner.size == 0 || (inner.data >= outer.data && inner.size <= outer.size &&
                               (size_t)(inner.data - outer.data) <= outer.size - inner.size);
}

static void write(const struct gainmap_numbers *numbers) {
    struct gainmap_numbers again = {0};
    uint8_t bytes[GAINMAP_ISO_MAX];
    fuzz_require(gainmap_numbers_fit(numbers), "what is read is usable");
    size_t size = gainmap_iso_write(numbers, bytes);
    fuzz_require(size <= sizeof bytes && gainmap_iso_read((struct bytes){bytes, size}, &again),
                 "what was read can be written");
    fuzz_require(again.headroom == numbers->headroom && again.channels == numbers->channels &&
                     again.channel[2].gamma == numbers->channel[2].gamma,
                 "it reads as the same");
    gainmap_neutral(&numbers->channel[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct bytes picture[GAINMAP_PICTURES_MAX + 1];
    struct gainmap_numbers numbers;
    struct gainmap map;
    double stops = 0;
    gainmap_find(input, &map);
    fuzz_require(inside(input, map.file), "a map lies in its file");
    if (map.kind >= GAINMAP_APPLE) {
        write(&map.numbers);
    }
    for (unsigned i = gainmap_pictures(input, picture); i > 0; i--) {
        fuzz_require(picture[i - 1].size > 0 && inside(input, picture[i - 1]), "pictures lie in the file");
    }
    if (gainmap_iso_read(input, &numbers)) {
        write(&numbers);
    }
    if (gainmap_xmp_read(input, &numbers, &stops) == GAINMAP_PACKET_NUMBERS) {
        write(&numbers);
    }
    if (gainmap_apple_stops(input, &stops) && gainmap_apple_numbers(stops, &numbers)) {
        uint8_t level[GAINMAP_LEVELS];
        gainmap_apple_levels(&numbers, level);
        fuzz_require(level[0] == 0 && level[255] == 255, "the darkest and the brightest sample stay");
        write(&numbers);
    }
    return 0;
}
