/* epoll(7), which Swift's own module of the C library leaves out; nothing on other systems. */
#if defined(__linux__)
#include <sys/epoll.h>
#endif
