/* SPDX-License-Identifier: MIT */
#include "filters/argument/matrix.h"

#include <math.h>
#include <string.h>

#include "filters/argument/value.h"

static const double value_max = 1e6;

struct matrix_reader {
    const struct argument *row;
    const char *at;
    bool json;
    unsigned in_row;  /* numbers read of the current row */
    unsigned columns; /* of the first row; 0: not known yet */
    struct matrix *matrix;
    struct error *err;
};

static void skip_space(struct matrix_reader *reader) {
    while (reader->json && *reader->at && strchr(" \t\r\n", *reader->at)) {
        reader->at++;
    }
}

static enum status refuse(struct matrix_reader *reader, const char *rule) {
    char buffer[VALUE_QUOTE_MAX];
    return fail_argument(reader->err, reader->row->name, "%s: \"%s\" %s", reader->row->name,
                         value_quote(reader->at, buffer), rule);
}

static enum status read_number(struct matrix_reader *reader) {
    struct matrix *matrix = reader->matrix;
    size_t length = strcspn(reader->at, ",;[] \t\r\n");
    char text[32];
    if (length >= sizeof text) {
        return refuse(reader, "is not a number");
    }
    memcpy(text, reader->at, length);
    text[length] = '\0';
    double value;
    if (!value_number(text, true, &value)) {
        return refuse(reader, "is not a number");
    }
    if (fabs(value) > value_max) {
        return refuse(reader, "is out of range, numbers are from -1000000 to 1000000");
    }
    if (matrix->count == MATRIX_MAX) {
        return fail_argument(reader->err, reader->row->name, "%s has more than %d numbers", reader->row->name,
                             MATRIX_MAX);
    }
    matrix->value[matrix->count++] = value;
    reader->in_row++;
    reader->at += length;
    skip_space(reader);
    return ST_OK;
}

static enum status end_row(struct matrix_reader *reader) {
    struct matrix *matrix = reader->matrix;
    if (matrix->rows == 0) {
        reader->columns = reader->in_row;
    }
    matrix->rows++;
    if (reader->in_row != reader->columns) {
        return fail_argument(reader->err, reader->row->name,
                             "%s: row %u has %u numbers, the first one has %u: rows must be equally long",
                             reader->row->name, matrix->rows, reader->in_row, reader->columns);
    }
    reader->in_row = 0;
    return ST_OK;
}

/* number, "," number, ... */
static enum status read_numbers(struct matrix_reader *reader) {
    enum status status = read_number(reader);
    while (status == ST_OK && *reader->at == ',') {
        reader->at++;
        skip_space(reader);
        status = read_number(reader);
    }
    return status == ST_OK ? end_row(reader) : status;
}

static enum status expect(struct matrix_reader *reader, char sign, const char *rule) {
    if (*reader->at != sign) {
        return refuse(reader, rule);
    }
    reader->at++;
    skip_space(reader);
    return ST_OK;
}

static enum status read_json_row(struct matrix_reader *reader) {
    enum status status = expect(reader, '[', "is not the start of a row, [");
    status = status == ST_OK ? read_numbers(reader) : status;
    return status == ST_OK ? expect(reader, ']', "is not the end of a row, ]") : status;
}

static enum status read_json(struct matrix_reader *reader) {
    skip_space(reader);
    enum status status = expect(reader, '[', "is not the start of an array, [");
    if (status == ST_OK && *reader->at != '[') {
        status = read_numbers(reader);
    } else if (status == ST_OK) {
        status = read_json_row(reader);
        while (status == ST_OK && *reader->at == ',') {
            reader->at++;
            skip_space(reader);
            status = read_json_row(reader);
        }
    }
    return status == ST_OK ? expect(reader, ']', "is not the end of the array, ]") : status;
}

static enum status read_rows(struct matrix_reader *reader) {
    enum status status = read_numbers(reader);
    while (status == ST_OK && *reader->at == ';') {
        reader->at++;
        status = read_numbers(reader);
    }
    return status;
}

enum status matrix_parse(const struct argument *row, const char *text, void *target, struct error *err) {
    struct matrix_reader reader = {.row = row, .at = text, .matrix = target, .err = err};
    *reader.matrix = (struct matrix){0};
    reader.json = text[strspn(text, " \t\r\n")] == '[';
    enum status status = reader.json ? read_json(&reader) : read_rows(&reader);
    if (status == ST_OK && *reader.at) {
        return refuse(&reader, "follows the matrix; rows are separated by ; and numbers by ,");
    }
    return status;
}
