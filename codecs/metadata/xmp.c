/* SPDX-License-Identifier: MIT
 * Properties are copied in one pass, each from its start tag on, and removed again when a part of them may
 * not be passed on. Attributes of rdf:Description are properties too, and are written as elements. */
#include "codecs/metadata/xmp.h"

#include <string.h>

#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp_names.h"

enum {
    DEPTH_MAX = 32,
    BINDINGS_MAX = 64,   /* namespaces that are declared at once */
    ATTRIBUTES_MAX = 16, /* attributes of an element in a property */
};

enum xmp_role { ROLE_META, ROLE_RDF, ROLE_DESCRIPTION, ROLE_INSIDE };

struct name {
    int space;
    struct bytes local;
};

struct element {
    struct bytes text; /* name in the file, for the end tag */
    struct name name;
    enum xmp_role role;
};

struct binding {
    struct bytes prefix; /* empty: elements without one */
    int space;
    unsigned depth; /* depth of the declaring element */
};

struct xmp_reader {
    struct buf *body; /* the properties that are passed on */
    struct error *err;
    enum status status; /* result of appending to the body */
    bool upright;
    unsigned *losses;
    struct element element[DEPTH_MAX];
    unsigned depth;
    struct binding binding[BINDINGS_MAX];
    unsigned bindings;
    uint32_t used; /* a bit for each namespace in the body */
    /* The current property: */
    size_t start;         /* where it begins in the body */
    uint32_t used_before; /* `used` at that place */
    bool out;             /* the property is dropped */
    bool after_text;      /* text since the last tag: more would be joined to it */
    unsigned loss;        /* loss reported when it is dropped */
};

static void put(struct xmp_reader *reader, const void *data, size_t size) {
    if (reader->status == ST_OK && !reader->out) {
        reader->status = buf_append(reader->body, data, size, reader->err);
    }
}

static void put_text(struct xmp_reader *reader, const char *text) {
    put(reader, text, strlen(text));
}

static void put_name(struct xmp_reader *reader, const char *before, struct name name) {
    put_text(reader, before);
    put_text(reader, xmp_names_prefix(name.space));
    put_text(reader, ":");
    put(reader, name.local.data, name.local.size);
    reader->used |= 1u << name.space;
}

static void put_quoted(struct xmp_reader *reader, struct bytes value) {
    put_text(reader, "=\"");
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '"') {
            put_text(reader, "&quot;");
        } else {
            put(reader, value.data + i, 1);
        }
    }
    put_text(reader, "\"");
}

/* ---- names ---- */

/* Also XMP_FOREIGN for an undeclared prefix or an invalid name. */
static struct name resolve(const struct xmp_reader *reader, struct bytes text) {
    struct name name = {.space = XMP_FOREIGN};
    struct bytes prefix;
    xmp_names_split(text, &prefix, &name.local);
    if (!xmp_names_is_local(name.local)) {
        return name;
    }
    unsigned i = reader->bindings;
    while (i > 0 && !plain_text_same(reader->binding[i - 1].prefix, prefix)) {
        i--;
    }
    name.space = plain_text_is(prefix, "xml") ? XMP_XML : i > 0 ? reader->binding[i - 1].space : XMP_FOREIGN;
    return name;
}

/* Whether the attribute declares a namespace, and its prefix; else *prefix is the attribute's own. */
static bool declares(struct bytes name, struct bytes *prefix) {
    struct bytes local;
    xmp_names_split(name, prefix, &local);
    if (plain_text_is(*prefix, "xmlns")) {
        *prefix = local;
        return true;
    }
    return prefix->size == 0 && plain_text_is(local, "xmlns");
}

/* False when the attributes are not well-formed, or declare too many namespaces. */
static bool bind(struct xmp_reader *reader, struct bytes attributes) {
    struct xml_attribute attribute;
    struct bytes prefix;
    enum xml_kind kind;
    while ((kind = xml_next_attribute(&attributes, &attribute)) == XML_TEXT) {
        if (!declares(attribute.name, &prefix)) {
            continue;
        }
        if (reader->bindings == BINDINGS_MAX) {
            return false;
        }
        int space = xmp_names_space(attribute.value);
        reader->binding[reader->bindings++] = (struct binding){prefix, space, reader->depth};
    }
    return kind == XML_DONE;
}

/* ---- properties ---- */

static void leave_out(struct xmp_reader *reader, unsigned loss) {
    reader->out = true;
    reader->loss |= loss;
}

static bool is_text(struct bytes text) {
    return plain_text_accepts(text) && xml_references_are_plain(text);
}

