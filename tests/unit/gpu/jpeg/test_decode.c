/* SPDX-License-Identifier: MIT
 * The decoder of the kernels, with the fake driver, against libjpeg: the same bytes for every file that the
 * walk accepts. Nothing is written outside the planes, or for a damaged scan. */
#include "gpu/jpeg/decode.h"

#include <limits.h>

#include "core/sanitizers.h"
#include "tests/unit/gpu/jpeg/jpeg_header_fixture.h"

enum { SHARE = SANITIZED ? 4 : 1 }; /* sanitizers take their time */
enum {
    FILES = 1200 / SHARE,
    LARGE_FILES = 8 / SHARE,
    EXTREMES = 60,
    DAMAGED = 600 / SHARE,
    PIXELS_MAX = 12000000 / SHARE,
    PATTERN = 0xa5
};

static unsigned decoded, left_out;

struct planes {
    struct image image;
    uint8_t *memory;
    size_t size;
};

static struct planes make_planes(const struct image_shape *shape) {
    struct planes planes;
    planes.size = image_layout(&planes.image, shape);
    planes.memory = aligned_alloc(IMAGE_ALIGNMENT, planes.size);
    assert_non_null(planes.memory);
    memset(planes.memory, PATTERN, planes.size);
    image_place(&planes.image, planes.memory);
    return planes;
}

/* The fake driver's device memory is the host's. */
static enum status decode(struct bytes file, const struct planes *planes, struct error *err) {
    const struct image_shape shape = image_shape(&planes->image);
    enum status status = huffman_sync_parse(&lane.sync, &lane.stream, file, &shape, err);
    if (status == ST_OK) {
        assert_int_equal(gpu_decode_reserve(&lane.decode, &lane.stream, &lane.sync, err), ST_OK);
        assert_int_equal(huffman_sync_begin(&lane.sync, &lane.stream, file, err), ST_OK);
        assert_int_equal(gpu_decode_begin(&lane.decode, &lane.stream, &lane.sync, &planes->image, err),
                         ST_OK);
        assert_int_equal(cuda.cuStreamSynchronize(lane.stream.handle), CUDA_SUCCESS);
        status = huffman_sync_end(&lane.sync, err);
    }
    return status;
}

static void assert_untouched(const uint8_t *from, const uint8_t *end, const char *what) {
    for (; from < end; from++) {
        if (*from != PATTERN) {
            fail_msg("%s: %d was written beside the picture", what, *from);
        }
    }
}

/* The samples equal libjpeg's, and memory outside whole blocks is untouched. */
static void assert_planes(const struct planes *got, const struct planes *expected, const char *what) {
    const uint8_t *last = got->memory;
    for (unsigned p = 0; p < got->image.plane_count; p++) {
        const struct plane *plane = &got->image.plane[p], *other = &expected->image.plane[p];
        size_t whole = bytes_align_up(plane->width, DCTSIZE);
        for (uint32_t y = 0; y < bytes_align_up(plane->height, DCTSIZE); y++) {
            const uint8_t *row = plane_row(plane, y);
            assert_untouched(last, row, what);
            for (uint32_t x = 0; x < plane->width && y < plane->height; x++) {
                if (row[x] != plane_row(other, y)[x]) {
                    fail_msg("%s: plane %u, column %u of %u, row %u of %u: %u instead of %u", what, p, x,
                             plane->width, y, plane->height, row[x], plane_row(other, y)[x]);
                }
            }
            last = row + whole;
        }
    }
    assert_untouched(last, got->memory + got->size, what);
}

/* Compares files that both accept. */
static void compare(const struct buf *file, const char *what) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    if (codec_probe(buf_bytes(file), &limits, &picture, &err) != ST_OK) {
        return;
    }
    struct planes got = make_planes(&picture.native), expected = make_planes(&picture.native);
    if (decode(buf_bytes(file), &got, &err) == ST_OK) {
        assert_int_equal(codec_decode(buf_bytes(file), &picture, &limits, &expected.image, &err), ST_OK);
        assert_planes(&got, &expected, what);
        decoded++;
    } else {
        assert_untouched(got.memory, got.memory + got.size, what);
        left_out++;
    }
    free(got.memory);
    free(expected.memory);
}

static void report(const char *what, unsigned left_out_at_most) {
    print_message("%s: %u alike, %u not decoded\n", what, decoded, left_out);
    assert_true(decoded > 0 && left_out <= left_out_at_most);
    decoded = left_out = 0;
}

static void compare_material(const struct material *material) {
    char what[128];
    snprintf(what, sizeof what, "%ux%u, content %d, factors %d %d, quality %d, optimised %d, alike %d",
             material->width, material->height, (int)material->content, material->h, material->v,
             material->quality, material->optimised, material->alike);
    struct buf file = make(material);
    compare(&file, what);
    buf_finish(&file);
}

/* --- whole files ------------------------------------------------------------------------------- */
static void test_every_kind(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        struct material material = any_material(i);
        compare_material(&material);
    }
    report("files of every kind", FILES / 50); /* noise of quality 100: test_walk.c */
}

