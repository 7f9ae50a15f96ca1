/* SPDX-License-Identifier: MIT */
#include "server/batch/input/picture_names.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "codecs/codec.h"

enum { SIGNATURE = 32 };

bool picture_names_fit(int fd, const char *name) {
    static const char *const endings[] = {"jpg",  "jpeg", "jpe",  "jfif", "png", "apng",
                                          "webp", "avif", "heic", "heif", "hif", "gif",
                                          "tif",  "tiff", "jxl",  "jp2",  "bmp"};
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    uint8_t begin[SIGNATURE];
    for (size_t i = 0; dot && strncmp(base, "._", 2) != 0 && i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot + 1, endings[i]) == 0) {
            return true;
        }
    }
    const ssize_t got = pread(fd, begin, sizeof begin, 0);
    return got > 0 && codec_has_signature((struct bytes){begin, (size_t)got});
}
