/* SPDX-License-Identifier: MIT */
#include "tests/filters/networks.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define PICTURE NETWORK_PICTURE
#define NONE NETWORK_NONE
#define RELU NETWORK_RELU
#define LINEAR NETWORK_LINEAR

static const struct network_layer mixed_layers[] = {
    {"stem", NETWORK_DENSE, 3, PICTURE, NONE, 3, 16, 2, RELU},
    {"deep", NETWORK_DEPTH, 3, 0, NONE, 16, 16, 1, RELU},
    {"narrow", NETWORK_POINT, 1, 1, NONE, 16, 8, 1, LINEAR},
    {"wide", NETWORK_POINT, 1, 2, NONE, 8, 48, 1, RELU},
    {"filter", NETWORK_DEPTH, 3, 3, NONE, 48, 48, 1, RELU},
    {"added", NETWORK_POINT, 1, 4, 2, 48, 8, 1, LINEAR},
    {"mixed", NETWORK_POINT, 1, 5, NONE, 8, 32, 1, RELU},
    {"halved", NETWORK_DEPTH, 3, 6, NONE, 32, 32, 2, RELU},
    {"eighth", NETWORK_DENSE, 3, 7, NONE, 32, 24, 2, RELU},
    {"quarter", NETWORK_UP, 2, 8, NONE, 24, 12, 2, RELU},
    {"half", NETWORK_UP, 2, 9, NONE, 12, 8, 2, RELU},
    {"merged", NETWORK_POINT, 1, 5, 10, 8, 8, 1, RELU},
    {"smooth", NETWORK_DENSE, 3, 11, NONE, 8, 20, 1, RELU},
    {"heads", NETWORK_HEADS, 1, 12, NONE, 20, 5, 1, LINEAR},
};

static const struct network_layer odd_layers[] = {
    {"stem", NETWORK_DENSE, 3, PICTURE, NONE, 3, 21, 2, RELU},
    {"beside", NETWORK_POINT, 1, 0, NONE, 21, 35, 1, RELU},
    {"window", NETWORK_DENSE, 3, 0, 1, 21, 35, 1, RELU},
    {"less", NETWORK_DENSE, 3, 2, NONE, 35, 70, 2, RELU},
    {"more", NETWORK_POINT, 1, 3, NONE, 70, 130, 1, LINEAR},
    {"heads", NETWORK_HEADS, 1, 4, NONE, 130, 1, 1, LINEAR},
};

static const struct network_layer block_layers[] = {
    {"stem", NETWORK_DENSE, 3, PICTURE, NONE, 3, 32, 2, RELU},
    {"stem_depth", NETWORK_DEPTH, 3, 0, NONE, 32, 32, 1, RELU},
    {"stem_project", NETWORK_POINT, 1, 1, NONE, 32, 16, 1, LINEAR},
    {"one_expand", NETWORK_POINT, 1, 2, NONE, 16, 64, 1, RELU},
    {"one_depth", NETWORK_DEPTH, 3, 3, NONE, 64, 64, 2, RELU},
    {"one_project", NETWORK_POINT, 1, 4, NONE, 64, 32, 1, LINEAR},
    {"two_expand", NETWORK_POINT, 1, 5, NONE, 32, 160, 1, RELU},
    {"two_depth", NETWORK_DEPTH, 3, 6, NONE, 160, 160, 1, RELU},
    {"two_project", NETWORK_POINT, 1, 7, 5, 160, 32, 1, LINEAR},
    {"three_expand", NETWORK_POINT, 1, 8, NONE, 32, 96, 1, RELU},
    {"three_depth", NETWORK_DEPTH, 3, 9, NONE, 96, 96, 2, RELU},
    {"three_project", NETWORK_POINT, 1, 10, NONE, 96, 64, 1, LINEAR},
    {"neck", NETWORK_POINT, 1, 11, NONE, 64, 24, 1, RELU},
    {"up", NETWORK_UP, 2, 12, NONE, 24, 24, 2, RELU},
    {"merged", NETWORK_POINT, 1, 8, 13, 32, 24, 1, RELU},
    {"smooth", NETWORK_DENSE, 3, 14, NONE, 24, 24, 1, RELU},
    {"heads", NETWORK_HEADS, 1, 15, NONE, 24, 6, 1, LINEAR},
};

