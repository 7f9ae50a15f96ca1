/* SPDX-License-Identifier: MIT */
#include "cpu/bands.h"

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
    if (size > BANDS_MEMORY / 2) {
        return 1;
    }
    unsigned seats = crew_seats(crew, pass_work(pass));
    return seats * size <= BANDS_MEMORY ? seats : (unsigned)(BANDS_MEMORY / size);
}

/* Each plane gets its share of the parts, at least one. */
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

static enum status run_band(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)err;
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
    bands->pass->band(bands->pass->context, &band);
    return ST_OK;
}

void bands_run(struct crew *crew, unsigned seats, const struct pass *pass) {
    struct bands bands = {.pass = pass};
    unsigned parts = cut(&bands, crew_parts(crew, pass_work(pass), seats));
    struct crew_work work = {.part = run_band, .context = &bands, .parts = parts, .seats = seats};
    crew_run(crew, &work, NULL); /* bands do not fail */
}
