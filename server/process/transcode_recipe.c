/* SPDX-License-Identifier: MIT */
#include "server/process/transcode_recipe.h"

#include <stddef.h>

#define SIZE .depth = 8, .width = 193, .height = 101 /* odd, so that blocks at the borders are cut */
#define WITHOUT_PADDING .depth = 8, .width = 192, .height = 101 /* rows of 576 bytes in RGB */
#define CHROMA .model = PIXEL_YCBCR, .chroma_shift_x = 1, .chroma_shift_y = 1
#define USUAL .quality = 85, .orientation = 1
#define REGIONS .region = {"21,13,77,40", "ellipse:90,30,60,50"}
#define BLUR(deviation) .filter = FILTER_BLUR, .arguments = {.blur.sigma = (deviation)}
#define PIXELATE .filter = FILTER_PIXELATE, .arguments = {.pixelate = {8}}

static const struct transcode_recipe recipes[] = {
    {.shape = {CHROMA, SIZE}, BLUR(1.5), USUAL, .optimal = true},
    {.shape = {.model = PIXEL_YCBCR, SIZE}, PIXELATE, .quality = 60, .orientation = 6},
    {.shape = {.model = PIXEL_GRAY, SIZE}, BLUR(0.5), .quality = 95, .orientation = 3, .optimal = true},
    {.shape = {CHROMA, WITHOUT_PADDING},
     BLUR(0.8),
     .quality = 85, /* of no file here, but each job has one */
     .orientation = 3,
     .colours = TRANSCODE_RGB_420,
     .pixels = true},
    {.shape = {.model = PIXEL_RGB, WITHOUT_PADDING},
     BLUR(0.7),
     USUAL,
     .optimal = true,
     .colours = TRANSCODE_RGB_420,
     .decoded = true},
    {.shape = {CHROMA, SIZE}, BLUR(4), USUAL, .optimal = true, .restarts = true, REGIONS},
    {.shape = {CHROMA, SIZE}, PIXELATE, USUAL, REGIONS, .feather = 6},
    {.shape = {CHROMA, SIZE}, PIXELATE, USUAL, .optimal = true, .restarts = true, REGIONS, .patch = true},
    {.shape = {CHROMA, SIZE},
     PIXELATE,
     USUAL,
     .optimal = true,
     .progressive = true,
     REGIONS,
     .ring = true,
     .patch = true},
    {.shape = {CHROMA, SIZE}, BLUR(1), USUAL, .progressive = true, .scans = true},
    {.shape = {CHROMA, SIZE},
     BLUR(0.4),
     .quality = 85,
     .orientation = 6,
     .optimal = true,
     .colours = TRANSCODE_RGB_420},
    {.shape = {.model = PIXEL_YCBCR, .chroma_shift_y = 1, SIZE},
     BLUR(0.6),
     USUAL,
     .colours = TRANSCODE_LINEAR_420},
};

const struct transcode_recipe *transcode_recipe(unsigned number) {
    return number < sizeof recipes / sizeof recipes[0] ? &recipes[number] : NULL;
}
