/* SPDX-License-Identifier: MIT
 * The Accept header (RFC 9110 section 12.5.1), as far as JPEG or PNG is the question. */
#ifndef BLURD_SERVER_ACCEPT_H
#define BLURD_SERVER_ACCEPT_H

#include "codecs/codec.h"

/* The format that the client prefers. `accept` may be NULL. `input` wins ties, and
 * when the header names neither: a client that asks for WebP still gets an answer. */
enum codec_id accept_choose(const char *accept, enum codec_id input);

#endif
