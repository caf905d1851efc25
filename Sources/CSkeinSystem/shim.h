/* epoll(7) and pipe2(2), which Swift's own module of the C library lacks; empty on other systems. */
#if defined(__linux__)
#include <sys/epoll.h>

int pipe2(int ends[2], int flags);
#endif
