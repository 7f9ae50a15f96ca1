/* SPDX-License-Identifier: MIT */
#include "server/batch/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

#define SECOND_NS INT64_C(1000000000)

enum { TELL_S = 60, FASTEST_MS = 100, LEFT_MAX = 48 };

void tally_begin(struct batch_tally *tally, bool quiet) {
    *tally = (struct batch_tally){.quiet = quiet, .terminal = isatty(STDERR_FILENO), .start_ns = clock_ns()};
    tally->told_ns = tally->start_ns;
}

static void note_reason(struct batch_tally *tally, const char *reason) {
    unsigned i = 0;
    while (i < TALLY_REASONS - 1 && tally->reasons[i].count &&
           strcmp(tally->reasons[i].reason, reason) != 0) {
        i++;
    }
    snprintf(tally->reasons[i].reason, TRANSFER_REASON_MAX, "%s", i < TALLY_REASONS - 1 ? reason : "other");
    tally->reasons[i].count++;
}

/* Removes the line of progress. */
static void clear(struct batch_tally *tally) {
    if (tally->shown) {
        fputs("\r\033[K", stderr);
        tally->shown = false;
    }
}

/* A name may have characters that a terminal would obey. */
static void print_name(const char *name) {
    for (; *name; name++) {
        const bool second = name[0] == '\xC2' && (name[1] & 0xE0) == 0x80; /* U+0080 to U+009F */
        fputc((unsigned char)*name < ' ' || *name == 0x7f || second ? '?' : *name, stderr);
    }
}

void tally_count(struct batch_tally *tally, const struct item *item) {
    tally->done += item->outcome == ITEM_DONE;
    tally->failed += item->outcome == ITEM_FAILED;
    tally->skipped += item->outcome == ITEM_SKIPPED;
    tally->kept += item->outcome == ITEM_KEPT;
    if (item->outcome == ITEM_FAILED || item->outcome == ITEM_SKIPPED) {
        note_reason(tally, item->result.reason);
    }
    if (item->outcome == ITEM_FAILED) {
        clear(tally);
        fputs("blurd: ", stderr);
        print_name(item->input.path);
        fprintf(stderr, ": %s (%s)\n", item->result.detail, item->result.reason);
    }
}

static uint64_t seen(const struct batch_tally *tally) {
    return tally->done + tally->failed + tally->skipped + tally->kept;
}

static double seconds_of(const struct batch_tally *tally) {
    const double seconds = (double)(clock_ns() - tally->start_ns) / 1e9;
    return seconds > FASTEST_MS / 1e3 ? seconds : FASTEST_MS / 1e3;
}

/* "4 min left", by the rate so far. */
static void describe_left(const struct batch_tally *tally, char text[LEFT_MAX]) {
    const uint64_t did = tally->done + tally->failed;
    text[0] = '\0';
    if (tally->total >= seen(tally) && did > 0) {
        const double left = (double)(tally->total - seen(tally)) * seconds_of(tally) / (double)did;
        snprintf(text, LEFT_MAX,
                 left < 120    ? ", %.0f s left"
                 : left < 7200 ? ", %.0f min left"
                               : ", %.1f h left",
                 left < 120    ? left
                 : left < 7200 ? left / 60
                               : left / 3600);
    }
}

void tally_progress(struct batch_tally *tally) {
    char left[LEFT_MAX], total[LEFT_MAX] = "";
    const int64_t now = clock_ns();
    if (tally->quiet || (!tally->terminal && now - tally->told_ns < TELL_S * SECOND_NS)) {
        return;
    }
    tally->told_ns = now;
    describe_left(tally, left);
    if (tally->total) {
        snprintf(total, sizeof total, " of %" PRIu64, tally->total);
    }
    clear(tally);
    fprintf(stderr, "%" PRIu64 "%s done, %.1f/s%s, %" PRIu64 " failed%s", tally->done + tally->kept, total,
            (double)tally->done / seconds_of(tally), left, tally->failed, tally->terminal ? "" : "\n");
    tally->shown = tally->terminal;
    fflush(stderr);
}

void tally_end(struct batch_tally *tally) {
    clear(tally);
    if (tally->quiet) {
        return;
    }
    fprintf(stderr, "%" PRIu64 " %s, %" PRIu64 " failed", tally->done, tally->dry ? "to do" : "done",
            tally->failed);
    if (tally->skipped) {
        fprintf(stderr, ", %" PRIu64 " skipped", tally->skipped);
    }
    if (tally->kept) {
        fprintf(stderr, ", %" PRIu64 " done before", tally->kept);
    }
    if (tally->total > seen(tally)) {
        fprintf(stderr, ", %" PRIu64 " not begun", tally->total - seen(tally));
    }
    if (tally->dry) {
        fputc('\n', stderr);
    } else {
        fprintf(stderr, " in %.1f s (%.1f/s)\n", seconds_of(tally), (double)tally->done / seconds_of(tally));
    }
    for (unsigned i = 0; i < TALLY_REASONS && tally->reasons[i].count; i++) {
        fprintf(stderr, "%9" PRIu64 " %s\n", tally->reasons[i].count, tally->reasons[i].reason);
    }
}
