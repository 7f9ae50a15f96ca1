/* SPDX-License-Identifier: MIT
 * A process enters the daemon's sandbox and tries what a decoder that was taken over would try. */
#include "server/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sanitizers.h"
#include "core/slot_file.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */

static char folder[] = "/tmp/blurd-sandbox-XXXXXX";
static char allowed[64];   /* a file that SIGHUP would read */
static int tcp, memory;    /* descriptors from before */
static int notify;         /* a datagram socket, connected to the service manager's path */
static int manager, other; /* sockets that listen there, and on a path beside it */

/* --- attempts ------------------------------------------------------------------------------ */
static struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = 0x0900};
static struct iovec piece = {folder, 1};
static struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

static struct sockaddr_un path_of(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    return address;
}

static struct sockaddr_un elsewhere;

static long send_elsewhere(long fd) {
    struct msghdr packet = {
        .msg_name = &elsewhere, .msg_namelen = sizeof elsewhere, .msg_iov = &piece, .msg_iovlen = 1};
    return syscall(SYS_sendmsg, fd, &packet, 0);
}

static long try_send_to_a_path(void) {
    return send_elsewhere(notify);
}

/* The kernel takes a descriptor's lower half, and ignores the upper one. */
static long try_send_to_a_path_by_a_wide_number(void) {
    return send_elsewhere(notify | 1L << 32);
}

/* A descriptor under another number, by sending it to itself. */
static long try_receive_a_descriptor(void) {
    union {
        char memory[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct msghdr packet = {.msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = control.memory,
                            .msg_controllen = sizeof control.memory};
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    *header = (struct cmsghdr){CMSG_LEN(sizeof notify), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &notify, sizeof notify);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        sendmsg(pair[0], &packet, 0) != 1) {
        return 0; /* which is to work */
    }
    return recvmsg(pair[1], &packet, 0);
}

static long try_namespace(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        _exit(0);
    }
    return pid;
}

/* Stand for values that are known at run time only. */
enum { TCP = -1001, MEMORY = -1002, NOTIFY = -1004 };

static int two[2];
static union {
    struct stat stat;
    char bytes[512]; /* as the kernel needs for others */
} facts;

