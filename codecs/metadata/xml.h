/* SPDX-License-Identifier: MIT
 * A scanner for untrusted XML metadata: elements, attributes and text in order, without allocation.
 * Document types, custom entities and CDATA sections are errors. The caller matches end tags. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_METADATA_XML_H
#define BLURD_CODECS_METADATA_XML_H

#include "core/bytes.h"

enum xml_kind {
    XML_START, /* <name attributes>; `empty` when it ends with /> and no end tag follows */
    XML_END,   /* </name> */
    XML_TEXT,  /* between tags; references such as &amp; stay as they are */
    XML_DONE,
    XML_ERROR,
};

/* All views borrow from the input. */
struct xml_token {
    enum xml_kind kind;
    bool empty;
    struct bytes name;       /* of XML_START and XML_END; never empty */
    struct bytes attributes; /* of XML_START, for xml_next_attribute */
    struct bytes text;       /* of XML_TEXT */
};

struct xml_attribute {
    struct bytes name;
    struct bytes value; /* between the quotes; references stay as they are */
};

/* Takes the next token off *rest, skipping comments and processing instructions. */
struct xml_token xml_next(struct bytes *rest);

/* Takes the next attribute off *rest: XML_TEXT, XML_DONE at the end, or XML_ERROR. */
enum xml_kind xml_next_attribute(struct bytes *rest, struct xml_attribute *attribute);

/* Whether every & begins a reference to one of XML's five entities or to a character other than an ASCII
 * letter or digit: those need no reference, and escaped base64 would not be recognised. */
bool xml_references_are_plain(struct bytes text);

/* Whether the text is only white space, or empty. */
bool xml_is_space(struct bytes text);

#endif
