/* SPDX-License-Identifier: MIT
 * The headers Accept and Accept-Encoding (RFC 9110 section 12.5). */
#ifndef BLURD_SERVER_MESSAGE_ACCEPT_H
#define BLURD_SERVER_MESSAGE_ACCEPT_H

#include "codecs/codec.h"

/* The weight, 0 to 1, that the most specific matching range of the list gives to a media type or a coding; -1
 * when no range matches. */
double accept_quality(const char *list, const char *name);

/* Whether the list names the media type itself, with a weight above 0; ranges do not count. */
bool accept_names(const char *list, const char *name);

/* Of the formats that the build writes, the one with the highest weight; WebP and AVIF count only when they
 * are named, or are the input's. Ties go to the input's format, then WebP, JPEG, AVIF, PNG in this order.
 * `accept` may be NULL. When the header names no format that can be written, the answer has the input's, or
 * is a JPEG where that cannot be written. With `animated` only formats that hold animations count; where the
 * input's is none of them, the answer is a PNG. */
enum codec_id accept_choose(const char *accept, enum codec_id input, bool animated);

#endif
