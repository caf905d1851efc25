import CSkeinKernels

/// What the allocator does with memory that was freed.
package enum FreedMemory {
    /// Keeps freed blocks below 32 MiB. Call before anything large is allocated.
    ///
    /// Every step allocates and frees megabytes of gradients and parameters; given back to the
    /// system each time, they cost a fifth of a coordinator's processor time in page faults.
    package static func keep() {
        skein_keep_freed_memory()
    }
}
