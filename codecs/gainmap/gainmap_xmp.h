/* SPDX-License-Identifier: MIT
 * The XMP of gain maps: those of Android (Ultra HDR Image Format 1.1) have numbers in the map's packet, those
 * of Apple a name, and from iOS 17 on the headroom. Thread-safe. Internal to codecs/. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_XMP_H
#define BLURD_CODECS_GAINMAP_GAINMAP_XMP_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

enum gainmap_packet {
    GAINMAP_PACKET_NONE,    /* nothing about gain maps */
    GAINMAP_PACKET_DAMAGED, /* numbers are missing, no numbers, or gainmap_numbers_fit refuses them */
    GAINMAP_PACKET_NUMBERS, /* *numbers is set */
    GAINMAP_PACKET_APPLE,   /* Apple's, with *stops of headroom, or 0: the base's maker note has them */
};

/* Reads the packet of a map. Properties are found as attributes and as elements, with a text or an rdf:Seq of
 * three, in any prefix that the packet binds to the namespace. */
enum gainmap_packet gainmap_xmp_read(struct bytes packet, struct gainmap_numbers *numbers, double *stops);

/* Whether a base's packet announces a map: it names one of the two namespaces. */
bool gainmap_xmp_announces(struct bytes packet);

#endif
