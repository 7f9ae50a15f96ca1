/* SPDX-License-Identifier: MIT
 * Tells plain text from hidden data. All carried metadata passes through here, because text can encode a
 * picture: XMP holds thumbnails in base64. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_PLAIN_TEXT_H
#define BLURD_CODECS_METADATA_PLAIN_TEXT_H

#include <string.h>

#include "core/bytes.h"

static inline bool plain_text_is(struct bytes text, const char *word) {
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static inline bool plain_text_same(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool plain_text_starts(struct bytes text, const char *word) {
    size_t size = strlen(word);
    return text.size >= size && memcmp(text.data, word, size) == 0;
}

enum {
    TEXT_MAX = 8192,      /* bytes of one text; a caption has some hundreds */
    TEXT_WORD_MAX = 64,   /* letters, digits, + and / in a row; base64 lines have 76 */
    TEXT_WORD_USUAL = 24, /* of a word that people write */
    TEXT_BEYOND_MAX =
        128, /* letters behind the usual ones of all words: some checksums, no picture in lines */
    TEXT_UNKNOWN_MAX = 256 /* bytes of a text whose encoding is unknown, such as Latin-1 */
};

bool plain_text_is_utf8(struct bytes text);

/* Whether the text has at most TEXT_MAX bytes, no control characters except tabs, line ends and zeros, no
 * word over TEXT_WORD_MAX, no more than TEXT_BEYOND_MAX letters in the ends of long words, and no sign of
 * base64 or a picture ("base64,", "data:image/"). Over TEXT_UNKNOWN_MAX bytes it must be UTF-8. */
bool plain_text_accepts(struct bytes text);

/* The same for UTF-16: surrogates must be paired, and private characters are not text. */
bool plain_text_accepts_utf16(struct bytes text, bool little);

#endif
