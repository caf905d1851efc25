/* What a thread that stands before a call has in its registers and its memory. */
#define _GNU_SOURCE
#include "calls.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

int read_state(pid_t thread, struct state *state) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return -1;
    state->number = (long)info.seccomp.nr;
    for (int place = 0; place < 6; place++) state->arguments[place] = info.seccomp.args[place];
    return 0;
}

#if defined(__x86_64__)
typedef struct user_regs_struct registers;

static unsigned long long *argument(registers *all, int place) {
    unsigned long long *places[] = {(void *)&all->rdi, (void *)&all->rsi, (void *)&all->rdx,
                                    (void *)&all->r10, (void *)&all->r8,  (void *)&all->r9};
    return places[place];
}

static void skip(pid_t thread, registers *all, int code) {
    (void)thread;
    all->orig_rax = (unsigned long long)-1;
    all->rax = (unsigned long long)-code;
}
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;

static unsigned long long *argument(registers *all, int place) { return (void *)&all->regs[place]; }

static void skip(pid_t thread, registers *all, int code) {
    int none = -1;
    struct iovec piece = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &piece);
    all->regs[0] = (unsigned long long)-code;
}
#else
#error "inject knows the registers of x86-64 and of 64-bit Arm"
#endif

static int get(pid_t thread, registers *all) {
    struct iovec piece = {all, sizeof *all};
    return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &piece) ? -1 : 0;
}

static int set(pid_t thread, registers *all) {
    struct iovec piece = {all, sizeof *all};
    return ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &piece) ? -1 : 0;
}

int set_argument(pid_t thread, int place, unsigned long long value) {
    registers all;
    if (get(thread, &all)) return -1;
    *argument(&all, place) = value;
    return set(thread, &all);
}

int set_result(pid_t thread, int code) {
    registers all;
    if (get(thread, &all)) return -1;
    skip(thread, &all, code);
    return set(thread, &all);
}

/* Where a link of /proc leads, such as a descriptor's. */
static void link_of(pid_t thread, const char *name, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/%s", (int)thread, name);
    ssize_t count = readlink(link, path, PATH_BYTES - 1);
    path[count > 0 ? count : 0] = 0;
}

static void descriptor_path(pid_t thread, int descriptor, char *path) {
    char name[32] = "cwd";
    if (descriptor >= 0) snprintf(name, sizeof name, "fd/%d", descriptor);
    link_of(thread, name, path);
}

/* A text in the thread's memory, which may end at the last byte of a page. */
static void read_text(pid_t thread, unsigned long long address, char *text) {
    for (size_t count = 0; count < PATH_BYTES; count++) {
        struct iovec here = {text + count, 1}, there = {(void *)(address + count), 1};
        if (process_vm_readv(thread, &here, 1, &there, 1, 0) != 1) text[count] = 0;
        if (!text[count]) return;
    }
    text[PATH_BYTES - 1] = 0;
}

void path_of(pid_t thread, const struct call *call, const struct state *state, char *path) {
    int descriptor = call->descriptor < 0 ? -1 : (int)state->arguments[call->descriptor];
    if (call->path < 0) return descriptor_path(thread, descriptor, path);
    char name[PATH_BYTES];
    read_text(thread, state->arguments[call->path], name);
    if (*name == '/') {
        strcpy(path, name);
        return;
    }
    descriptor_path(thread, descriptor, path);
    size_t length = strlen(path);
    snprintf(path + length, PATH_BYTES - length, "/%s", name);
}

int is_below(pid_t thread, const struct call *call, const struct state *state, const char *directory) {
    char path[PATH_BYTES];
    path_of(thread, call, state, path);
    return !strncmp(path, directory, strlen(directory));
}

int is_file(pid_t thread, const struct state *state) {
    char link[64];
    struct stat status;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, (int)state->arguments[0]);
    return !stat(link, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}
