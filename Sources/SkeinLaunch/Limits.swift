/// What this room accepts at most.
package enum Limits {
    /// What a child is handed on its standard input: a token. A pipe holds 64 KiB, and 4 KiB on the
    /// smallest system.
    package static let childInputBytes = 4096
    /// A host file: 256 hosts of 100 bytes are 25 KiB; the rest is for comments.
    package static let hostFileBytes = 1 << 20
    /// As `--local` takes.
    static let workers = 256
}
