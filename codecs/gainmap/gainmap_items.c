/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_items.h"

#include "codecs/bmff/bmff_gain_map.h"
#include "codecs/gainmap/gainmap_apple.h"
#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_xmp.h"
#include "codecs/metadata/losses.h"

/* The data of a `tmap`: a version, and what a segment of a JPEG has. Numbers for other colours than the
 * base's would need the profile of the `tmap`, which a JPEG cannot take over from code points. */
static enum gainmap_kind read_tone(struct bytes data, struct gainmap_numbers *numbers) {
    const struct bytes rest = {data.data + 1, data.size - 1};
    bool usable = data.data[0] == 0 && gainmap_iso_read(rest, numbers);
    return usable && !numbers->other_colours ? GAINMAP_NUMBERS : GAINMAP_DAMAGED;
}

static enum gainmap_kind read_apple(struct bytes packet, struct bytes exif, struct gainmap_numbers *numbers) {
    struct gainmap_numbers ignored;
    double stops = 0;
    if (gainmap_xmp_read(packet, &ignored, &stops) != GAINMAP_PACKET_APPLE) {
        stops = 0;
    }
    return gainmap_apple_read(stops, exif, numbers) ? GAINMAP_APPLE : GAINMAP_BARE;
}

void gainmap_find_item(struct bytes file, struct bytes exif, struct gainmap *map) {
    struct bmff_items items;
    struct bmff_gain_map found;
    struct error ignored;
    *map = (struct gainmap){.file = file};
    if (bmff_items_read(&items, file, "file", &ignored) == ST_OK && bmff_gain_map_find(&items, &found)) {
        map->kind = found.tone.size > 0 ? read_tone(found.tone, &map->numbers)
                                        : read_apple(found.packet, exif, &map->numbers);
        bmff_items_use(&items, found.picture);
        bmff_items_use(&items, found.whole);
        map->alone = !(bmff_items_losses(&items) & LOSS_PICTURES);
    }
    bmff_items_finish(&items);
}
