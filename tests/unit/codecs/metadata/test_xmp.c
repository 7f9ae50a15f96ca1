/* SPDX-License-Identifier: MIT
 * Each thing that makes a property stay behind is alone in a packet here, so that none hides behind another.
 */
#include <stdio.h>

#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_names.h"
#include "tests/unit/codecs/picture_fixture.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define XMP "http://ns.adobe.com/xap/1.0/"
#define HEAD                                                                                                 \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='" RDF "'><rdf:Description rdf:about='' "        \
    "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xmp='" XMP                                            \
    "' xmlns:tiff='http://ns.adobe.com/tiff/1.0/'"
#define TAIL "</rdf:Description></rdf:RDF></x:xmpmeta>"

static unsigned losses;

/* Reads a copy of exactly that size, so that a sanitizer sees reads outside. */
static struct buf sanitized_bytes(const void *packet, size_t size, bool upright) {
    struct buf output;
    uint8_t *copy = malloc(size ? size : 1);
    if (size > 0) {
        memcpy(copy, packet, size);
    }
    buf_init(&output, 1 << 20);
    losses = 0;
    assert_int_equal(xmp_sanitize((struct bytes){copy, size}, upright, &output, &losses, NULL), ST_OK);
    assert_true(output.size <= XMP_SIZE_MAX);
    free(copy);
    return output;
}

static struct buf sanitized(const char *packet) {
    return sanitized_bytes(packet, strlen(packet), false);
}

/* A packet with one property beside a title, each an element. */
static void make_packet(char packet[static 16384], const char *property) {
    snprintf(packet, 16384, HEAD "><dc:title>GOOD</dc:title>%s" TAIL, property);
}

static void check_element(const char *property, bool kept, unsigned loss) {
    char packet[16384];
    make_packet(packet, property);
    struct buf output = sanitized(packet);
    if (fixture_contains(buf_bytes(&output), "CANARY") != kept || losses != loss ||
        !fixture_contains(buf_bytes(&output), "GOOD")) {
        fail_msg("%s: losses %x, %.*s", property, losses, (int)output.size, (const char *)output.data);
    }
    struct buf again = sanitized_bytes(output.data, output.size, false);
    assert_int_equal(again.size, output.size);
    assert_memory_equal(again.data, output.data, output.size);
    assert_int_equal(losses, 0);
    buf_finish(&again);
    buf_finish(&output);
}

/* As an attribute of the description. */
static void check_attribute(const char *attribute, bool kept, unsigned loss) {
    char packet[16384];
    snprintf(packet, sizeof(packet), HEAD " dc:title='GOOD' %s>" TAIL, attribute);
    struct buf output = sanitized(packet);
    if (fixture_contains(buf_bytes(&output), "CANARY") != kept || losses != loss ||
        !fixture_contains(buf_bytes(&output), "GOOD")) {
        fail_msg("%s: losses %x, %.*s", attribute, losses, (int)output.size, (const char *)output.data);
    }
    buf_finish(&output);
}

static void test_descriptions_stay(void **state) {
    (void)state;
    check_element("<dc:description>CANARY</dc:description>", true, 0);
    check_element(
        "<dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>CANARY &amp; &#xA9;</rdf:li></rdf:Alt></dc:rights>",
        true, 0);
    check_element("<o:CreatorTool xmlns:o='" XMP "'>CANARY</o:CreatorTool>", true, 0);
    check_element("<dc:source rdf:resource='CANARY'/>", true, 0);
    check_element("<dc:source rdf:value=\"it's\" xml:lang='\"' >CANARY</dc:source>", true, 0);
    check_element("<!-- a comment --><?an instruction?> <dc:source>CANARY</dc:source>", true, 0);
    check_attribute("xmp:Label='CANARY'", true, 0);
    check_attribute("xmp:Label='CANARY' dc:format='image/png' tiff:XResolution='72/1'", true, 0);
}

static void test_every_namespace(void **state) {
    (void)state;
    for (int i = XMP_PROPERTIES; i < xmp_names_space_count(); i++) {
        char property[512];
        snprintf(property, sizeof(property), "<any:Thing xmlns:any=\"%s\">CANARY</any:Thing>",
                 xmp_names_uri(i));
        check_element(property, true, 0);
        snprintf(property, sizeof(property), "<any:Thing xmlns:any=\"%sx\">CANARY</any:Thing>",
                 xmp_names_uri(i));
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "xmlns:any=\"%s\" any:Thing='CANARY'", xmp_names_uri(i));
        check_attribute(property, true, 0);
    }
}