/* All kinds of layers, as networks that find text have them. */
static const struct network_layer map_layers[] = {
    {"stem", NETWORK_DENSE, 3, PICTURE, NONE, 3, 24, 2, RELU},
    {"pool", NETWORK_POOL, 2, 0, NONE, 24, 24, 1, LINEAR},
    {"branch", NETWORK_DENSE, 3, 0, NONE, 24, 12, 1, RELU},
    {"branch_end", NETWORK_DENSE, 3, 2, NONE, 12, 24, 1, RELU},
    {"stem_join", NETWORK_CONCAT, 1, 1, 3, 24, 48, 1, LINEAR},
    {"stem_end", NETWORK_DENSE, 3, 4, NONE, 48, 24, 2, RELU},
    {"widen", NETWORK_POINT, 1, 5, NONE, 24, 48, 1, RELU},
    {"depth", NETWORK_DEPTH, 3, 6, NONE, 48, 48, 1, LINEAR},
    {"excite", NETWORK_EXCITE, 12, 7, NONE, 48, 48, 1, LINEAR},
    {"expand", NETWORK_POINT, 1, 8, NONE, 48, 96, 1, NETWORK_TABLE},
    {"project", NETWORK_POINT, 1, 9, 8, 96, 48, 1, LINEAR},
    {"halve", NETWORK_DEPTH, 3, 10, NONE, 48, 48, 2, LINEAR},
    {"wide", NETWORK_POINT, 1, 11, NONE, 48, 160, 1, NETWORK_TABLE},
    {"narrow", NETWORK_POINT, 1, 12, NONE, 160, 48, 1, LINEAR},
    {"low", NETWORK_EXCITE, 6, 13, NONE, 48, 48, 1, LINEAR},
    {"lateral", NETWORK_POINT, 1, 10, NONE, 48, 48, 1, LINEAR},
    {"high", NETWORK_EXCITE, 13, 15, 14, 48, 48, 1, LINEAR},
    {"far", NETWORK_DEPTH, 7, 14, NONE, 48, 48, 1, LINEAR},
    {"far_end", NETWORK_POINT, 1, 17, NONE, 48, 20, 1, LINEAR},
    {"near", NETWORK_DEPTH, 7, 16, NONE, 48, 48, 1, LINEAR},
    {"near_end", NETWORK_POINT, 1, 19, NONE, 48, 28, 1, LINEAR},
    {"near_excite", NETWORK_EXCITE, 7, 20, NONE, 28, 28, 1, LINEAR},
    {"join", NETWORK_CONCAT, 1, 18, 21, 20, 48, 1, LINEAR},
    {"smooth", NETWORK_DENSE, 3, 22, NONE, 48, 24, 1, RELU},
    {"half", NETWORK_UP, 2, 23, NONE, 24, 24, 2, RELU},
    {"map", NETWORK_UP, 2, 24, NONE, 24, 1, 2, LINEAR},
    {"deep", NETWORK_POINT, 1, 13, NONE, 48, 32, 1, RELU},
    {"deep_window", NETWORK_DEPTH, 5, 26, NONE, 32, 32, 1, LINEAR},
    {"deep_end", NETWORK_POINT, 1, 27, NONE, 32, 28, 1, RELU},
    {"shallow", NETWORK_POINT, 1, 10, NONE, 48, 20, 1, RELU},
    {"head_join", NETWORK_CONCAT, 1, 28, 29, 28, 48, 1, LINEAR},
    {"head_window", NETWORK_DEPTH, 3, 30, NONE, 48, 48, 1, LINEAR},
    {"head_end", NETWORK_POINT, 1, 31, NONE, 48, 32, 1, RELU},
    {"head_map", NETWORK_UP, 2, 32, NONE, 32, 1, 2, LINEAR},
};

