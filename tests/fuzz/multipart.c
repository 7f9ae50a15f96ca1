/* SPDX-License-Identifier: MIT
 * multipart/form-data: the Content-Type up to the first line end, then the body. */
#include "server/message/multipart.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes body = {data, size};
    char *type = fuzz_text(fuzz_until(&body, '\n'));
    struct multipart multipart;
    struct error err = {0};
    (void)multipart_is(type);
    if (multipart_begin(&multipart, type, body, &err) == ST_OK) {
        struct part part;
        bool found = true;
        unsigned count = 0;
        while (multipart_next(&multipart, &part, &found, &err) == ST_OK && found) {
            size_t offset = part.data.size ? (size_t)(part.data.data - body.data) : 0;
            fuzz_require(offset <= body.size && part.data.size <= body.size - offset,
                         "a part lies in the body");
            fuzz_require(memchr(part.name, '\0', sizeof part.name), "a name ends");
            fuzz_require(++count <= MULTIPART_PARTS_MAX, "there are not too many parts");
        }
    }
    fuzz_require(err.status == ST_OK || err.text[0], "a failure is explained");
    free(type);
    return 0;
}
