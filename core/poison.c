/* SPDX-License-Identifier: MIT */
#include "core/poison.h"

#ifdef POISON_MEMORY

#include <stdlib.h>
#include <string.h>

int poison_byte(void) {
    const char *text = getenv("POISON_MEMORY");
    return text && text[0] ? (int)(strtol(text, NULL, 0) & 0xFF) : -1;
}

void poison(void *memory, size_t size) {
    int byte = poison_byte();
    if (byte >= 0 && size > 0) {
        memset(memory, byte, size);
    }
}

#else

typedef int poison_is_off; /* a file must hold something */

#endif
