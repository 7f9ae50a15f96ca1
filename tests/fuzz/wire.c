/* SPDX-License-Identifier: MIT
 * Packets of a misbehaving peer, on both sides of the engine's sockets. A packet of the input is a byte of
 * choices, a length of two bytes, and contents, which overwrite part of a correct message. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/process/channel.h"
#include "gpu/wire/wire.h"
#include "tests/fuzz/common/fuzz.h"

union message {
    struct channel_head head;
    struct wire_ready ready;
    struct wire_session lane;
    struct wire_run run;
    struct wire_done done;
};

static const size_t sizes[] = {
    [WIRE_READY] = sizeof(struct wire_ready),
    [WIRE_SESSION] = sizeof(struct wire_session),
    [WIRE_RUN] = sizeof(struct wire_run),
    [WIRE_DONE] = sizeof(struct wire_done),
};

static bool takes_descriptor(enum wire_kind kind) {
    return kind == WIRE_SESSION || kind == WIRE_RUN;
}

static void send_packet(int socket, const void *data, size_t size, unsigned descriptors) {
    union {
        char memory[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    int fds[3] = {socket, socket, socket};
    union message copy;
    memcpy(&copy, data, sizeof copy);
    struct iovec part = {&copy, size};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors > 0) {
        packet.msg_control = control.memory;
        packet.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        memcpy(CMSG_DATA(header), fds, descriptors * sizeof(int));
    }
    fuzz_require(sendmsg(socket, &packet, MSG_NOSIGNAL) == (ssize_t)size, "the packet is sent");
}

/* An accepted message is safe to use. */
static void check(enum wire_kind kind, union message *message) {
    struct error err = {0};
    const struct wire_run asked = {.jpeg.room = 1 << 20};
    if (kind == WIRE_READY && wire_ready_check(&message->ready, &err) == ST_OK) {
        fuzz_require(message->ready.device_count <= WIRE_DEVICES_MAX &&
                         message->ready.pictures <= WIRE_PICTURES_MAX &&
                         memchr(message->ready.device[0].name, '\0', sizeof message->ready.device[0].name),
                     "READY can be shown");
    } else if (kind == WIRE_DONE && wire_done_check(&message->done, &asked, &err) == ST_OK) {
        const struct lane_timing *timing = &message->done.timing;
        int64_t filter = INT64_C(1) << 60;
        fuzz_require(timing->upload_ns >= 0 && timing->download_ns >= 0 &&
                         filter - timing->upload_ns - timing->download_ns > 0,
                     "DONE can be counted with");
        fuzz_require(message->done.size <= asked.jpeg.room, "DONE has no more bytes than there is room");
        fuzz_require(message->done.error.status < ST_COUNT &&
                         memchr(message->done.error.text, '\0', sizeof message->done.error.text),
                     "DONE can be shown");
    }
}

static void receive(int socket, enum wire_kind kind) {
    union message message;
    struct error err = {0};
    int fd = -1;
    int *wanted = takes_descriptor(kind) ? &fd : NULL;
    if (channel_receive(socket, &message, sizes[kind], kind, wanted, 0, &err) == ST_OK) {
        fuzz_require((fd >= 0) == takes_descriptor(kind), "the descriptor came with it");
        check(kind, &message);
    } else {
        fuzz_require(fd < 0 && err.text[0], "a failure is explained and keeps nothing");
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* The lowest number that is free: it rises when a descriptor is lost. */
static int free_number(void) {
    int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    int before = free_number(), pair[2];
    struct error err = {0};
    fuzz_require(channel_pair(pair, &err) == ST_OK, "there is a pair of sockets");
    while (input.size > 0) {
        uint8_t choice = fuzz_byte(&input);
        enum wire_kind kind = (enum wire_kind)(choice % 4 + 1);
        size_t changed = fuzz_short(&input),
               length = choice & 4 ? changed % sizeof(union message) + 1 : sizes[kind];
        union message message = {.head = {CHANNEL_MAGIC, kind, sizes[kind]}};
        size_t from = choice & 8 ? 0 : sizeof message.head;
        for (size_t i = from; i < sizeof message && i - from < changed && input.size > 0; i++) {
            ((uint8_t *)&message)[i] = fuzz_byte(&input);
        }
        send_packet(pair[0], &message, length, (choice >> 4 & 3) % 4);
        receive(pair[1], choice & 64 ? (kind == WIRE_RUN ? WIRE_SESSION : WIRE_RUN) : kind);
    }
    close(pair[0]);
    receive(pair[1], WIRE_DONE);
    close(pair[1]);
    fuzz_require(free_number() == before, "no descriptor is lost");
    return 0;
}