static void test_large_files(void **state) {
    (void)state;
    for (size_t i = 0; i < LARGE_FILES; i++) {
        struct material material = {.content = i % 2 ? MIXED : SMOOTH,
                                    .h = factors[i][0],
                                    .v = factors[i][1],
                                    .quality = 85 + 5 * (int)(i % 3),
                                    .optimised = i % 2,
                                    .alike = i % 3 == 0,
                                    .restart = i % 4 == 1 ? 120 : 0,
                                    .width = 1920,
                                    .height = 1080};
        compare_material(&material);
    }
    report("large files", 0);
}

static void test_borders(void **state) {
    (void)state;
    enum { ALL = 7, MOST = 100 * BORDER_FILES };
    unsigned kinds_met = 0;
    for (size_t i = 0; i < BORDER_FILES || (kinds_met != ALL && i < MOST); i++) { /* chance decides */
        struct buf file = border_file(i % BORDER_FILES);
        unsigned kind = border_kind(&file, scan_of(&file));
        if (i < BORDER_FILES || kind & ~kinds_met) {
            compare(&file, "a range's border");
        }
        kinds_met |= kind;
        buf_finish(&file);
    }
    assert_int_equal(kinds_met, ALL);
    report("borders of ranges", 0);
}

static void test_steps_of_16_bits(void **state) {
    (void)state;
    const struct jpeg_recipe recipes[] = {
        {.luma = {2, 2}, .odd_tables = true, .width = 203, .height = 97},
        {.luma = {2, 1}, .chroma = {2, 1}, .odd_tables = true, .restart = 4, .width = 90, .height = 41},
        {.luma = {1, 2}, .chroma = {1, 2}, .odd_tables = true, .width = 41, .height = 90},
        {.luma = {2, 2}, .chroma = {1, 2}, .odd_tables = true, .width = 75, .height = 75},
        {.space = JCS_GRAYSCALE, .luma = {2, 2}, .odd_tables = true, .restart = 1, .width = 65, .height = 7},
    };
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct buf file = recipe_file(&recipes[i]);
        compare(&file, "steps of 16 bits");
        buf_finish(&file);
    }
    report("steps of 16 bits", 0);
}

/* --- coefficients that no picture has ---------------------------------------------------------- */
static void fill_block(JCOEF *block, unsigned kind) {
    unsigned count = kind % 4 == 0 ? 1 : kind % 4 == 1 ? DCTSIZE : DCTSIZE2;
    for (unsigned k = 0; k < count; k++) {
        int range = k ? 1023 : 1000;
        bool far = kind / 4 % 2 || below(2);
        block[k] = (JCOEF)(far ? (below(2) ? range : -range) : (int)below(2 * (size_t)range) - range);
    }
}

static jvirt_barray_ptr make_values(struct jpeg_compress_struct *cinfo, unsigned blocks) {
    j_common_ptr common = (j_common_ptr)cinfo;
    return cinfo->mem->request_virt_barray(common, JPOOL_IMAGE, TRUE, blocks, blocks, 1);
}

static struct buf make_extreme(unsigned kind) {
    enum { BLOCKS = 12 };
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    unsigned char *data = NULL;
    unsigned long size = 0;
    unsigned steps[DCTSIZE2];
    for (unsigned k = 0; k < DCTSIZE2; k++) {
        steps[k] = kind % 3 == 0 ? 255 : kind % 3 == 1 ? 1 + below(300) : 1 + below(65535);
    }
    cinfo.err = recipe_errors(&manager);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = cinfo.image_height = BLOCKS * DCTSIZE;
    cinfo.input_components = 1;
    cinfo.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&cinfo);
    cinfo.optimize_coding = TRUE;
    jpeg_add_quant_table(&cinfo, 0, steps, 100, FALSE);
    jvirt_barray_ptr values = make_values(&cinfo, BLOCKS);
    jpeg_write_coefficients(&cinfo, &values);
    for (unsigned y = 0; y < BLOCKS; y++) {
        JBLOCKARRAY row = cinfo.mem->access_virt_barray((j_common_ptr)&cinfo, values, y, 1, TRUE);
        for (unsigned x = 0; x < BLOCKS; x++) {
            fill_block(row[0][x], kind);
        }
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    struct buf file;
    buf_init(&file, FILE_MAX);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    return file;
}

static void test_extremes(void **state) {
    (void)state;
    for (unsigned i = 0; i < EXTREMES; i++) {
        char what[32];
        snprintf(what, sizeof what, "extremes %u", i);
        struct buf file = make_extreme(i);
        compare(&file, what);
        buf_finish(&file);
    }
    report("extremes", EXTREMES / 4);
}

/* --- damage ------------------------------------------------------------------------------------ */
static void test_damage(void **state) {
    (void)state;
    for (size_t i = 0; i < DAMAGED; i++) {
        struct material material = any_material(i);
        struct buf file = make(&material);
        kinds[i % COUNT(kinds)].damage(&file, scan_of(&file));
        compare(&file, kinds[i % COUNT(kinds)].name);
        buf_finish(&file);
    }
    report("damaged files", DAMAGED);
}

/* --- the corpus -------------------------------------------------------------------------------- */
static void visit(const char *path, const struct buf *file, const struct picture *picture) {
    (void)picture;
    compare(file, path);
}

static void test_corpus(void **state) {
    (void)state;
    visit_corpus(PIXELS_MAX, visit);
    report("corpus", UINT_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind), cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_borders),    cmocka_unit_test(test_steps_of_16_bits),
        cmocka_unit_test(test_extremes),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
