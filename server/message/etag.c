/* SPDX-License-Identifier: MIT */
#include "server/message/etag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a suffices: the tags only cover pages of this server. */
void etag_make(struct bytes bytes, char tag[ETAG_MAX]) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes.size; i++) {
        hash = (hash ^ bytes.data[i]) * UINT64_C(0x100000001b3);
    }
    snprintf(tag, ETAG_MAX, "\"%016" PRIx64 "\"", hash);
}

bool etag_matches(const char *list, const char *tag) {
    size_t length = strlen(tag);
    while (*list) {
        list += strspn(list, ", \t");
        const char *own = strncmp(list, "W/", 2) == 0 ? list + 2 : list;
        size_t found = strcspn(own, ", \t");
        if ((found == length && memcmp(own, tag, length) == 0) || (found == 1 && *list == '*')) {
            return true;
        }
        list = own + found;
    }
    return false;
}
