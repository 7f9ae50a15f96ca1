/* SPDX-License-Identifier: MIT */
#include "server/process/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals_open(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC);
}

int signals_wait(int signals) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) != sizeof info) {
    }
    return (int)info.ssi_signo;
}