static void begin_property(struct xmp_reader *reader, struct name name) {
    enum xmp_verdict verdict = xmp_names_judge(name.space, name.local);
    reader->start = reader->body->size;
    reader->used_before = reader->used;
    reader->out = false;
    reader->loss = 0;
    if (name.space < XMP_PROPERTIES) {
        leave_out(reader, LOSS_XMP);
    } else if (verdict == XMP_STALE || (verdict == XMP_ORIENTATION && reader->upright)) {
        leave_out(reader, 0);
    }
}

static void end_property(struct xmp_reader *reader) {
    if (reader->out) {
        reader->body->size = reader->start;
        reader->used = reader->used_before;
        *reader->losses |= reader->loss;
    }
    reader->out = false;
}

/* Copies the attributes of rdf:Description. */
static void take_properties(struct xmp_reader *reader, struct bytes attributes) {
    struct xml_attribute attribute;
    struct bytes prefix;
    while (xml_next_attribute(&attributes, &attribute) == XML_TEXT) {
        struct name name = resolve(reader, attribute.name);
        if (declares(attribute.name, &prefix) || plain_text_is(name.local, "about")) {
            continue;
        }
        begin_property(reader, name);
        if (prefix.size == 0 || !is_text(attribute.value)) {
            leave_out(reader, LOSS_XMP);
        }
        if (!reader->out) {
            put_name(reader, "<", name);
            put_text(reader, ">");
            put(reader, attribute.value.data, attribute.value.size);
            put_name(reader, "</", name);
            put_text(reader, ">");
        }
        end_property(reader);
    }
}

static bool is_repeated(const struct name *names, unsigned count, struct name name) {
    for (unsigned i = 0; i < count; i++) {
        if (names[i].space == name.space && plain_text_same(names[i].local, name.local)) {
            return true;
        }
    }
    return false;
}

/* Copies the attributes of an element in a property, except declarations. */
static void put_attributes(struct xmp_reader *reader, struct bytes attributes) {
    struct name names[ATTRIBUTES_MAX];
    unsigned count = 0;
    struct xml_attribute attribute;
    struct bytes prefix;
    while (!reader->out && xml_next_attribute(&attributes, &attribute) == XML_TEXT) {
        if (declares(attribute.name, &prefix)) {
            continue;
        }
        struct name name = resolve(reader, attribute.name);
        bool known = prefix.size > 0 && name.space != XMP_FOREIGN && name.space != XMP_META;
        if (!known || count == ATTRIBUTES_MAX || is_repeated(names, count, name) ||
            !is_text(attribute.value)) {
            leave_out(reader, LOSS_XMP);
            return;
        }
        names[count++] = name;
        put_name(reader, " ", name);
        put_quoted(reader, attribute.value);
    }
}

/* Copies a property's own start tag, or one inside it. */
static void put_start(struct xmp_reader *reader, struct name name, const struct xml_token *token) {
    if (xmp_names_judge(name.space, name.local) == XMP_PICTURE) {
        leave_out(reader, LOSS_THUMBNAIL);
    } else if (name.space == XMP_FOREIGN || name.space == XMP_XML || name.space == XMP_META) {
        leave_out(reader, LOSS_XMP);
    }
    if (!reader->out) {
        put_name(reader, "<", name);
        put_attributes(reader, token->attributes);
        put_text(reader, token->empty ? "/>" : ">");
    }
}

/* ---- elements ---- */

static bool is_named(struct name name, int space, const char *local) {
    return name.space == space && plain_text_is(name.local, local);
}

/* The role of an element below `parent` (NULL: none); false when it may not stand there. */
static bool find_role(const struct element *parent, struct name name, enum xmp_role *role) {
    bool rdf = is_named(name, XMP_RDF, "RDF");
    if (!parent) {
        bool meta = is_named(name, XMP_META, "xmpmeta") || is_named(name, XMP_META, "xapmeta");
        *role = meta ? ROLE_META : ROLE_RDF;
        return meta || rdf;
    }
    switch (parent->role) {
    case ROLE_META:
        *role = ROLE_RDF;
        return rdf;
    case ROLE_RDF:
        *role = ROLE_DESCRIPTION;
        return is_named(name, XMP_RDF, "Description");
    default:
        *role = ROLE_INSIDE;
        return true;
    }
}

static const struct element *parent_of(const struct xmp_reader *reader) {
    return reader->depth > 0 ? &reader->element[reader->depth - 1] : NULL;
}

