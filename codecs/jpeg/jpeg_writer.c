/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_writer.h"

#include <string.h>

#include "core/deadline.h"

enum { OUTPUT_STEP = 1 << 16 }; /* bytes reserved at once */

/* Lends libjpeg the free end of the output, after reserving a step when it is full. */
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
    enum status status = deadline_check(writer->options->deadline_ns, writer->guard->err);
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
                                      const struct image_shape *shape) {
    return jpeg_segments_make(metadata, shape, writer->options, &writer->segments, writer->guard->err);
}

void jpeg_writer_finish(struct jpeg_writer *writer) {
    jpeg_segments_finish(&writer->segments);
}

void jpeg_writer_open(struct jpeg_writer *writer) {
    struct jpeg_compress_struct *cinfo = &writer->cinfo;
    jpeg_create_compress(cinfo);
    cinfo->client_data = writer;
    writer->row = NULL; /* freed with the last picture */
    writer->destination = (struct jpeg_destination_mgr){
        .init_destination = lend_room, .empty_output_buffer = on_room_used, .term_destination = on_end};
    cinfo->dest = &writer->destination;
    writer->progress.progress_monitor = on_progress;
    cinfo->progress = &writer->progress;
}

void jpeg_writer_set_density(struct jpeg_writer *writer) {
    const struct jfif *jfif = &writer->segments.jfif;
    writer->cinfo.density_unit = jfif->unit;
    writer->cinfo.X_density = jfif->x;
    writer->cinfo.Y_density = jfif->y;
}

/* libjpeg buffers nothing before the tables, so the segments go straight to its output. */
void jpeg_writer_put_metadata(struct jpeg_writer *writer) {
    struct buf *output = writer->output;
    output->size = output->capacity - writer->destination.free_in_buffer;
    enum status status =
        buf_append(output, writer->segments.bytes.data, writer->segments.bytes.size, writer->guard->err);
    if (status != ST_OK) {
        jpeg_guard_leave((j_common_ptr)&writer->cinfo, status);
    }
    lend_room(&writer->cinfo);
}
