/* epoll(7), which Swift's own module of the C library lacks; empty on other systems. */
#if defined(__linux__)
#include <sys/epoll.h>
#endif
