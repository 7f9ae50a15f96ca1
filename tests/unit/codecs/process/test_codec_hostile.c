/* SPDX-License-Identifier: MIT
 * A picture has taken over the process: its answers are what no codec sends. None is believed, and the
 * process is gone when the call returns. */
#include "tests/unit/codecs/process/codec_link_fixture.h"

#include <stddef.h>
#include <sys/socket.h>

#include "codecs/process/codec_wire.h"

enum { WIDTH = 150, HEIGHT = 90 };

/* Which field of a good answer is replaced, and by what. */
struct lie {
    const char *text;
    size_t offset, size;
    uint64_t value;
};
#define LIE(what, field, number)                                                                             \
    { what, offsetof(struct codec_answer, field), sizeof(((struct codec_answer *)0)->field), number }

static const struct lie lies[] = {
    LIE("another kind", head.kind, CODEC_READY),
    LIE("another size", head.size, 16),
    LIE("another magic number", head.magic, 1),
    LIE("a status that does not exist", error.status, 99),
    LIE("a negative status", error.status, UINT64_MAX),
    LIE("a status of devices", error.status, ST_DEVICE),
    LIE("a status of clients", error.status, ST_CANCELLED),
    LIE("an error without text", error.status, ST_CORRUPT),
    LIE("half an end", last, 2),
    LIE("bytes that it never sends", size, 1 << 30),
    LIE("more bytes than there are", size, UINT64_MAX),
    LIE("a pixel model", native.model, 77),
    LIE("another pixel model", pixels.model, 5),
    LIE("pixels in planes", pixels.model, PIXEL_YCBCR),
    LIE("a depth", native.depth, 9),
    LIE("no depth", pixels.depth, 0),
    LIE("no width", pixels.width, 0),
    LIE("no height", native.height, 0),
    LIE("a width beyond the limit", pixels.width, 40000),
    LIE("a giant", pixels.height, UINT32_MAX),
    LIE("planes of another size", native.width, WIDTH + 1),
    LIE("pixels of another size", pixels.height, HEIGHT - 1),
    LIE("reduced colour without planes", native.chroma_shift_x, 1),
    LIE("much reduced colour", native.chroma_shift_y, 200),
    LIE("half progressive", progressive, 2),
    LIE("half exact", exact, 2),
    LIE("no orientation", metadata.orientation, 0),
    LIE("a ninth orientation", metadata.orientation, 9),
    LIE("half upright", metadata.upright, 2),
    LIE("half deflated", metadata.xmp_deflated, 2),
    LIE("half a gain map", metadata.gain_map, 2),
    LIE("many chunks", metadata.chunk_count, METADATA_CHUNKS_MAX + 1),
    LIE("a unit", metadata.density.unit, 4),
    LIE("a density of nothing", metadata.density.x, 0),
    LIE("a density without scale", metadata.density.scale, 0),
    LIE("EXIF behind the file", metadata.exif.at, sizeof(struct fake_file)),
    LIE("EXIF before the file", metadata.exif.at, UINT64_MAX - 3),
    LIE("too much EXIF", metadata.exif.size, UINT64_MAX),
    LIE("EXIF in memory that was not sent", metadata.exif.stored, 1),
    LIE("EXIF nowhere", metadata.exif.stored, 2),
    LIE("too much XMP", metadata.xmp.size, 1 << 20),
    LIE("Photoshop elsewhere", metadata.photoshop.at, 1 << 20),
    LIE("a kind of chunk", metadata.chunk[0].kind, CHUNK_TIME + 1),
    LIE("a chunk elsewhere", metadata.chunk[0].data.at, UINT64_MAX),
};
enum {
    LIES = sizeof lies / sizeof lies[0],
    ATTACK_TEXT = LIES, /* an error with bytes that no terminal should get */
    ATTACK_SHORT,       /* fewer bytes than announced */
    ATTACK_PIECE,       /* other messages than announced */
    ATTACK_EMPTY,
    ATTACK_NOISE,
    ATTACK_SHUTDOWN,
    ATTACK_DESCRIPTORS,
    ATTACK_SIZE, /* decode: unrequested bytes; encode: more bytes than the daemon allows */
    ATTACKS_END
};

static struct codec_answer good_answer(void) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT};
    return (struct codec_answer){
        .head = {CHANNEL_MAGIC, CODEC_ANSWER, sizeof(struct codec_answer)},
        .native = shape,
        .pixels = shape,
        .metadata = {.orientation = 1,
                     .chunk_count = 1,
                     .density = {1, 1, 1, DENSITY_INCH},
                     .exif = {.size = 8}},
    };
}

/* The sandbox has no send(). */
static void write_all(const void *message, size_t size) {
    struct iovec part = {(void *)(uintptr_t)message, size};
    (void)!sendmsg(FAKE_SOCKET, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, MSG_NOSIGNAL);
}

static void attack_with_pieces(uint32_t detail, struct codec_answer *answer) {
    static struct codec_piece piece;
    answer->size = detail == ATTACK_SIZE ? OUTPUT_MAX + 1 : 1000;
    write_all(answer, sizeof *answer);
    piece.head = (struct channel_head){CHANNEL_MAGIC, detail == ATTACK_PIECE ? CODEC_ANSWER : CODEC_PIECE,
                                       sizeof piece.head + 1000};
    write_all(&piece, sizeof piece.head + (detail == ATTACK_SHORT ? 999 : 1000));
}