static const struct forbidden attempts[] = {
    FILES("read /etc/passwd", openat, AT_FDCWD, TEXT("/etc/passwd")),
    FILES("read its environment", openat, AT_FDCWD, TEXT("/proc/self/environ")),
    CALL("list a folder", openat, AT_FDCWD, TEXT(folder), O_DIRECTORY),
    CALL("write a file", openat, AT_FDCWD, TEXT(allowed), O_WRONLY),
    CALL("append to a file", openat, AT_FDCWD, TEXT(allowed), O_RDWR | O_APPEND),
    CALL("create a file", openat, AT_FDCWD, TEXT("/tmp/blurd-new"), O_WRONLY | O_CREAT, 0600),
    CALL("create an unnamed file", openat, AT_FDCWD, TEXT("/tmp"), O_TMPFILE | O_RDWR, 0600),
    CALL("name a folder", openat, AT_FDCWD, TEXT("/"), O_PATH),
    CALL("truncate", truncate, TEXT(allowed)),
    CALL("unlink", unlinkat, AT_FDCWD, TEXT(allowed)),
    CALL("rename", renameat2, AT_FDCWD, TEXT(allowed), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("link", linkat, AT_FDCWD, TEXT(allowed), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("symlink", symlinkat, TEXT("/etc/passwd"), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("mkdir", mkdirat, AT_FDCWD, TEXT("/tmp/blurd-new"), 0700),
    CALL("mkfifo", mknodat, AT_FDCWD, TEXT("/tmp/blurd-new"), S_IFIFO | 0600),
    CALL("chmod", fchmodat, AT_FDCWD, TEXT(allowed), 0777),
    CALL("chown", fchownat, AT_FDCWD, TEXT(allowed), 1, 1),
    CALL("chroot", chroot, TEXT("/")),
    CALL("run a program from memory", execveat, MEMORY, TEXT(""), 0, 0, 0x1000 /* AT_EMPTY_PATH */),
    {.text = "fork into a name space", .function = try_namespace},
    CALL("have the kernel signal it", fcntl, TCP, F_SETOWN, PARENT),
    CALL("socket AF_INET6", socket, AF_INET6, SOCK_DGRAM),
    CALL("socket AF_UNIX", socket, AF_UNIX, SOCK_STREAM),
    CALL("socket AF_NETLINK", socket, AF_NETLINK, SOCK_RAW),
    CALL("socket AF_PACKET", socket, AF_PACKET, SOCK_RAW),
    CALL("connect", connect, TCP, (long)&loopback, sizeof loopback),
    CALL("connect while sending", sendto, TCP, TEXT("x"), 1, MSG_FASTOPEN, (long)&loopback, sizeof loopback),
    CALL("bind", bind, TCP, (long)&loopback, sizeof loopback),
    CALL("listen", listen, TCP, 1),
    CALL("a pair of streams", socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)two),
    CALL("send to a path", sendto, NOTIFY, TEXT("x"), 1, 0, (long)&elsewhere, sizeof elsewhere),
    {.text = "send a message to a path", .function = try_send_to_a_path},
    {.text = "send a message to a path, by a wide number", .function = try_send_to_a_path_by_a_wide_number},
    CALL("send messages", sendmmsg, NOTIFY),
    CALL("copy a descriptor", dup, NOTIFY),
    CALL("copy a descriptor to a number with flags", dup3, NOTIFY, 99, O_CLOEXEC),
    CALL("copy a descriptor by fcntl", fcntl, NOTIFY, F_DUPFD, 99),
    CALL("copy the service manager's socket", fcntl, NOTIFY, F_DUPFD_CLOEXEC, 99),
    {.text = "receive a descriptor", .function = try_receive_a_descriptor},
    CALL("receive descriptors", recvmmsg, TCP),
    CALL("stat from a folder", newfstatat, AT_FDCWD, TEXT("/etc/passwd"), (long)&facts),
#ifdef SYS_stat // younger architectures are without
    CALL("copy a descriptor to a number", dup2, NOTIFY, 99),
    CALL("stat a path", stat, TEXT("/etc/passwd"), (long)&facts),
    CALL("stat a link", lstat, TEXT("/etc/passwd"), (long)&facts),
    CALL("access", access, TEXT("/etc/passwd")),
#endif
    CALL("statx", statx, AT_FDCWD, TEXT("/etc/passwd"), 0, 0, (long)&facts),
    CALL("access from a folder", faccessat, AT_FDCWD, TEXT("/etc/passwd")),
    CALL("read a link", readlinkat, AT_FDCWD, TEXT("/proc/self/exe"), (long)&facts, sizeof facts),
    CALL("the file system of a path", statfs, TEXT("/"), (long)&facts),
    CALL("attributes of a path", getxattr, TEXT("/etc/passwd"), TEXT("user.x"), (long)&facts, 1),
    CALL("a file to run", mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, MEMORY),
    CALL("core dumps again", prctl, PR_SET_DUMPABLE, 1),
    CALL("limits again", prlimit64, 0, RLIMIT_CORE, (long)&unlimited),
    CALL("type at a terminal", ioctl, MEMORY, TIOCSTI, TEXT("x")),
    CALL("add_key", add_key, 0),
    CALL("umount", umount2, 0),
    CALL("pivot_root", pivot_root, 0),
    CALL("setns", setns, 0),
    CALL("init_module", init_module, 0),
    CALL("kexec_load", kexec_load, 0),
    CALL("io_setup", io_setup, 0),
    CALL("inotify_init", inotify_init1, 0),
    CALL("sethostname", sethostname, 0),
    CALL("capset", capset, 0),
    CALL("somebody else's priority", setpriority, PRIO_PROCESS, 1, 5),
    CALL("all processes' priority", setpriority, PRIO_USER, 0, 5),
    CALL("open_by_handle_at", open_by_handle_at, 0),
    CALL("openat2", openat2, 0),
};
enum { OWN = sizeof attempts / sizeof attempts[0], ATTEMPTS = OWN + FORBIDDEN_ANYWHERE };

static long known(long argument) {
    return argument == TCP ? tcp : argument == MEMORY ? memory : argument == NOTIFY ? notify : argument;
}

/* --- allowed calls ------------------------------------------------------------------------- */
static void *nothing(void *argument) {
    return argument;
}

static bool can_make_a_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool can_read_again(void) {
    char text[8] = "";
    FILE *file = fopen(allowed, "re");
    bool good = file && fgets(text, sizeof text, file) && strcmp(text, "hello\n") == 0;
    return good && fclose(file) == 0;
}

static bool can_do_its_work(void) {
    int pair[2];
    void *place = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int slot = slot_file(4096);
    return place != MAP_FAILED && slot >= 0 && fallocate(slot, 0, 0, 4096) == 0 &&
           eventfd(0, EFD_CLOEXEC) >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 &&
           send(pair[0], "x", 1, MSG_NOSIGNAL) == 1;
}

/* Datagrams go to the path that the socket is connected to, and nowhere else. */
static bool can_notify(void) {
    char text[8];
    return send(notify, "READY=1", 7, MSG_NOSIGNAL) == 7 && recv(manager, text, sizeof text, 0) == 7 &&
           recv(other, text, sizeof text, MSG_DONTWAIT) < 0;
}

static bool can_keep_a_connection(void) {
    int copy = fcntl(tcp, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 && close(copy) == 0;
}

/* --- the children -------------------------------------------------------------------------- */
static bool close_in(struct sandbox *sandbox, bool with_file) {
    struct config config;
    struct error err = {0};
    config_default(&config);
    snprintf(config.token_file, sizeof config.token_file, "%.63s", with_file ? allowed : "");
    sandbox->notify = notify;
    sandbox->pairs = with_file;
    sandbox_hide(&config);
    return sandbox_files(sandbox, &config, NULL, &err) == ST_OK &&
           sandbox_calls(sandbox, &config, &err) == ST_OK && sandbox->calls > 0;
}

static bool attacker(const struct sandbox *sandbox) {
    int blocked = count_blocked(attempts, OWN, known, sandbox->landlock > 0, "its own thread");
    dprintf(STDOUT_FILENO, "%d of %d blocked, Landlock %u\n", blocked, ATTEMPTS, sandbox->landlock);
    return blocked == ATTEMPTS;
}

static bool worker(const struct sandbox *sandbox) {
    (void)sandbox;
    bool good = can_make_a_thread() && can_read_again() && can_do_its_work();
    return good && can_notify() && can_keep_a_connection();
}

static bool without_files(const struct sandbox *sandbox) {
    (void)sandbox;
    bool closed = open(allowed, O_RDONLY) < 0 && open("/", O_RDONLY) < 0;
    return closed && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, two) < 0;
}

static bool hidden(const struct sandbox *sandbox) {
    (void)sandbox;
    struct rlimit limit;
    return prctl(PR_GET_DUMPABLE) == 0 && getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0;
}

static bool aborting(const struct sandbox *sandbox) {
    (void)sandbox;
    abort();
}

static bool switched_off(const struct sandbox *sandbox) {
    (void)sandbox;
    struct config config;
    struct sandbox none = SANDBOX_NOTHING;
    struct error err = {0};
    config_default(&config);
    config.sandbox = CHOICE_sandbox_off;
    sandbox_hide(&config);
    bool good =
        sandbox_files(&none, &config, NULL, &err) == ST_OK && sandbox_calls(&none, &config, &err) == ST_OK;
    return good && open("/etc/passwd", O_RDONLY) >= 0 && try_fork() > 0 && try_memory_made_to_run() == 0;
}

/* --- tests --------------------------------------------------------------------------------- */
static int listen_at(const char *name) {
    struct sockaddr_un address = path_of(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

static bool open_sockets(void) {
    struct sockaddr_un address = path_of("manager");
    elsewhere = path_of("other");
    manager = listen_at("manager");
    other = listen_at("other");
    notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return manager >= 0 && other >= 0 && connect(notify, (struct sockaddr *)&address, sizeof address) == 0;
}

static int prepare(void **state) {
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(allowed, sizeof allowed, "%s/tokens", folder);
    FILE *file = fopen(allowed, "w");
    tcp = socket(AF_INET, SOCK_STREAM, 0);
    memory = memfd_create("program", 0);
    bool written = file && fputs("hello\n", file) >= 0 && fclose(file) == 0;
    return written && ftruncate(memory, 4096) == 0 && open_sockets() ? 0 : -1;
}

static int tidy(void **state) {
    (void)state;
    bool removed = unlink(path_of("manager").sun_path) == 0 && unlink(elsewhere.sun_path) == 0;
    return removed && unlink(allowed) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

struct child {
    const char *name; /* of the test */
    bool sandboxed, with_file;
    bool (*act)(const struct sandbox *sandbox); /* true: all is as it should be */
    int code;                                   /* its exit code, or -(signal) */
};

/* Runs the child and returns its exit code, or -(signal); 77: it could not enter the sandbox. */
static int run(const struct child *child) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox sandbox = SANDBOX_NOTHING;
        _exit(child->sandboxed && !close_in(&sandbox, child->with_file) ? 77 : !child->act(&sandbox));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_child(void **state) {
    const struct child *child = *state;
    int code = SANITIZED && child->sandboxed ? 77 : run(child);
    if (child->sandboxed && code == 77) {
        skip(); /* no seccomp here, or a leak detector that needs these calls */
    }
    assert_int_equal(code, child->code);
}

static struct child children[] = {
    {"test_what_is_closed", true, true, attacker, 0},
    {"test_what_is_left", true, true, worker, 0},
    {"test_what_is_not_needed_is_closed", true, false, without_files, 0},
    {"test_no_core_dumps", true, false, hidden, 0},
    {"test_abort_still_ends_it", true, false, aborting, -SIGABRT},
    {"test_off", false, false, switched_off, 0},
};

int main(void) {
    struct CMUnitTest tests[sizeof children / sizeof *children];
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        tests[i] = (struct CMUnitTest){children[i].name, test_child, NULL, NULL, &children[i]};
    }
    return cmocka_run_group_tests(tests, prepare, tidy);
}
