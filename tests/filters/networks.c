/* SPDX-License-Identifier: MIT */
#include "tests/filters/networks.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define PICTURE NETWORK_PICTURE
#define NONE NETWORK_NONE

static const struct network_layer mixed_layers[] = {
    {"stem", NETWORK_DENSE, PICTURE, NONE, 3, 16, 2, true},
    {"deep", NETWORK_DEPTH, 0, NONE, 16, 16, 1, true},
    {"narrow", NETWORK_POINT, 1, NONE, 16, 8, 1, false},
    {"wide", NETWORK_POINT, 2, NONE, 8, 48, 1, true},
    {"filter", NETWORK_DEPTH, 3, NONE, 48, 48, 1, true},
    {"added", NETWORK_POINT, 4, 2, 48, 8, 1, false},
    {"mixed", NETWORK_POINT, 5, NONE, 8, 32, 1, true},
    {"halved", NETWORK_DEPTH, 6, NONE, 32, 32, 2, true},
    {"eighth", NETWORK_DENSE, 7, NONE, 32, 24, 2, true},
    {"quarter", NETWORK_UP, 8, NONE, 24, 12, 2, true},
    {"half", NETWORK_UP, 9, NONE, 12, 8, 2, true},
    {"merged", NETWORK_POINT, 5, 10, 8, 8, 1, true},
    {"smooth", NETWORK_DENSE, 11, NONE, 8, 20, 1, true},
    {"heads", NETWORK_HEADS, 12, NONE, 20, 5, 1, false},
};

static const struct network_layer odd_layers[] = {
    {"stem", NETWORK_DENSE, PICTURE, NONE, 3, 21, 2, true},
    {"beside", NETWORK_POINT, 0, NONE, 21, 35, 1, true},
    {"window", NETWORK_DENSE, 0, 1, 21, 35, 1, true},
    {"less", NETWORK_DENSE, 2, NONE, 35, 70, 2, true},
    {"more", NETWORK_POINT, 3, NONE, 70, 130, 1, false},
    {"heads", NETWORK_HEADS, 4, NONE, 130, 1, 1, false},
};

static const struct network_layer block_layers[] = {
    {"stem", NETWORK_DENSE, PICTURE, NONE, 3, 32, 2, true},
    {"stem_depth", NETWORK_DEPTH, 0, NONE, 32, 32, 1, true},
    {"stem_project", NETWORK_POINT, 1, NONE, 32, 16, 1, false},
    {"one_expand", NETWORK_POINT, 2, NONE, 16, 64, 1, true},
    {"one_depth", NETWORK_DEPTH, 3, NONE, 64, 64, 2, true},
    {"one_project", NETWORK_POINT, 4, NONE, 64, 32, 1, false},
    {"two_expand", NETWORK_POINT, 5, NONE, 32, 160, 1, true},
    {"two_depth", NETWORK_DEPTH, 6, NONE, 160, 160, 1, true},
    {"two_project", NETWORK_POINT, 7, 5, 160, 32, 1, false},
    {"three_expand", NETWORK_POINT, 8, NONE, 32, 96, 1, true},
    {"three_depth", NETWORK_DEPTH, 9, NONE, 96, 96, 2, true},
    {"three_project", NETWORK_POINT, 10, NONE, 96, 64, 1, false},
    {"neck", NETWORK_POINT, 11, NONE, 64, 24, 1, true},
    {"up", NETWORK_UP, 12, NONE, 24, 24, 2, true},
    {"merged", NETWORK_POINT, 8, 13, 32, 24, 1, true},
    {"smooth", NETWORK_DENSE, 14, NONE, 24, 24, 1, true},
    {"heads", NETWORK_HEADS, 15, NONE, 24, 6, 1, false},
};

static int32_t least(const struct model_weights *weights, double threshold) {
    (void)weights;
    return threshold > 0 ? INT32_MAX : INT32_MIN;
}

static const struct network mixed_network = {
    .layer = mixed_layers, .layers = COUNT(mixed_layers), .unit = 8, .cell = 2, .sums = 5};
const struct detector networks_mixed = {
    .name = "mixed", .thing = "mixed", .network = &mixed_network, .least = least, .magic = "blurdts1"};

static const struct network odd_network = {
    .layer = odd_layers, .layers = COUNT(odd_layers), .unit = 4, .cell = 4, .sums = 1};
const struct detector networks_odd = {
    .name = "odd", .thing = "odd", .network = &odd_network, .least = least, .magic = "blurdts2"};

static const struct network block_network = {
    .layer = block_layers, .layers = COUNT(block_layers), .unit = 8, .cell = 4, .sums = 6};
const struct detector networks_blocks = {
    .name = "blocks", .thing = "block", .network = &block_network, .least = least, .magic = "blurdts3"};
