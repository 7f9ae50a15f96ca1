/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/losses.h"

#include <stdio.h>

static const struct {
    enum loss bit;
    const char *name;
} names[] = {
    {LOSS_EXIF, "exif"},
    {LOSS_MAKER_NOTE, "maker-note"},
    {LOSS_THUMBNAIL, "thumbnail"},
    {LOSS_XMP, "xmp"},
    {LOSS_IPTC, "iptc"},
    {LOSS_COLOUR, "colour"},
    {LOSS_RESOLUTION, "resolution"},
    {LOSS_TEXT, "text"},
    {LOSS_PICTURES, "pictures"},
    {LOSS_C2PA, "c2pa"},
    {LOSS_OTHER, "other"},
};

void losses_name(unsigned losses, char text[static LOSSES_TEXT_MAX]) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (losses & (unsigned)names[i].bit) {
            int length =
                snprintf(text + used, LOSSES_TEXT_MAX - used, "%s%s", used ? ", " : "", names[i].name);
            used += (size_t)length;
        }
    }
}
