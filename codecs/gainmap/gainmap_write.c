/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_write.h"

#include <string.h>

#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_pictures.h"
#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/xmp.h"

#define PACKET_BEGIN                                                                                         \
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "                                                        \
    "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
#define PACKET_END "</rdf:RDF></x:xmpmeta>"
#define MAP_SPACE " xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\" hdrgm:Version=\"1.0\""

enum {
    SOI_SIZE = 2,
    HEAD = 4, /* marker and length */
    ENTRIES_AT = 50,
    ENTRY_SIZE = 16,
    INDEX_SIZE = ENTRIES_AT + 2 * ENTRY_SIZE,
    INDEX_SEGMENT = HEAD + (int)sizeof GAINMAP_INDEX_NAME + INDEX_SIZE,
    ISO_SEGMENT = HEAD + (int)sizeof GAINMAP_ISO_NAME + GAINMAP_ISO_VERSIONS,
};

static enum status put_segment(struct buf *output, uint8_t marker, const char *name, size_t name_size,
                               struct bytes data, struct error *err) {
    size_t length = 2 + name_size + data.size;
    const uint8_t head[HEAD] = {0xFF, marker, (uint8_t)(length >> 8), (uint8_t)length};
    enum status status = buf_append(output, head, sizeof head, err);
    status = status == ST_OK ? buf_append(output, name, name_size, err) : status;
    return status == ST_OK ? buf_append(output, data.data, data.size, err) : status;
}

static enum status put_iso(struct buf *output, const uint8_t *bytes, size_t size, struct error *err) {
    return put_segment(output, SEGMENT_APP2, GAINMAP_ISO_NAME, sizeof GAINMAP_ISO_NAME,
                       (struct bytes){bytes, size}, err);
}

static enum status put_packet(struct buf *output, const struct buf *packet, struct error *err) {
    return put_segment(output, SEGMENT_APP1, XMP_JPEG_NAME, sizeof XMP_JPEG_NAME, buf_bytes(packet), err);
}

/* ---- the map ---- */

static enum status append_number(struct buf *packet, const char *name, int32_t number, struct error *err) {
    uint32_t size = number < 0 ? (uint32_t)-number : (uint32_t)number;
    return buf_printf(packet, err, " hdrgm:%s=\"%s%u.%06u\"", name, number < 0 ? "-" : "", size / GAINMAP_ONE,
                      size % GAINMAP_ONE);
}

static enum status make_map_packet(const struct gainmap_numbers *numbers, struct buf *packet,
                                   struct error *err) {
    const struct gainmap_channel *channel = &numbers->channel[0];
    const struct {
        const char *name;
        int32_t number;
    } rows[] = {{"GainMapMin", channel->min},
                {"GainMapMax", channel->max},
                {"Gamma", channel->gamma},
                {"OffsetSDR", channel->base_offset},
                {"OffsetHDR", channel->offset},
                {"HDRCapacityMin", numbers->base_headroom},
                {"HDRCapacityMax", numbers->headroom}};
    enum status status = buf_printf(packet, err, PACKET_BEGIN "<rdf:Description rdf:about=\"\"" MAP_SPACE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == ST_OK; i++) {
        status = append_number(packet, rows[i].name, rows[i].number, err);
    }
    return status == ST_OK ? buf_printf(packet, err, " hdrgm:BaseRenditionIsHDR=\"False\"/>" PACKET_END)
                           : status;
}

/* The map's JPEG, with its numbers behind SOI. Where colours are not the base's, XMP could not say so. */
static enum status make_map(struct bytes map, const struct gainmap_numbers *numbers, struct buf *file,
                            struct error *err) {
    uint8_t bytes[GAINMAP_ISO_MAX];
    struct buf packet;
    buf_init(&packet, XMP_SIZE_MAX);
    enum status status = buf_append(file, map.data, SOI_SIZE, err);
    if (status == ST_OK && gainmap_numbers_are_grey(numbers) && !numbers->other_colours) {
        status = make_map_packet(numbers, &packet, err);
        status = status == ST_OK ? put_packet(file, &packet, err) : status;
    }
    status = status == ST_OK ? put_iso(file, bytes, gainmap_iso_write(numbers, bytes), err) : status;
    buf_finish(&packet);
    return status == ST_OK ? buf_append(file, map.data + SOI_SIZE, map.size - SOI_SIZE, err) : status;
}

/* ---- the base ---- */

/* The place of the segments that are added, behind JFIF and EXIF, which readers want first, and of the
 * packet.
 */
struct base_head {
    size_t end;
    size_t packet_at, packet_end; /* the whole segment; 0: none */
    struct bytes packet;
};

static struct base_head read_head(struct bytes base) {
    struct base_head head = {.end = SOI_SIZE};
    struct jpeg_segment segment;
    size_t position = SOI_SIZE, before = position;
    while (head.packet_end == 0 && jpeg_next_segment(base, &position, &segment)) {
        bool exif = segment.marker == SEGMENT_APP1 && segment.data.size >= 5 &&
                    memcmp(segment.data.data, "Exif", 5) == 0;
        if (segment.marker == SEGMENT_APP1 && segment.data.size > sizeof XMP_JPEG_NAME &&
            plain_text_starts(segment.data, XMP_JPEG_NAME)) {
            head.packet_at = before, head.packet_end = position;
            head.packet = (struct bytes){segment.data.data + sizeof XMP_JPEG_NAME,
                                         segment.data.size - sizeof XMP_JPEG_NAME};
        } else if (head.end == before && (segment.marker == SEGMENT_APP0 || exif)) {
            head.end = position;
        }
        before = position;
    }
    return head;
}

