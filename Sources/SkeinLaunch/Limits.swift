/// The limits of launch.
package enum Limits {
    /// What a child gets on its standard input: a token. A pipe holds 64 KiB, and 4 KiB on the
    /// smallest system.
    package static let childInputBytes = 4096
    /// A host file: 256 hosts of 100 bytes are 25 KiB; the rest is for comments.
    package static let hostFileBytes = 1 << 20
    /// As many as `--local` takes.
    static let workers = 256
}
