/* SPDX-License-Identifier: MIT
 * The table has namespaces that describe the photograph. It omits previews and second pictures (xapGImg,
 * GImage, GDepth, Container), parameters of gain maps and videos that are not carried, positions of faces,
 * and editor settings. */
#include "codecs/metadata/xmp_names.h"

#include <string.h>

#include "codecs/metadata/plain_text.h"

static const struct {
    const char *prefix, *uri;
} spaces[] = {
    {"xml", "http://www.w3.org/XML/1998/namespace"},
    {"rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
    {"x", "adobe:ns:meta/"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"dcterms", "http://purl.org/dc/terms/"},
    {"xmp", "http://ns.adobe.com/xap/1.0/"},
    {"xmpRights", "http://ns.adobe.com/xap/1.0/rights/"},
    {"xmpMM", "http://ns.adobe.com/xap/1.0/mm/"},
    {"stRef", "http://ns.adobe.com/xap/1.0/sType/ResourceRef#"},
    {"stEvt", "http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"},
    {"photoshop", "http://ns.adobe.com/photoshop/1.0/"},
    {"tiff", "http://ns.adobe.com/tiff/1.0/"},
    {"exif", "http://ns.adobe.com/exif/1.0/"},
    {"exifEX", "http://cipa.jp/exif/1.0/"},
    {"aux", "http://ns.adobe.com/exif/1.0/aux/"},
    {"Iptc4xmpCore", "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"},
    {"Iptc4xmpExt", "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"},
    {"plus", "http://ns.useplus.org/ldf/xmp/1.0/"},
    {"lr", "http://ns.adobe.com/lightroom/1.0/"},
    {"pdf", "http://ns.adobe.com/pdf/1.3/"},
    {"cc", "http://creativecommons.org/ns#"},
    {"GPano", "http://ns.google.com/photos/1.0/panorama/"},
};

enum { COUNT = sizeof(spaces) / sizeof(*spaces) };
_Static_assert(COUNT < 32, "a bit of 32 stands for each namespace");

static const struct {
    const char *prefix, *local;
    enum xmp_verdict verdict;
} names[] = {
    {"xmp", "Thumbnails", XMP_PICTURE},
    {"tiff", "Orientation", XMP_ORIENTATION},
    {"tiff", "ImageWidth", XMP_STALE},
    {"tiff", "ImageLength", XMP_STALE},
    {"tiff", "XResolution", XMP_STALE},
    {"tiff", "YResolution", XMP_STALE},
    {"tiff", "ResolutionUnit", XMP_STALE},
    {"tiff", "BitsPerSample", XMP_STALE},
    {"tiff", "Compression", XMP_STALE},
    {"tiff", "PhotometricInterpretation", XMP_STALE},
    {"tiff", "SamplesPerPixel", XMP_STALE},
    {"tiff", "PlanarConfiguration", XMP_STALE},
    {"tiff", "YCbCrSubSampling", XMP_STALE},
    {"tiff", "YCbCrPositioning", XMP_STALE},
    {"tiff", "NativeDigest", XMP_STALE},
    {"exif", "PixelXDimension", XMP_STALE},
    {"exif", "PixelYDimension", XMP_STALE},
    {"exif", "ColorSpace", XMP_STALE},
    {"exif", "ComponentsConfiguration", XMP_STALE},
    {"exif", "CompressedBitsPerPixel", XMP_STALE},
    {"exif", "NativeDigest", XMP_STALE},
    {"photoshop", "ColorMode", XMP_STALE},
    {"photoshop", "ICCProfile", XMP_STALE},
    {"dc", "format", XMP_STALE},
};

int xmp_names_space(struct bytes uri) {
    for (int i = 0; i < COUNT; i++) {
        if (plain_text_is(uri, spaces[i].uri)) {
            return i;
        }
    }
    return XMP_FOREIGN;
}

const char *xmp_names_prefix(int space) {
    return spaces[space].prefix;
}

const char *xmp_names_uri(int space) {
    return spaces[space].uri;
}

int xmp_names_space_count(void) {
    return COUNT;
}

enum xmp_verdict xmp_names_judge(int space, struct bytes local) {
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (space >= 0 && strcmp(spaces[space].prefix, names[i].prefix) == 0 &&
            plain_text_is(local, names[i].local)) {
            return names[i].verdict;
        }
    }
    return XMP_KEEP;
}

void xmp_names_split(struct bytes text, struct bytes *prefix, struct bytes *local) {
    const uint8_t *colon = memchr(text.data, ':', text.size);
    size_t size = colon ? (size_t)(colon - text.data) : 0;
    *prefix = (struct bytes){text.data, size};
    *local = colon ? (struct bytes){colon + 1, text.size - size - 1} : text;
}

bool xmp_names_is_local(struct bytes text) {
    bool valid = text.size > 0 && text.size <= XMP_LOCAL_MAX;
    for (size_t i = 0; i < text.size && valid; i++) {
        uint8_t c = text.data[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
        valid = letter || (i > 0 && ((c >= '0' && c <= '9') || c == '-' || c == '.'));
    }
    return valid;
}