/* The announcement, in the packet of the base where that has one. */
static enum status make_base_packet(struct bytes old, size_t map_size, struct buf *packet,
                                    struct error *err) {
    const uint8_t *end = old.size > 0 ? memmem(old.data, old.size, "</rdf:RDF>", strlen("</rdf:RDF>")) : NULL;
    size_t front = end ? (size_t)(end - old.data) : 0;
    if (old.size > 0 && !end) {
        return fail(err, ST_UNSUPPORTED, "the picture's XMP has no place for the gain map");
    }
    enum status status =
        end ? buf_append(packet, old.data, front, err) : buf_printf(packet, err, PACKET_BEGIN);
    if (status == ST_OK) {
        status = buf_printf(packet, err,
                            "<rdf:Description rdf:about=\"\"" MAP_SPACE
                            " xmlns:Container=\"http://ns.google.com/photos/1.0/container/\""
                            " xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\">"
                            "<Container:Directory><rdf:Seq>"
                            "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"Primary\" "
                            "Item:Mime=\"image/jpeg\"/></rdf:li>"
                            "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"GainMap\" "
                            "Item:Mime=\"image/jpeg\" Item:Length=\"%zu\"/></rdf:li>"
                            "</rdf:Seq></Container:Directory></rdf:Description>",
                            map_size);
    }
    if (status == ST_OK) {
        status = end ? buf_append(packet, old.data + front, old.size - front, err)
                     : buf_printf(packet, err, PACKET_END);
    }
    return status == ST_LIMIT ? fail(err, ST_UNSUPPORTED, "the picture's XMP has no room for the gain map")
                              : status;
}

/* The index of a base and a map of these sizes; `mark` is the place of its first byte in the file. */
static void make_index(size_t base, size_t map, size_t mark, uint8_t bytes[static INDEX_SIZE]) {
    static const uint8_t head[] = "MM\0*\0\0\0\x08\0\3"
                                  "\xB0\x00\0\7\0\0\0\0040100"
                                  "\xB0\x01\0\4\0\0\0\1\0\0\0\2"
                                  "\xB0\x02\0\7\0\0\0\x20\0\0\0\x32\0\0\0"; /* with a last zero */
    _Static_assert(sizeof head == ENTRIES_AT, "the entries follow");
    memset(bytes, 0, INDEX_SIZE);
    memcpy(bytes, head, sizeof head);
    bytes_put_be32(bytes + ENTRIES_AT, 0x030000); /* the primary picture */
    bytes_put_be32(bytes + ENTRIES_AT + 4, (uint32_t)base);
    bytes_put_be32(bytes + ENTRIES_AT + ENTRY_SIZE + 4, (uint32_t)map);
    bytes_put_be32(bytes + ENTRIES_AT + ENTRY_SIZE + 8, (uint32_t)(base - mark));
}

static enum status put_base(struct bytes base, const struct base_head *head, const struct buf *packet,
                            size_t map, struct buf *output, struct error *err) {
    static const uint8_t versions[GAINMAP_ISO_VERSIONS];
    uint8_t index[INDEX_SIZE];
    size_t start = output->size, packet_segment = HEAD + sizeof XMP_JPEG_NAME + packet->size;
    size_t old = head->packet_end - head->packet_at;
    size_t size = base.size - old + packet_segment + ISO_SEGMENT + INDEX_SEGMENT;
    if (size + map > UINT32_MAX) {
        return fail(err, ST_LIMIT, "the picture is too large for an index");
    }
    enum status status = buf_append(output, base.data, head->end, err);
    status = status == ST_OK ? put_packet(output, packet, err) : status;
    status = status == ST_OK ? put_iso(output, versions, sizeof versions, err) : status;
    make_index(size, map, output->size - start + HEAD + sizeof GAINMAP_INDEX_NAME, index);
    if (status == ST_OK) {
        status = put_segment(output, SEGMENT_APP2, GAINMAP_INDEX_NAME, sizeof GAINMAP_INDEX_NAME,
                             (struct bytes){index, sizeof index}, err);
    }
    size_t from = old > 0 ? head->packet_at : head->end, to = old > 0 ? head->packet_end : head->end;
    status = status == ST_OK ? buf_append(output, base.data + head->end, from - head->end, err) : status;
    return status == ST_OK ? buf_append(output, base.data + to, base.size - to, err) : status;
}

enum status gainmap_write(struct bytes base, struct bytes map, const struct gainmap_numbers *numbers,
                          struct buf *output, struct error *err) {
    struct buf file, packet;
    const struct base_head head = read_head(base);
    buf_init(&file, map.size + GAINMAP_HEAD_MAX);
    buf_init(&packet, XMP_SIZE_MAX);
    enum status status = make_map(map, numbers, &file, err);
    status = status == ST_OK ? make_base_packet(head.packet, file.size, &packet, err) : status;
    if (status == ST_OK) {
        status = buf_reserve(output, base.size + packet.size + file.size + GAINMAP_HEAD_MAX, err);
    }
    status = status == ST_OK ? put_base(base, &head, &packet, file.size, output, err) : status;
    status = status == ST_OK ? buf_append(output, file.data, file.size, err) : status;
    buf_finish(&file);
    buf_finish(&packet);
    return status;
}
