/// What this room accepts at most.
enum Limits {
    /// The first processor's entry of /proc/cpuinfo is about 2 KiB; a big host has 400 of them.
    static let processorDescriptionBytes = 1 << 14
}
