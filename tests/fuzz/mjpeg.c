/* SPDX-License-Identifier: MIT
 * Series of JPEGs. The first byte says in pieces of which size the rest comes: what the frames are does not
 * depend on it. Frames alone, without what stood between them, are no more frames. */
#include "server/series/mjpeg.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

struct frames {
    size_t size; /* bytes of all frames, one behind the other */
    size_t count;
    bool foreign;
    uint8_t *bytes; /* as large as the input and what is added at each end */
};

static void add(struct frames *frames, const uint8_t *data, size_t size) {
    if (size > 0) {
        memcpy(frames->bytes + frames->size, data, size);
        frames->size += size;
    }
}

static void note(struct frames *frames, enum mjpeg_event event, bool more) {
    frames->foreign |= event == MJPEG_FOREIGN;
    if (event == MJPEG_CUT) {
        add(frames, mjpeg_end, sizeof mjpeg_end);
    }
    if (event == MJPEG_BEGIN || (event == MJPEG_CUT && more)) {
        add(frames, mjpeg_begin, sizeof mjpeg_begin);
        frames->count++;
    }
}

static struct frames split(const uint8_t *data, size_t size, size_t piece) {
    struct frames frames = {.bytes = malloc(3 * size + 8)};
    struct mjpeg mjpeg = {0};
    fuzz_require(frames.bytes != NULL, "there is memory");
    unsigned idle = 0;
    for (size_t at = 0; at < size && !frames.foreign;) {
        size_t count = size - at < piece ? size - at : piece;
        struct mjpeg_piece read = mjpeg_read(&mjpeg, data + at, count);
        fuzz_require(read.read <= count && read.kept <= read.read, "no more is read than there is");
        idle = read.read > 0 ? 0 : idle + 1;
        fuzz_require(idle < 2, "it goes on");
        add(&frames, data + at, read.kept);
        at += read.read;
        note(&frames, read.event, true);
    }
    if (!frames.foreign) {
        note(&frames, mjpeg_finish(&mjpeg), false);
    }
    return frames;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    struct frames whole = split(data + 1, size - 1, size);
    struct frames pieces = split(data + 1, size - 1, (size_t)data[0] + 1);
    fuzz_require(whole.count == pieces.count && whole.foreign == pieces.foreign, "pieces change nothing");
    if (!whole.foreign) {
        struct frames again = split(whole.bytes, whole.size, whole.size + 1);
        fuzz_require(again.count <= whole.count, "no frame hides two");
        free(again.bytes);
    }
    free(whole.bytes);
    free(pieces.bytes);
    return 0;
}
