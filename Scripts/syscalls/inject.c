/* Runs a program and counts the calls to the system that change or read files, or that move bytes over sockets, over
 * all its threads and children with one counter. At call N it kills the program, or lets the call fail.
 *
 *   inject --report FILE [--calls files|sockets] [--under DIRECTORY] [--do kill|half|ENOSPC|EIO|EINTR|ECONNRESET]
 *          [--at N] [--seconds S] -- PROGRAM ARGUMENT...
 *
 * --under: the count begins at the first call that names a path below it, behind what the loader opens. --do kill:
 * before the call; half: a write to a file writes half of its bytes, and is the last call. Counted are only calls at
 * which that can be done: writes for half, for an error those that can give it. Without --at the calls are counted.
 * The filter stops the program at the calls of its kind alone (seccomp), so that all others run at their own speed.
 * After S seconds the program is killed: it hangs. Exit status: the program's, 137 if it was killed, 124 if it hung;
 * 70 if this program itself fails. */
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct options {
    const char *report, *under, *action;
    int kind, at, seconds, code;
};

struct place {
    const char *call;
    char path[PATH_BYTES];
};

static volatile sig_atomic_t is_late;

static void note_alarm(int signal) {
    (void)signal;
    is_late = 1;
}

static void fail(const char *what) {
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(70);
}

static void write_text(FILE *file, const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\') fputc('\\', file);
        if (*at >= 0x20) fputc(*at, file);
    }
}

/* One JSON object: how it ended, how many calls there were, and which one was hit. */
static void report(const struct options *options, int count, const int *counts, const struct place *place, int status) {
    FILE *file = fopen(options->report, "w");
    if (!file) fail(options->report);
    fprintf(file, "{\"status\": %d, \"late\": %d, \"count\": %d, ", status, (int)is_late, count);
    if (place->call) {
        fprintf(file, "\"call\": \"%s\", \"path\": \"", place->call);
        write_text(file, place->path);
        fprintf(file, "\", ");
    }
    fprintf(file, "\"counts\": {");
    const char *between = "";
    for (int index = 0; index < call_count; index++) {
        if (!counts[index]) continue;
        fprintf(file, "%s\"%s\": %d", between, calls[index].name, counts[index]);
        between = ", ";
    }
    fprintf(file, "}}\n");
    if (fclose(file)) fail(options->report);
}

/* Whether what was asked for can be done at a call. */
static int is_fit(const struct options *options, pid_t thread, const struct call *call, const struct state *state) {
    if (options->code) return can_give(thread, call, state, options->code);
    return strcmp(options->action, "half") || (call->is_write && state->arguments[2] > 1 && is_file(thread, state));
}

/* Does it; returns whether the program goes on. */
static int act(const struct options *options, pid_t thread, const struct call *call, const struct state *state,
               struct place *place) {
    place->call = call->name;
    path_of(thread, call, state, place->path);
    if (options->code) {
        if (set_result(thread, options->code)) fail("cannot let a call fail");
        return 1;
    }
    if (!strcmp(options->action, "half")) {
        int status;
        if (set_argument(thread, 2, state->arguments[2] / 2)) fail("cannot shorten a write");
        if (ptrace(PTRACE_SYSCALL, thread, 0, 0) || waitpid(thread, &status, __WALL) != thread) fail("cannot wait for a write");
    }
    return 0;
}

static pid_t start(char **words, int kind) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC)) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        char byte;
        if (read(gate[0], &byte, 1) != 1) _exit(70);
        if (install_filter(kind)) fail("cannot install the filter");
        execvp(words[0], words);
        fail(words[0]);
    }
    long wanted = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP |
                  PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, 0, wanted)) fail("may not trace");
    if (write(gate[1], "", 1) != 1) fail("pipe");
    close(gate[0]);
    close(gate[1]);
    return child;
}

static int follow(const struct options *options, pid_t child, int *counts, struct place *place, int *count) {
    int is_counting = !options->under, result = -1;
    for (;;) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == EINTR) {
            /* A hang: all that is left ends with its parent, since EXITKILL holds for what was forked, too. */
            if (is_late) kill(child, SIGKILL);
            continue;
        }
        if (thread < 0) return result;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child) {
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
                return result;
            }
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status), passed = 0;
        if (event == PTRACE_EVENT_SECCOMP) {
            struct state state;
            if (read_state(thread, &state)) continue; /* It has just been killed. */
            const struct call *call = call_of(state.number);
            if (call && !is_counting) is_counting = is_below(thread, call, &state, options->under);
            if (call && is_counting && is_fit(options, thread, call, &state)) {
                counts[call - calls]++;
                if (++*count == options->at && !act(options, thread, call, &state, place)) {
                    kill(child, SIGKILL);
                    continue;
                }
            }
        } else if (event == PTRACE_EVENT_STOP) {
            /* A new thread begins, or the program was stopped: it stays stopped until SIGCONT. */
            if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
                ptrace(PTRACE_LISTEN, thread, 0, 0);
                continue;
            }
        } else if (!event) {
            passed = signal;
        }
        ptrace(PTRACE_CONT, thread, 0, passed);
    }
}

int main(int count, char **words) {
    struct options options = {.action = "kill", .kind = FILES, .seconds = 120};
    int at = 1;
    for (; at + 1 < count && strcmp(words[at], "--"); at += 2) {
        const char *name = words[at], *value = words[at + 1];
        if (!strcmp(name, "--report")) options.report = value;
        else if (!strcmp(name, "--under")) options.under = value;
        else if (!strcmp(name, "--at")) options.at = atoi(value);
        else if (!strcmp(name, "--do")) options.action = value;
        else if (!strcmp(name, "--seconds")) options.seconds = atoi(value);
        else if (!strcmp(name, "--calls")) options.kind = strcmp(value, "sockets") ? FILES : SOCKETS;
        else break;
    }
    if (at + 1 >= count || strcmp(words[at], "--") || !options.report) {
        fprintf(stderr, "inject: see the head of inject.c\n");
        return 70;
    }
    if (*options.action == 'E') options.code = error_named(options.action);
    struct sigaction alarmed = {.sa_handler = note_alarm};
    sigaction(SIGALRM, &alarmed, NULL);
    pid_t child = start(words + at + 1, options.kind);
    alarm((unsigned)options.seconds);
    int counts[64] = {0}, total = 0;
    struct place place = {0};
    int status = follow(&options, child, counts, &place, &total);
    report(&options, total, counts, &place, status);
    return is_late ? 124 : status;
}