/* Two results with anchors; a layer between them is read by both. */
static const struct network_layer anchor_layers[] = {
    {"stem", NETWORK_DENSE, 3, PICTURE, NONE, 3, 16, 2, RELU},
    {"halve", NETWORK_DEPTH, 3, 0, NONE, 16, 16, 2, RELU},
    {"wide", NETWORK_POINT, 1, 1, NONE, 16, 32, 1, RELU},
    {"few_scores", NETWORK_POINT, 1, 2, NONE, 32, 4, 1, LINEAR},
    {"few_window", NETWORK_DEPTH, 3, 2, NONE, 32, 32, 1, RELU},
    {"few_places", NETWORK_POINT, 1, 4, NONE, 32, 12, 1, LINEAR},
    {"few", NETWORK_CONCAT, 1, 3, 5, 4, 16, 1, LINEAR},
    {"less", NETWORK_DEPTH, 3, 2, NONE, 32, 32, 2, RELU},
    {"scores", NETWORK_POINT, 1, 7, NONE, 32, 4, 1, LINEAR},
    {"first_half", NETWORK_POINT, 1, 7, NONE, 32, 8, 1, LINEAR},
    {"window", NETWORK_DEPTH, 3, 7, NONE, 32, 32, 1, RELU},
    {"places", NETWORK_POINT, 1, 10, 9, 32, 8, 1, LINEAR},
    {"cells", NETWORK_CONCAT, 1, 8, 11, 4, 12, 1, LINEAR},
};

static int32_t least(const struct model_weights *weights, double threshold) {
    (void)weights;
    return threshold > 0 ? INT32_MAX : INT32_MIN;
}

static const struct network mixed_network = {.layer = mixed_layers,
                                             .layers = COUNT(mixed_layers),
                                             .unit = 8,
                                             .sums = 5,
                                             .outputs = 1,
                                             .output = {COUNT(mixed_layers) - 1}};
const struct detector networks_mixed = {
    .name = "mixed", .thing = "mixed", .network = &mixed_network, .least = least, .magic = "blurdts1"};

static const struct network odd_network = {.layer = odd_layers,
                                           .layers = COUNT(odd_layers),
                                           .unit = 4,
                                           .sums = 1,
                                           .outputs = 1,
                                           .output = {COUNT(odd_layers) - 1}};
const struct detector networks_odd = {
    .name = "odd", .thing = "odd", .network = &odd_network, .least = least, .magic = "blurdts2"};

static const struct network block_network = {.layer = block_layers,
                                             .layers = COUNT(block_layers),
                                             .unit = 8,
                                             .sums = 6,
                                             .outputs = 1,
                                             .output = {COUNT(block_layers) - 1}};
const struct detector networks_blocks = {
    .name = "blocks", .thing = "block", .network = &block_network, .least = least, .magic = "blurdts3"};

static const struct network map_network = {.layer = map_layers,
                                           .layers = COUNT(map_layers),
                                           .unit = 8,
                                           .outputs = 2,
                                           .output = {25, COUNT(map_layers) - 1}};
const struct detector networks_map = {
    .name = "map", .thing = "map", .network = &map_network, .least = least, .magic = "blurdts4"};
const struct detector networks_head = {.name = "head",
                                       .thing = "map",
                                       .network = &map_network,
                                       .output = 1,
                                       .least = least,
                                       .magic = "blurdts4"};

static const struct network anchor_network = {.layer = anchor_layers,
                                              .layers = COUNT(anchor_layers),
                                              .unit = 8,
                                              .outputs = 2,
                                              .output = {6, COUNT(anchor_layers) - 1},
                                              .anchors = {3, 2}};
const struct detector networks_anchors = {
    .name = "anchors", .thing = "anchor", .network = &anchor_network, .least = least, .magic = "blurdts5"};