/* In the process. It stays until it is killed. */
static void attack(uint32_t detail) {
    struct codec_answer answer = good_answer();
    struct error ignored;
    if (detail < LIES) {
        memcpy((char *)&answer + lies[detail].offset, &lies[detail].value, lies[detail].size);
        write_all(&answer, sizeof answer);
    } else if (detail == ATTACK_TEXT) {
        answer.error.status = ST_UNSUPPORTED;
        memset(answer.error.text, '\n', sizeof answer.error.text);
        memset(answer.error.parameter, 0x1b, sizeof answer.error.parameter);
        write_all(&answer, sizeof answer);
    } else if (detail == ATTACK_SHORT || detail == ATTACK_PIECE || detail == ATTACK_SIZE) {
        attack_with_pieces(detail, &answer);
    } else if (detail == ATTACK_EMPTY) {
        write_all(&answer, 0);
    } else if (detail == ATTACK_NOISE) {
        for (unsigned i = 0; i < 1000; i++) {
            answer.head.magic = i;
            write_all(&answer, i);
        }
    } else if (detail == ATTACK_SHUTDOWN) {
        shutdown(FAKE_SOCKET, SHUT_RDWR);
    } else if (detail == ATTACK_DESCRIPTORS) {
        channel_send(FAKE_SOCKET, &answer, sizeof answer, CODEC_ANSWER, STDERR_FILENO, &ignored);
    }
    for (;;) {
        pause();
    }
}

static void assert_refused(struct lab *lab, enum status got, enum status wanted, uint32_t detail) {
    if (got != wanted || count_processes() != 0) {
        fail_msg("attack %u, %s: status %d, %u processes", detail,
                 detail < LIES ? lies[detail].text : "others", got, count_processes());
    }
    assert_non_null(strstr(lab->err.text, wanted == ST_CORRUPT ? "the library that reads Fake failed"
                                                               : "the library that writes Fake failed"));
}

static void test_probes(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (uint32_t i = 0; i < ATTACKS_END; i++) {
        if (i != ATTACK_TEXT && i != ATTACK_DESCRIPTORS) { /* these are answers */
            load(&lab, FAKE_IS_HOSTILE, i);
            assert_refused(&lab, probe(&lab), ST_CORRUPT, i);
        }
    }
    assert_works(&lab);
    close_lab(&lab);
}

/* After a good probe in the same process, and again in another one. */
static void test_decoders(void **state) {
    static const uint32_t attacks[] = {
        0, 1, 2, 3, 5, 7, 8, 9, ATTACK_SHORT, ATTACK_EMPTY, ATTACK_NOISE, ATTACK_SHUTDOWN};
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        assert_works(&lab);
        load(&lab, FAKE_IS_HOSTILE_LATE, attacks[i]);
        assert_refused(&lab, decode(&lab), ST_CORRUPT, attacks[i]);
    }
    assert_works(&lab);
    close_lab(&lab);
}

static void test_encoders(void **state) {
    static const uint32_t attacks[] = {0, 3, 8, 9, 10, ATTACK_SHORT, ATTACK_PIECE, ATTACK_SIZE, ATTACK_NOISE};
    struct lab lab;
    (void)state;
    open_lab(&lab);
    for (unsigned i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        struct buf output;
        struct encode_options options = {.quality = FAKE_IS_HOSTILE_LATE, .effort = (uint8_t)attacks[i]};
        assert_works(&lab);
        buf_init(&output, OUTPUT_MAX);
        assert_int_equal(buf_append(&output, "abc", 3, &lab.err), ST_OK);
        options.deadline_ns = clock_ns() + 400 * INT64_C(1000000); /* bytes that never come */
        enum status status =
            codec_link_encode(lab.link, CODEC_WEBP, &lab.image, &options, 0, NULL, &output, &lab.err);
        if (attacks[i] == 9) {
            assert_true(status == ST_LIMIT || status == ST_INTERNAL);
        } else {
            assert_refused(&lab, status, ST_INTERNAL, attacks[i]);
        }
        assert_int_equal(output.size, 3);
        buf_finish(&output);
    }
    close_lab(&lab);
}

static void test_texts(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_IS_HOSTILE, ATTACK_TEXT);
    assert_int_equal(probe(&lab), ST_UNSUPPORTED);
    assert_int_equal(strlen(lab.err.text), sizeof lab.err.text - 1);
    assert_int_equal(strspn(lab.err.text, "?"), sizeof lab.err.text - 1);
    assert_string_equal(lab.err.parameter, "");
    close_lab(&lab);
}

/* The daemon drops what it cannot use. */
static void test_descriptors(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    unsigned before = count_descriptors();
    load(&lab, FAKE_IS_HOSTILE, ATTACK_DESCRIPTORS);
    probe(&lab);
    codec_link_destroy(lab.link);
    lab.link = NULL;
    assert_int_equal(count_descriptors(), before);
    close_lab(&lab);
}

static int start_attacks(void **state) {
    fake_attack = attack;
    return start(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes), cmocka_unit_test(test_decoders),    cmocka_unit_test(test_encoders),
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_descriptors),
    };
    return cmocka_run_group_tests(tests, start_attacks, stop);
}
