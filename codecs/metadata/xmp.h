/* SPDX-License-Identifier: MIT
 * Sanitises XMP. A packet is XML in which programs store descriptions, thumbnails, whole pictures and
 * private data. The input is not trusted: nothing recurses, and all state is bounded. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_XMP_H
#define BLURD_CODECS_METADATA_XMP_H

#include "core/bytes.h"

/* With its final zero, this name precedes a packet in a JPEG segment. */
#define XMP_JPEG_NAME "http://ns.adobe.com/xap/1.0/"

enum {
    XMP_INPUT_MAX = 256 << 10, /* bytes of a packet that is read */
    XMP_SIZE_MAX =
        65533 - (int)sizeof(XMP_JPEG_NAME), /* bytes of a written packet, which fits in a segment */
};

/* Appends a fresh packet to *output with the properties whose elements and attributes are all in
 * namespaces of xmp_names.c, and whose texts are plain (codecs/metadata/plain_text.h). Namespaces are
 * compared by URI and written with the usual prefix. Properties about file storage (size, resolution,
 * format), and tiff:Orientation if `upright`, are dropped silently; all other dropped properties set bits
 * of codecs/metadata/losses.h in *losses. Appends nothing when no property remains, when the packet is
 * over XMP_INPUT_MAX, not well-formed UTF-8 or has a document type, or when the result is over
 * XMP_SIZE_MAX. ST_BUSY without memory. */
enum status xmp_sanitize(struct bytes packet, bool upright, struct buf *output, unsigned *losses,
                         struct error *err);

#endif
