/* The calls that inject.c counts, and what it reads and changes of a thread that stands before one. */
#include <sys/types.h>

enum { FILES, SOCKETS };
enum { PATH_BYTES = 4096 };

struct call {
    const char *name;
    long number;
    int kind;
    /* Places of the arguments: descriptor, path, flags; -1 if there are none. */
    int descriptor, path, flags;
    int is_write;
};

struct state {
    long number;
    unsigned long long arguments[6];
};

extern const struct call calls[];
extern const int call_count;

const struct call *call_of(long number);
int install_filter(int kind);

int read_state(pid_t thread, struct state *state);
int set_argument(pid_t thread, int place, unsigned long long value);
/* The call is not made, and gives -1 with this errno. */
int set_result(pid_t thread, int code);

void path_of(pid_t thread, const struct call *call, const struct state *state, char *path);
int is_below(pid_t thread, const struct call *call, const struct state *state, const char *directory);
/* Whether the descriptor in the first argument is that of a regular file. */
int is_file(pid_t thread, const struct state *state);

int error_named(const char *name);
int can_give(pid_t thread, const struct call *call, const struct state *state, int code);
