/* SPDX-License-Identifier: MIT */
#include "server/evidence/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The notes of one segment (elf(5)). Sizes are rounded up to 4. */
static void search_notes(const uint8_t *at, size_t size, char text[BUILD_ID_TEXT]) {
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        const size_t name = (note->n_namesz + 3U) & ~3U, bytes = (note->n_descsz + 3U) & ~3U;
        const size_t whole = sizeof *note + name + bytes;
        if (whole > size) {
            return;
        }
        const uint8_t *id = at + sizeof *note + name;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            memcmp(at + sizeof *note, "GNU", 4) == 0) {
            for (size_t i = 0; i < note->n_descsz && 2 * i + 3 <= BUILD_ID_TEXT; i++) {
                snprintf(text + 2 * i, 3, "%02x", id[i]);
            }
            return;
        }
        at += whole;
        size -= whole;
    }
}

/* The first object is the program itself. */
static int search_program(struct dl_phdr_info *info, size_t size, void *text) {
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE) {
            search_notes((const uint8_t *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz, text);
        }
    }
    return 1;
}

const char *build_id(char text[BUILD_ID_TEXT]) {
    text[0] = '\0';
    dl_iterate_phdr(search_program, text);
    return text;
}
