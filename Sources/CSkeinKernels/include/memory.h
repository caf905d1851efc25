#ifndef SKEIN_MEMORY_H
#define SKEIN_MEMORY_H

/* Lets the allocator keep freed memory, for a process that allocates and frees megabytes all the
   time: blocks below 32 MiB come from its own heap, which shrinks by 256 MiB or not at all. Giving
   it back costs page faults and cleared pages. Does nothing without glibc. */
void skein_keep_freed_memory(void);

#endif