static void close_element(struct xmp_reader *reader) {
    reader->depth--;
    while (reader->bindings > 0 && reader->binding[reader->bindings - 1].depth >= reader->depth) {
        reader->bindings--;
    }
    const struct element *parent = parent_of(reader);
    if (reader->element[reader->depth].role == ROLE_INSIDE && parent->role == ROLE_DESCRIPTION) {
        end_property(reader);
    }
}

static bool open_element(struct xmp_reader *reader, const struct xml_token *token) {
    if (reader->depth == DEPTH_MAX || !bind(reader, token->attributes)) {
        return false;
    }
    const struct element *parent = parent_of(reader);
    struct element element = {.text = token->name, .name = resolve(reader, token->name)};
    if (!find_role(parent, element.name, &element.role)) {
        return false;
    }
    if (element.role == ROLE_DESCRIPTION) {
        take_properties(reader, token->attributes);
    } else if (element.role == ROLE_INSIDE) {
        if (parent->role == ROLE_DESCRIPTION) {
            begin_property(reader, element.name);
        }
        put_start(reader, element.name, token);
    }
    reader->element[reader->depth++] = element;
    if (token->empty) {
        close_element(reader);
    }
    return true;
}

static bool end_element(struct xmp_reader *reader, const struct xml_token *token) {
    const struct element *element = parent_of(reader);
    if (!element || !plain_text_same(element->text, token->name)) {
        return false;
    }
    if (element->role == ROLE_INSIDE && !reader->out) {
        put_name(reader, "</", element->name);
        put_text(reader, ">");
    }
    close_element(reader);
    return true;
}

/* White space between elements is dropped; other text may stand only in properties. */
static bool take_text(struct xmp_reader *reader, struct bytes text) {
    const struct element *element = parent_of(reader);
    if (xml_is_space(text)) {
        return true;
    }
    if (!element || element->role != ROLE_INSIDE) {
        return false;
    }
    if (reader->after_text || !is_text(text)) {
        leave_out(reader, LOSS_XMP);
    }
    put(reader, text.data, text.size);
    reader->after_text = true;
    return true;
}

static bool read_packet(struct xmp_reader *reader, struct bytes packet) {
    bool good = true;
    while (good && reader->status == ST_OK) {
        struct xml_token token = xml_next(&packet);
        switch (token.kind) {
        case XML_START:
            good = open_element(reader, &token);
            break;
        case XML_END:
            good = end_element(reader, &token);
            break;
        case XML_TEXT:
            good = take_text(reader, token.text);
            break;
        default:
            return token.kind == XML_DONE && reader->depth == 0;
        }
        reader->after_text &= token.kind == XML_TEXT;
    }
    return false;
}

/* ---- the packet ---- */

static enum status write_packet(const struct xmp_reader *reader, struct buf *output, struct error *err) {
    enum status status = buf_printf(output, err,
                                    "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
                                    "<x:xmpmeta xmlns:x=\"%s\"><rdf:RDF xmlns:rdf=\"%s\">"
                                    "<rdf:Description rdf:about=\"\"",
                                    xmp_names_uri(XMP_META), xmp_names_uri(XMP_RDF));
    for (int i = XMP_PROPERTIES; i < xmp_names_space_count() && status == ST_OK; i++) {
        if (reader->used & 1u << i) {
            status = buf_printf(output, err, " xmlns:%s=\"%s\"", xmp_names_prefix(i), xmp_names_uri(i));
        }
    }
    return status == ST_OK
               ? buf_printf(output, err, ">%.*s</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>",
                            (int)reader->body->size, (const char *)reader->body->data)
               : status;
}

static bool is_readable(struct bytes packet) {
    return packet.size <= XMP_INPUT_MAX && plain_text_is_utf8(packet) && !memchr(packet.data, 0, packet.size);
}

enum status xmp_sanitize(struct bytes packet, bool upright, struct buf *output, unsigned *losses,
                         struct error *err) {
    struct buf body, made;
    struct xmp_reader reader = {.body = &body, .err = err, .upright = upright, .losses = losses};
    buf_init(&body, XMP_SIZE_MAX);
    buf_init(&made, XMP_SIZE_MAX);
    bool good = packet.size == 0 || (is_readable(packet) && read_packet(&reader, packet));
    enum status status = reader.status;
    if (status == ST_OK && good && body.size > 0) {
        status = write_packet(&reader, &made, err);
    }
    *losses |= status == ST_LIMIT || !good ? LOSS_XMP : 0;
    status = status == ST_LIMIT ? ST_OK
             : status == ST_OK  ? buf_append(output, made.data, made.size, err)
                                : status;
    buf_finish(&body);
    buf_finish(&made);
    return status;
}
