/* Which calls there are, the filter that stops a program at them, and the errors that each can give. */
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

const struct call calls[] = {
    {"openat", SYS_openat, FILES, 0, 1, 2, 0},
    {"write", SYS_write, FILES, 0, -1, -1, 1},
    {"pwrite64", SYS_pwrite64, FILES, 0, -1, -1, 1},
    {"writev", SYS_writev, FILES, 0, -1, -1, 0},
    {"fsync", SYS_fsync, FILES, 0, -1, -1, 0},
    {"fdatasync", SYS_fdatasync, FILES, 0, -1, -1, 0},
    {"renameat2", SYS_renameat2, FILES, 2, 3, -1, 0},
    {"unlinkat", SYS_unlinkat, FILES, 0, 1, -1, 0},
    {"ftruncate", SYS_ftruncate, FILES, 0, -1, -1, 0},
    {"fallocate", SYS_fallocate, FILES, 0, -1, -1, 0},
    {"flock", SYS_flock, FILES, 0, -1, -1, 0},
    {"mkdirat", SYS_mkdirat, FILES, 0, 1, -1, 0},
    {"linkat", SYS_linkat, FILES, 2, 3, -1, 0},
    {"symlinkat", SYS_symlinkat, FILES, 1, 2, -1, 0},
#ifdef SYS_renameat
    {"renameat", SYS_renameat, FILES, 2, 3, -1, 0},
#endif
#ifdef SYS_open
    {"open", SYS_open, FILES, -1, 0, 1, 0},
    {"rename", SYS_rename, FILES, -1, 1, -1, 0},
    {"unlink", SYS_unlink, FILES, -1, 0, -1, 0},
    {"mkdir", SYS_mkdir, FILES, -1, 0, -1, 0},
    {"rmdir", SYS_rmdir, FILES, -1, 0, -1, 0},
    {"link", SYS_link, FILES, -1, 1, -1, 0},
    {"symlink", SYS_symlink, FILES, -1, 1, -1, 0},
#endif
    {"sendmsg", SYS_sendmsg, SOCKETS, 0, -1, -1, 0},
    {"sendto", SYS_sendto, SOCKETS, 0, -1, -1, 0},
    {"recvmsg", SYS_recvmsg, SOCKETS, 0, -1, -1, 0},
    {"recvfrom", SYS_recvfrom, SOCKETS, 0, -1, -1, 0},
};
const int call_count = sizeof calls / sizeof *calls;

const struct call *call_of(long number) {
    for (int index = 0; index < call_count; index++)
        if (calls[index].number == number) return &calls[index];
    return NULL;
}

int install_filter(int kind) {
    struct sock_filter filter[2 * 64 + 2];
    unsigned short length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int index = 0; index < call_count; index++) {
        if (calls[index].kind != kind) continue;
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[index].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int error_named(const char *name) {
    static const struct { const char *name; int code; } names[] = {
        {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"ECONNRESET", ECONNRESET},
    };
    for (size_t index = 0; index < sizeof names / sizeof *names; index++)
        if (!strcmp(names[index].name, name)) return names[index].code;
    fprintf(stderr, "inject: no error %s\n", name);
    exit(70);
}

/* A socket has neither a full nor a broken disk, a regular file is never reset; rename and unlink are not interrupted. */
int can_give(pid_t thread, const struct call *call, const struct state *state, int code) {
    if (call->kind == SOCKETS) return code == EINTR || code == ECONNRESET;
    if (code == ECONNRESET) return 0;
    int is_lock = !strcmp(call->name, "flock");
    if (call->path < 0) {
        if (!is_file(thread, state)) return 0;
        /* With LOCK_NB nothing waits, and so nothing is interrupted; unlocking cannot fail. */
        if (is_lock) return code == EINTR && !(state->arguments[1] & 12);
        return 1;
    }
    if (call->flags < 0) return code != EINTR && (code != ENOSPC || !strstr(call->name, "link") || *call->name != 'u');
    return code != ENOSPC || (state->arguments[call->flags] & O_CREAT);
}
