/* SPDX-License-Identifier: MIT */
#include "bench/gpu/jpeg_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "cpu/mask/mask_list.h"
#include "filters/argument/region.h"

static const struct codec_limits limits = {.max_pixels = 1 << 28,
                                           .max_side = 1 << 15,
                                           .max_scans = 100,
                                           .max_memory = 1 << 30,
                                           .deadline_ns = INT64_MAX};

static bool load(struct bench *bench, const char *path, struct jpeg_file *file) {
    struct error err = {0};
    struct picture picture;
    FILE *stream = fopen(path, "rb");
    uint8_t *data = aligned_alloc(4096, JPEG_FILES_ROOM);
    size_t size = stream && data ? fread(data, 1, JPEG_FILES_ROOM, stream) : 0;
    if (stream) {
        fclose(stream);
    }
    file->bytes = (struct bytes){data, size};
    if (size == 0 || size == JPEG_FILES_ROOM || codec_probe(file->bytes, &limits, &picture, &err) != ST_OK ||
        picture.codec != CODEC_JPEG) {
        free(data);
        return false;
    }
    file->shape = picture.native;
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostRegister, data, JPEG_FILES_ROOM, CU_MEMHOSTREGISTER_PORTABLE),
         &err);
    return true;
}

void jpeg_files_load(struct bench *bench, struct jpeg_files *files) {
    DIR *folder = bench->pictures ? opendir(bench->pictures) : NULL;
    char path[4096];
    for (struct dirent *entry; folder && (entry = readdir(folder)) && files->count < JPEG_FILES_MAX;) {
        snprintf(path, sizeof path, "%s/%s", bench->pictures, entry->d_name);
        files->count += load(bench, path, &files->file[files->count]);
    }
    if (folder) {
        closedir(folder);
    }
}

/* Memory of an image of that shape, which the caller frees. */
static struct image make_image(const struct image_shape *shape) {
    struct image image;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&image, shape));
    if (!memory) {
        give_up("no memory");
    }
    image_place(&image, memory);
    return image;
}

/* A copy of the file that is registered with the driver. */
static struct bytes place_file(struct bench *bench, struct bytes file) {
    struct error err = {0};
    uint8_t *data = aligned_alloc(4096, JPEG_FILES_ROOM);
    if (!data) {
        give_up("no memory");
    }
    memcpy(data, file.data, file.size);
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostRegister, data, JPEG_FILES_ROOM, CU_MEMHOSTREGISTER_PORTABLE),
         &err);
    return (struct bytes){data, file.size};
}

static struct image decode_file(const struct jpeg_file *from) {
    struct error err = {0};
    struct picture picture;
    struct image image = make_image(&from->shape);
    must(codec_probe(from->bytes, &limits, &picture, &err), &err);
    must(codec_decode(from->bytes, &picture, &limits, &image, &err), &err);
    return image;
}

/* A file of the picture, in registered memory. */
static struct jpeg_file encode_file(struct bench *bench, const struct image *image,
                                    const struct image_shape *shape, bool progressive) {
    const struct encode_options options = {.quality = JPEG_FILES_QUALITY, .progressive = progressive};
    struct error err = {0};
    struct buf output;
    buf_init(&output, JPEG_FILES_ROOM);
    must(codec_encode(CODEC_JPEG, image, &options, NULL, &output, &err), &err);
    const struct jpeg_file file = {place_file(bench, buf_bytes(&output)), *shape};
    buf_finish(&output);
    return file;
}

void jpeg_files_shrink(struct bench *bench, const struct jpeg_file *from, int width, struct jpeg_file *file) {
    struct error err = {0};
    struct chain chain = {0};
    const struct resize_arguments arguments = {.width = width};
    must(chain_append(&chain, filter_get(FILTER_RESIZE), &arguments, &from->shape, &err), &err);
    const struct image_shape shape = chain_result(&chain, &from->shape);
    struct image source = decode_file(from), target = make_image(&shape);
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &target};
    must(lane_run(bench->cpu_lane, &run, NULL, &err), &err);
    *file = encode_file(bench, &target, &shape, false);
    free(source.plane[0].data);
    free(target.plane[0].data);
}

void jpeg_files_make_progressive(struct bench *bench, const struct jpeg_file *from, struct jpeg_file *file) {
    struct image image = decode_file(from);
    *file = encode_file(bench, &image, &from->shape, true);
    free(image.plane[0].data);
}

void jpeg_files_unload(struct bench *bench, struct jpeg_files *files) {
    for (unsigned i = 0; i < files->count; i++) {
        bench->cuda.cuMemHostUnregister((void *)(uintptr_t)files->file[i].bytes.data);
        free((void *)(uintptr_t)files->file[i].bytes.data);
    }
}

/* Returns the memory of the list. */
static void *plan_mask(struct bench *bench, const struct image_shape *shape, bool redact,
                       struct transcode_mask *mask) {
    static const char *const regions[] = {"ellipse:10%,10%,8%,15%", "ellipse:40%,20%,8%,15%",
                                          "ellipse:60%,15%,8%,15%", "ellipse:30%,60%,8%,15%"};
    const struct mask_options options = {.outward = redact};
    struct mask_list list = {.room = MASK_PLAN_RECTS_MAX};
    struct mask_report report;
    struct region_set set = {0};
    struct error err = {0};
    void *memory;
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostAlloc, &memory, list.room * sizeof *list.rect,
                  CU_MEMHOSTALLOC_PORTABLE),
         &err);
    list.rect = memory;
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        must(region_parse(&set, regions[i], &err), &err);
    }
    must(mask_list(&list, &set, shape, &options, redact, &report, &err), &err);
    *mask = (struct transcode_mask){.plan = {.masks = 1,
                                             .redaction = redact ? MASK_PLAN_REGIONS : MASK_PLAN_KEEP,
                                             .rects = list.count,
                                             .regions = redact ? set.count : 0},
                                    .rects = memory};
    return memory;
}

void jpeg_colours_plan(struct jpeg_colours ways[JPEG_COLOURS], const struct image_shape *shape) {
    const struct blur_arguments arguments = {.sigma = 5};
    struct error err = {0};
    ways[0] = (struct jpeg_colours){.name = "sigma 5, in RGB", .colours = TRANSCODE_RGB_420};
    ways[1] = (struct jpeg_colours){.name = "sigma 5, in linear light", .colours = TRANSCODE_LINEAR_420};
    for (unsigned i = 0; i < JPEG_COLOURS; i++) {
        const struct image_shape read = transcode_read(shape, ways[i].colours);
        must(chain_append(&ways[i].chain, filter_get(FILTER_BLUR), &arguments, &read, &err), &err);
    }
}

void jpeg_regions_open(struct jpeg_regions *regions, struct bench *bench, const struct image_shape *shape) {
    const struct pixelate_arguments arguments = {.block = 16};
    struct error err = {0};
    *regions = (struct jpeg_regions){0};
    must(chain_append(&regions->chain, filter_get(FILTER_PIXELATE), &arguments, shape, &err), &err);
    regions->memory[0] = plan_mask(bench, shape, false, &regions->inside);
    regions->memory[1] = plan_mask(bench, shape, true, &regions->redacted);
}

void jpeg_regions_close(struct jpeg_regions *regions, struct bench *bench) {
    bench->cuda.cuMemFreeHost(regions->memory[0]);
    bench->cuda.cuMemFreeHost(regions->memory[1]);
}
