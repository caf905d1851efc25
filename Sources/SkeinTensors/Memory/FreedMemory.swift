import CSkeinKernels

/// What the allocator does with memory that was freed.
package enum FreedMemory {
    /// Keeps blocks below 32 MiB, before anything large is allocated.
    ///
    /// Gradients and parameters of megabytes come and go with every step; given back to the system and
    /// taken anew, they cost a fifth of a coordinator's processor time in page faults.
    package static func keep() {
        skein_keep_freed_memory()
    }
}
