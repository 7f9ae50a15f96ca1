/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg_writer.h"

#include <string.h>

#include "codecs/exif.h"
#include "codecs/icc.h"
#include "codecs/jpeg_markers.h"
#include "codecs/limits.h"

enum {
    OUTPUT_STEP = 1 << 16,       /* room asked for at once */
    SEGMENT_MAX = 65533,         /* a segment's length field counts itself */
    ICC_PART = SEGMENT_MAX - 14, /* after "ICC_PROFILE\0", number and count */
};

/* Lends libjpeg the free end of the output, up to a step beyond what it has. */
static void lend_room(j_compress_ptr cinfo) {
    struct jpeg_writer *writer = cinfo->client_data;
    struct buf *output = writer->output;
    if (output->size == output->capacity) {
        size_t left = output->maximum - output->size;
        size_t step = left == 0 ? 1 : left < OUTPUT_STEP ? left : OUTPUT_STEP;
        enum status status = buf_reserve(output, step, writer->guard->err);
        if (status != ST_OK) {
            jpeg_guard_leave((j_common_ptr)cinfo, status);
        }
    }
    writer->destination.next_output_byte = output->data + output->size;
    writer->destination.free_in_buffer = output->capacity - output->size;
}

static boolean on_room_used(j_compress_ptr cinfo) {
    struct jpeg_writer *writer = cinfo->client_data;
    writer->output->size = writer->output->capacity;
    lend_room(cinfo);
    return TRUE;
}

static void on_end(j_compress_ptr cinfo) {
    struct jpeg_writer *writer = cinfo->client_data;
    writer->output->size = writer->output->capacity - writer->destination.free_in_buffer;
}

/* libjpeg calls this for each row of MCUs, in every pass. */
static void on_progress(j_common_ptr cinfo) {
    struct jpeg_writer *writer = cinfo->client_data;
    enum status status = limits_check_deadline(writer->options->deadline_ns, writer->guard->err);
    if (status != ST_OK) {
        jpeg_guard_leave(cinfo, status);
    }
}

void jpeg_writer_init(struct jpeg_writer *writer, struct jpeg_guard *guard,
                      const struct encode_options *options, struct buf *output) {
    memset(writer, 0, sizeof(*writer));
    writer->guard = guard;
    writer->options = options;
    writer->output = output;
    writer->cinfo.err = &guard->manager;
}

enum status jpeg_writer_take_metadata(struct jpeg_writer *writer, const struct metadata *metadata,
                                      enum pixel_model model) {
    const struct encode_options *options = writer->options;
    struct error *err = writer->guard->err;
    writer->metadata = metadata;
    if (!metadata) {
        return ST_OK;
    }
    enum status status = icc_read(metadata, model, &writer->profile, err);
    if (status == ST_OK && options->keep_metadata) {
        buf_init(&writer->exif, EXIF_SIZE_MAX);
        status = exif_sanitize(metadata->exif, options->upright, &writer->exif, err);
    }
    return status;
}

void jpeg_writer_finish(struct jpeg_writer *writer) {
    buf_finish(&writer->profile);
    buf_finish(&writer->exif);
}

void jpeg_writer_open(struct jpeg_writer *writer) {
    struct jpeg_compress_struct *cinfo = &writer->cinfo;
    jpeg_create_compress(cinfo);
    cinfo->client_data = writer;
    writer->row = NULL; /* it went with the last picture */
    writer->destination = (struct jpeg_destination_mgr){
        .init_destination = lend_room, .empty_output_buffer = on_room_used, .term_destination = on_end};
    cinfo->dest = &writer->destination;
    writer->progress.progress_monitor = on_progress;
    cinfo->progress = &writer->progress;
}

enum { PARTS_MAX = 3 };

/* Guarded. Writes a segment that is put together from parts. */
static void write_segment(j_compress_ptr cinfo, int marker, const struct bytes parts[static PARTS_MAX]) {
    size_t size = parts[0].size + parts[1].size + parts[2].size;
    jpeg_write_m_header(cinfo, marker, (unsigned)size);
    for (int part = 0; part < PARTS_MAX; part++) {
        for (size_t i = 0; i < parts[part].size; i++) {
            jpeg_write_m_byte(cinfo, parts[part].data[i]);
        }
    }
}

/* Guarded. */
static void write_profile(j_compress_ptr cinfo, const struct buf *profile) {
    size_t count = (profile->size + ICC_PART - 1) / ICC_PART;
    for (size_t i = 0; i < count; i++) {
        uint8_t prefix[14] = "ICC_PROFILE";
        prefix[12] = (uint8_t)(i + 1);
        prefix[13] = (uint8_t)count;
        size_t start = i * ICC_PART;
        size_t size = profile->size - start < ICC_PART ? profile->size - start : ICC_PART;
        struct bytes parts[PARTS_MAX] = {{prefix, sizeof(prefix)}, {profile->data + start, size}};
        write_segment(cinfo, SEGMENT_APP2, parts);
    }
}

/* Guarded. Comments and XMP. XMP can hold the orientation too, which must not ask for
 * another turn of pixels that are upright. */
static void write_carried(j_compress_ptr cinfo, const struct metadata_chunk *chunk, bool upright) {
    struct bytes whole = chunk->data;
    struct bytes parts[PARTS_MAX] = {whole};
    size_t digit = upright && chunk->tag == SEGMENT_APP1 ? jpeg_xmp_orientation(whole) : 0;
    if (digit > 0) {
        parts[0].size = digit;
        parts[1] = (struct bytes){(const uint8_t *)"1", 1};
        parts[2] = (struct bytes){whole.data + digit + 1, whole.size - digit - 1};
    }
    write_segment(cinfo, (int)chunk->tag, parts);
}

void jpeg_writer_put_metadata(struct jpeg_writer *writer) {
    const struct encode_options *options = writer->options;
    const struct metadata *metadata = writer->metadata;
    j_compress_ptr cinfo = &writer->cinfo;
    static const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0};
    if (writer->exif.size > 0) {
        struct bytes parts[PARTS_MAX] = {{exif, sizeof(exif)}, buf_bytes(&writer->exif)};
        write_segment(cinfo, SEGMENT_APP1, parts);
    }
    write_profile(cinfo, &writer->profile);
    bool keep = options->keep_metadata && metadata && metadata->source == CODEC_JPEG;
    for (unsigned i = 0; keep && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->tag != SEGMENT_APP2 && chunk->data.size <= SEGMENT_MAX) {
            write_carried(cinfo, chunk, options->upright);
        }
    }
}