/* Namespaces in which programs store pictures, under their usual prefix, another, and that of a good one. */
static void test_foreign_namespaces_go(void **state) {
    (void)state;
    static const char *const uris[] = {"http://ns.adobe.com/xap/1.0/g/img/",
                                       "http://ns.adobe.com/xap/1.0/g/img",
                                       "http://ns.google.com/photos/1.0/image/",
                                       "http://ns.google.com/photos/1.0/depthmap/",
                                       "http://ns.google.com/photos/1.0/container/",
                                       "http://ns.google.com/photos/1.0/camera/",
                                       "http://ns.adobe.com/hdr-gain-map/1.0/",
                                       "http://ns.adobe.com/xmp/note/",
                                       "",
                                       "urn:anything",
                                       "http&#58;//purl.org/dc/elements/1.1/"};
    static const char *const prefixes[] = {"xmpGImg", "xapGImg", "GImage", "dc", "a"};
    for (size_t i = 0; i < sizeof(uris) / sizeof(*uris) * 5; i++) {
        const char *uri = uris[i / 5], *prefix = prefixes[i % 5];
        char property[512];
        snprintf(property, sizeof(property), "<%s:image xmlns:%s='%s'>CANARY</%s:image>", prefix, prefix, uri,
                 prefix);
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "<xmp:X><rdf:li xmlns:%s='%s' %s:image='CANARY'/></xmp:X>",
                 prefix, uri, prefix);
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "<image xmlns='%s'>CANARY</image>", uri);
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "xmlns:a%s='%s' a%s:image='CANARY'", prefix, uri, prefix);
        check_attribute(property, false, LOSS_XMP);
    }
}

static void test_thumbnails_go(void **state) {
    (void)state;
    check_element("<xmp:Thumbnails>CANARY</xmp:Thumbnails>", false, LOSS_THUMBNAIL);
    check_element("<o:Thumbnails xmlns:o='" XMP "'>CANARY</o:Thumbnails>", false, LOSS_THUMBNAIL);
    check_element("<xmp:Other><xmp:Thumbnails/>CANARY</xmp:Other>", false, LOSS_THUMBNAIL);
    check_element("<xap:Thumbnails xmlns:xap='" XMP "'><rdf:Alt><rdf:li xmlns:xapGImg='" XMP "g/img/' "
                  "xapGImg:format='JPEG' xapGImg:image='CANARY'/></rdf:Alt></xap:Thumbnails>",
                  false, LOSS_THUMBNAIL);
}

#define FIFTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"

static void test_data_in_texts_goes(void **state) {
    (void)state;
    static const char *const values[] = {
        "CANARY base64,",    "CANARY data:image/png,", "CANARY" FIFTY FIFTY, "CANARY &#65;",
        "CANARY &#x2F;",     "CANARY &other;",         "CANARY &",           "CANARY &#0;",
        "CANARY &#1114112;", "CANARY &#xFFFF;",        "CANARY &#xD800;",    "CANARY \x07",
        "CANARY \x7F"};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char property[512];
        snprintf(property, sizeof(property), "<dc:source>%s</dc:source>", values[i]);
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "<dc:source rdf:value='%s'/>", values[i]);
        check_element(property, false, LOSS_XMP);
        snprintf(property, sizeof(property), "xmp:Label='%s'", values[i]);
        check_attribute(property, false, LOSS_XMP);
    }
    static char property[TEXT_MAX + 64];
    for (int more = 0; more <= 1; more++) {
        snprintf(property, sizeof(property), "<dc:source>CANARY%*s</dc:source>", TEXT_MAX - 6 + more, "");
        check_element(property, !more, more ? LOSS_XMP : 0);
    }
}

/* A comment between two halves of a forbidden text. */
static void test_joined_texts_go(void **state) {
    (void)state;
    check_element("<dc:source>CANARY base<!-- --> <!-- -->64,</dc:source>", false, LOSS_XMP);
    check_element("<dc:source>CANARY base<!-- -->64,</dc:source>", false, LOSS_XMP);
    check_element("<dc:source>CANARY " FIFTY "<?x?>" FIFTY "</dc:source>", false, LOSS_XMP);
    check_element("<dc:source>CANARY<!-- -->  <rdf:li/> <!-- --> CANARY</dc:source>", true, 0);
}

