/* SPDX-License-Identifier: MIT
 * Writes the samples of a PNG file as a PAM, with libpng: Pillow reduces colours of 16 bits to 8. Palettes
 * and samples of less than 8 bits are expanded.
 *
 *     samples FILE.png >FILE.pam */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <png.h>

static void fail_png(png_structp png, png_const_charp message) {
    (void)png;
    fprintf(stderr, "samples: %s\n", message);
    exit(1);
}

/* Warnings are about chunks that do not change samples. */
static void ignore(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static void write_samples(png_structp png, png_infop info) {
    uint32_t height = png_get_image_height(png, info);
    printf("P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\nENDHDR\n", png_get_image_width(png, info), height,
           png_get_channels(png, info), (1u << png_get_bit_depth(png, info)) - 1);
    png_bytepp rows = png_get_rows(png, info);
    for (uint32_t y = 0; y < height; y++) {
        fwrite(rows[y], 1, png_get_rowbytes(png, info), stdout);
    }
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: samples FILE.png\n");
        return 2;
    }
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail_png, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        fprintf(stderr, "samples: out of memory\n");
        return 1;
    }
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_EXPAND, NULL);
    write_samples(png, info);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
