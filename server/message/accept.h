/* SPDX-License-Identifier: MIT
 * The headers Accept and Accept-Encoding (RFC 9110 section 12.5). */
#ifndef BLURD_SERVER_MESSAGE_ACCEPT_H
#define BLURD_SERVER_MESSAGE_ACCEPT_H

#include "codecs/codec.h"

/* The weight, 0 to 1, that the most specific matching range of the list gives to a media type or a coding; -1
 * when no range matches. */
double accept_quality(const char *list, const char *name);

/* The format that the client prefers. `accept` may be NULL. `input` wins ties, and
 * when the header names neither: a client that asks for WebP still gets an answer. */
enum codec_id accept_choose(const char *accept, enum codec_id input);

#endif
