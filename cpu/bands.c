/* SPDX-License-Identifier: MIT */
#include "cpu/bands.h"

#include "core/clock.h"
#include "core/deadline.h"
#include "core/tuned.h"

enum {
    SLICE_NS = 4000000, /* later slices: short against a deadline, long against the rows that they read beside
                           their own */
    FOLLOWING_SEATS = 8, /* the picture is cut for this many, so that few bands are left at its end */
};

struct bands {
    const struct pass *pass;
    unsigned count[IMAGE_PLANES_MAX];
};

static uint64_t plane_work(const struct pass *pass, unsigned plane) {
    return pass->rows[plane] * pass->cost[plane];
}

static uint64_t pass_work(const struct pass *pass) {
    uint64_t work = 0;
    for (unsigned i = 0; i < IMAGE_PLANES_MAX; i++) {
        work += plane_work(pass, i);
    }
    return work;
}

unsigned bands_seats(struct crew *crew, const struct pass *pass, size_t size) {
    return size > BANDS_MEMORY / 2 ? 1 : bands_seats_most(crew_seats(crew, pass_work(pass)), size);
}

unsigned bands_seats_most(unsigned threads, size_t size) {
    return size > BANDS_MEMORY / 2          ? 1
           : threads * size <= BANDS_MEMORY ? threads
                                            : (unsigned)(BANDS_MEMORY / size);
}

static unsigned cut(struct bands *bands, unsigned parts) {
    const struct pass *pass = bands->pass;
    uint64_t all = pass_work(pass);
    unsigned total = 0;
    for (unsigned i = 0; i < IMAGE_PLANES_MAX; i++) {
        uint64_t share = all ? (plane_work(pass, i) * parts + all / 2) / all : 0;
        share = share == 0 ? 1 : share;
        bands->count[i] = share < pass->rows[i] ? (unsigned)share : pass->rows[i];
        total += bands->count[i];
    }
    return total;
}

/* Runs a band in slices, and looks at the deadline before each. */
static enum status run_slices(const struct pass *pass, struct band band, struct error *err) {
    uint64_t rows = TUNED_SLICE_WORK / (pass->cost[band.plane] + 1) + 1;
    const uint32_t end = band.to;
    while (band.from < end) {
        enum status status = deadline_check(pass->deadline_ns, err);
        if (status != ST_OK) {
            return status;
        }
        int64_t start = clock_ns();
        band.to = end - band.from > rows ? band.from + (uint32_t)rows : end;
        pass->band(pass->context, &band);
        band.from = band.to;
        int64_t took = clock_ns() - start;
        rows = took < SLICE_NS / 2 ? 2 * rows : took > 2 * SLICE_NS && rows > 1 ? rows / 2 : rows;
    }
    return ST_OK;
}

static enum status run_band(void *context, unsigned part, unsigned seat, struct error *err) {
    const struct bands *bands = context;
    unsigned plane = 0;
    for (; part >= bands->count[plane]; plane++) {
        part -= bands->count[plane];
    }
    uint64_t rows = bands->pass->rows[plane];
    struct band band = {
        .plane = plane,
        .from = (uint32_t)(rows * part / bands->count[plane]),
        .to = (uint32_t)(rows * (part + 1) / bands->count[plane]),
        .seat = seat,
    };
    return run_slices(bands->pass, band, err);
}

enum status bands_run(struct crew *crew, unsigned seats, const struct pass *pass, struct error *err) {
    struct bands bands = {.pass = pass};
    unsigned parts = cut(&bands, crew_parts(crew, pass_work(pass), seats));
    struct crew_work work = {.part = run_band, .context = &bands, .parts = parts, .seats = seats};
    return crew_run(crew, &work, err);
}

struct followed {
    const struct pass *pass;
    bands_reach *reach;
    const struct producer *producer;
    const struct progress *progress; /* one seat only */
    struct crew_gate *gate;
    unsigned parts, open;
};

/* The first row of a part's band, or the end of the last band. A part has a band of each plane. */
static uint32_t first_row(const struct followed *followed, unsigned plane, unsigned part) {
    return (uint32_t)((uint64_t)followed->pass->rows[plane] * part / followed->parts);
}

/* The least progress of the planes that have rows. */
static uint32_t rows_made(const struct followed *followed, unsigned part) {
    const struct pass *pass = followed->pass;
    uint32_t made = UINT32_MAX;
    for (unsigned plane = 0; plane < IMAGE_PLANES_MAX; plane++) {
        uint32_t rows = pass->rows[plane]
                            ? pass->makes(pass->context, plane, first_row(followed, plane, part + 1))
                            : made;
        made = rows < made ? rows : made;
    }
    return made;
}

static enum status run_bands(void *context, unsigned part, unsigned seat, struct error *err) {
    const struct followed *followed = context;
    enum status status = ST_OK;
    for (unsigned plane = 0; plane < IMAGE_PLANES_MAX && status == ST_OK; plane++) {
        struct band band = {plane, first_row(followed, plane, part), first_row(followed, plane, part + 1),
                            seat};
        status = run_slices(followed->pass, band, err);
    }
    if (followed->progress && status == ST_OK) {
        progress_tell(followed->progress, rows_made(followed, part));
    }
    return status;
}

static bool is_possible(const struct followed *followed, unsigned part, uint32_t rows) {
    bool possible = true;
    for (unsigned plane = 0; plane < IMAGE_PLANES_MAX; plane++) {
        uint32_t to = first_row(followed, plane, part + 1);
        possible &= to == 0 || followed->reach(followed->pass->context, plane, to) <= rows;
    }
    return possible;
}

static void open_parts(void *context, uint32_t rows) {
    struct followed *followed = context;
    while (followed->open < followed->parts && is_possible(followed, followed->open, rows)) {
        followed->open++;
    }
    crew_open(followed->gate, followed->open);
}

static enum status make_picture(void *context, struct crew_gate *gate, struct error *err) {
    struct followed *followed = context;
    followed->gate = gate;
    const struct progress progress = {open_parts, followed};
    return followed->producer->make(followed->producer->context, &progress, err);
}

/* One seat gets enough strips for each to stay in the cache, but none thinner than `least`. */
static unsigned strips(const struct pass *pass) {
    uint64_t wanted = pass_work(pass) / TUNED_STRIP_WORK + 1;
    uint32_t rows = 0;
    for (unsigned i = 0; i < IMAGE_PLANES_MAX; i++) {
        rows = pass->rows[i] > rows ? pass->rows[i] : rows;
    }
    uint32_t most = pass->least < rows ? rows / pass->least : 1;
    return wanted < most ? (unsigned)wanted : most;
}

enum status bands_follow(struct crew *crew, unsigned seats, const struct pass *pass, bands_reach *reach,
                         const struct producer *producer, struct error *err) {
    struct followed followed = {.pass = pass, .reach = reach, .producer = producer};
    followed.progress = seats == 1 ? pass->progress : NULL;
    followed.parts = seats > 1 ? crew_parts(crew, pass_work(pass), FOLLOWING_SEATS) : strips(pass);
    struct crew_work work = {.part = run_bands,
                             .context = &followed,
                             .parts = followed.parts,
                             .seats = seats,
                             .feed = producer ? make_picture : NULL};
    return crew_run(crew, &work, err);
}