static void test_grammar_in_properties(void **state) {
    (void)state;
    check_element("<rdf:type>CANARY</rdf:type>", false, LOSS_XMP);
    check_element("<unknown:thing>CANARY</unknown:thing>", false, LOSS_XMP);
    check_element("<dc:source plain='CANARY'/>", false, LOSS_XMP);
    /* A namespace without a prefix holds for elements alone. */
    check_element("<source xmlns='http://purl.org/dc/elements/1.1/'>CANARY</source>", true, 0);
    check_element("<dc:source xmlns='http://purl.org/dc/elements/1.1/' plain='CANARY'/>", false, LOSS_XMP);
    check_attribute("xmlns='http://purl.org/dc/elements/1.1/' plain='CANARY'", false, LOSS_XMP);
    check_element("<dc:source x:y='CANARY'/>", false, LOSS_XMP);
    check_element("<dc:source><x:y>CANARY</x:y></dc:source>", false, LOSS_XMP);
}

static void test_repeated_attributes(void **state) {
    (void)state;
    check_element("<dc:source xmlns:e='http://purl.org/dc/elements/1.1/' dc:a='1' e:a='CANARY'/>", false,
                  LOSS_XMP);
}

static void test_orientation(void **state) {
    (void)state;
    static const char packet[] = HEAD " tiff:Orientation='6' tiff:Make='GOOD'>" TAIL;
    for (int upright = 0; upright <= 1; upright++) {
        struct buf output = sanitized_bytes(packet, sizeof(packet) - 1, upright);
        assert_int_equal(fixture_contains(buf_bytes(&output), "<tiff:Orientation>6</tiff:Orientation>"),
                         !upright);
        assert_true(fixture_contains(buf_bytes(&output), "GOOD"));
        assert_int_equal(losses, 0);
        buf_finish(&output);
    }
}

static void test_what_is_no_packet(void **state) {
    (void)state;
    static const char *const packets[] = {
        "text",
        "<",
        "<a",
        "<a>",
        "<x:xmpmeta/>",
        "<rdf:RDF/>",
        HEAD ">",
        HEAD "/>" TAIL,
        TAIL,
        "<!DOCTYPE x [<!ENTITY a 'CANARY'>]>" HEAD "><dc:source>CANARY</dc:source>" TAIL,
        HEAD "><dc:source><![CDATA[CANARY]]></dc:source>" TAIL,
        HEAD "><dc:source>CANARY</dc:title>" TAIL,
        HEAD ">CANARY" TAIL,
        HEAD " dc:source=CANARY>" TAIL,
        HEAD " dc:source='CANARY'dc:title='CANARY'>" TAIL,
        HEAD " dc:source='CANARY<'>" TAIL,
        HEAD "><dc:source>CANARY \xFF</dc:source>" TAIL,
        HEAD "><dc:source>CANARY</dc:source>" TAIL TAIL,
        HEAD "><dc:source>CANARY</dc:source>" TAIL "<!--",
        "<rdf:RDF xmlns:rdf='" RDF
        "'><dc:source xmlns:dc='http://purl.org/dc/elements/1.1/'>CANARY</dc:source></rdf:RDF>"};
    for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
        struct buf output = sanitized(packets[i]);
        if (output.size != 0 || losses != LOSS_XMP) {
            fail_msg("%s: %x, %.*s", packets[i], losses, (int)output.size, (const char *)output.data);
        }
        buf_finish(&output);
    }
    static const char zero[] = HEAD "><dc:source>CANARY\0</dc:source>" TAIL;
    struct buf output = sanitized_bytes(zero, sizeof(zero) - 1, false);
    assert_int_equal(output.size, 0);
    assert_int_equal(losses, LOSS_XMP);
    output = sanitized("");
    assert_int_equal(output.size + losses, 0);
}

/* UTF-16 and UTF-32 have zeros, and are none of the encodings that XMP in these formats has. */
static void test_other_encodings_go(void **state) {
    (void)state;
    static const char packet[] = HEAD "><dc:source>CANARY</dc:source>" TAIL;
    for (size_t unit = 2; unit <= 4; unit += 2) {
        uint8_t wide[4 * sizeof(packet)] = {0};
        for (size_t i = 0; i < sizeof(packet) - 1; i++) {
            wide[i * unit] = (uint8_t)packet[i];
        }
        struct buf output = sanitized_bytes(wide, unit * (sizeof(packet) - 1), false);
        assert_int_equal(output.size, 0);
        assert_int_equal(losses, LOSS_XMP);
    }
}

