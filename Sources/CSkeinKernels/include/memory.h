#ifndef SKEIN_MEMORY_H
#define SKEIN_MEMORY_H

/* Lets the allocator keep memory that was freed, for a process that takes and frees megabytes all the
   time: blocks below 32 MiB come from its own heap, which shrinks by 256 MiB or not at all. Returning
   it means page faults and cleared pages for the next block. Nothing but glibc is told. */
void skein_keep_freed_memory(void);

#endif
