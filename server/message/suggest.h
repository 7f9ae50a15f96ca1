/* SPDX-License-Identifier: MIT
 * What the client may have meant by a name that does not exist. */
#ifndef BLURD_SERVER_MESSAGE_SUGGEST_H
#define BLURD_SERVER_MESSAGE_SUGGEST_H

#include <stddef.h>

/* The one of the words that `given` stands for in other programs (other_names.def), or that differs from it
 * by a third of its letters at most; NULL: none. The result is one of the words, never what was given. */
const char *suggest_word(const char *given, const char *const *words, size_t count);

#endif