static char *repeated(const char *head, const char *part, size_t count, const char *tail) {
    struct buf text;
    buf_init(&text, 1 << 20);
    assert_int_equal(buf_printf(&text, NULL, "%s", head), ST_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(buf_append(&text, part, strlen(part), NULL), ST_OK);
    }
    assert_int_equal(buf_append(&text, tail, strlen(tail) + 1, NULL), ST_OK);
    return (char *)text.data;
}

static void check_limit(const char *head, const char *part, size_t count, const char *tail, bool fits) {
    char *packet = repeated(head, part, count, tail);
    struct buf output = sanitized(packet);
    assert_int_equal(output.size > 0, fits);
    assert_int_equal(losses, fits ? 0 : LOSS_XMP);
    buf_finish(&output);
    free(packet);
}

static bool is_local(const char *text) {
    return xmp_names_is_local((struct bytes){(const uint8_t *)text, strlen(text)});
}

static void test_local_names(void **state) {
    (void)state;
    static const char *const good[] = {"a", "Z", "_", "zA-9._", "Title"};
    static const char *const bad[] = {"", "1a", "-a", ".a", "a b", "a:b", "a@", "a[", "a`", "a{", "a\xE9"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(is_local(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(is_local(bad[i]));
    }
}

static void test_limits(void **state) {
    (void)state;
    /* Depth; the three of the grammar included. */
    char *ends = repeated("", "</dc:a>", 29, TAIL);
    check_limit(HEAD ">", "<dc:a>", 29, ends, true);
    free(ends);
    ends = repeated("", "</dc:a>", 30, TAIL);
    check_limit(HEAD ">", "<dc:a>", 30, ends, false);
    free(ends);
    check_limit(HEAD, " xmlns:n='a'", 59, " dc:title='GOOD'>" TAIL, true); /* and the five of the head */
    check_limit(HEAD, " xmlns:n='a'", 60, " dc:title='GOOD'>" TAIL, false);
    check_limit(HEAD "><dc:source>GOOD</dc:source>", " ", XMP_INPUT_MAX - 2000, TAIL, true);
    check_limit(HEAD "><dc:source>GOOD</dc:source>", " ", XMP_INPUT_MAX, TAIL, false);
    check_limit(HEAD ">", "<dc:source>what is kept</dc:source>", 1800, TAIL, true);
    check_limit(HEAD ">", "<dc:source>what is kept</dc:source>", 1900, TAIL, false); /* over a segment */
}

static void test_every_cut_and_byte(void **state) {
    (void)state;
    static const char packet[] = HEAD
        " xmp:Label='&quot;'><dc:title><rdf:Alt><rdf:li xml:lang=\"x\">a&#xE9;</rdf:li></rdf:Alt></dc:title>"
        "<!-- c --><?p?><tiff:Make/>" TAIL;
    static const uint8_t values[] = {0,   '<', '>', '&', '"', '\'', '/', ':',
                                     '=', ' ', 'a', '!', '?', 0x80, 0xFF};
    for (size_t at = 0; at < sizeof(packet) - 1; at++) {
        struct buf output = sanitized_bytes(packet, at, false);
        buf_finish(&output);
        for (size_t v = 0; v < sizeof(values); v++) {
            char changed[sizeof(packet)];
            memcpy(changed, packet, sizeof(packet));
            changed[at] = (char)values[v];
            output = sanitized_bytes(changed, sizeof(packet) - 1, false);
            struct buf again = sanitized_bytes(output.data, output.size, false);
            assert_int_equal(again.size, output.size);
            assert_int_equal(losses, 0);
            buf_finish(&again);
            buf_finish(&output);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptions_stay),     cmocka_unit_test(test_every_namespace),
        cmocka_unit_test(test_foreign_namespaces_go), cmocka_unit_test(test_thumbnails_go),
        cmocka_unit_test(test_data_in_texts_goes),    cmocka_unit_test(test_joined_texts_go),
        cmocka_unit_test(test_grammar_in_properties), cmocka_unit_test(test_repeated_attributes),
        cmocka_unit_test(test_orientation),           cmocka_unit_test(test_what_is_no_packet),
        cmocka_unit_test(test_other_encodings_go),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_every_cut_and_byte),    cmocka_unit_test(test_local_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
