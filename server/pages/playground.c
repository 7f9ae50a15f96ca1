/* SPDX-License-Identifier: MIT
 * The assembler includes the files from a folder that the Makefile names, as in gpu/cuda/embedded.c. */
#include "server/pages/playground.h"

#include <stdio.h>

#include "server/answer.h"
#include "server/message/accept.h"
#include "server/message/etag.h"
#include "server/request.h"
#include "server/settings.h"

#define EMBED(name, file)                                                                                    \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" file "\"\n" #name                                 \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const char name[], name##_end[];

EMBED(playground_page, "page.html")
EMBED(playground_gzip, "page.html.gz")
EMBED(playground_policy, "policy.txt") /* Content-Security-Policy, with the hashes */
EMBED(playground_tag, "tag.txt")       /* digits of the page's own hash */

bool playground_wanted(const struct request *request) {
    const char *accept = request->accept;
    double html = accept_quality(accept, "text/html");
    return request->settings->config.playground && html > 0 && html > accept_quality(accept, "text/plain");
}

static void add_page(struct request *request, const char *begin, const char *end) {
    struct buf *body = &request->answer.body;
    size_t size = (size_t)(end - begin);
    buf_init(body, size);
    /* Without memory the page is empty, and the browser says so. */
    (void)buf_append(body, begin, size, &request->error);
}

void playground_answer(struct request *request) {
    bool compressed = accept_quality(request->accept_encoding, "gzip") > 0;
    char tag[64];
    snprintf(tag, sizeof tag, "\"%s%s\"", playground_tag, compressed ? "-gzip" : "");
    bool fresh = etag_matches(request->if_none_match, tag);
    if (!fresh && compressed) {
        add_page(request, playground_gzip, playground_gzip_end);
    } else if (!fresh) {
        add_page(request, playground_page, playground_page_end);
    }
    answer_tagged(request, fresh ? 304 : 200, "text/html; charset=utf-8", tag);
    answer_header(request, "Vary", "Accept, Accept-Encoding");
    answer_header(request, "Content-Security-Policy", "%s", playground_policy);
    answer_header(request, "X-Frame-Options", "DENY");
    answer_header(request, "Referrer-Policy", "no-referrer");
    if (compressed && !fresh) {
        answer_header(request, "Content-Encoding", "gzip");
    }
}
