/// The limits of launch.
package enum Limits {
    /// What a child gets on its standard input: a token. A pipe holds 64 KiB, and 4 KiB on the
    /// smallest system.
    package static let childInputBytes = 4096
    /// A host file: 256 hosts of 100 bytes are 25 KiB; the rest is for comments.
    package static let hostFileBytes = 1 << 20
    /// As many as `--local` takes.
    static let workers = 256

    /// What a host may say on each stream while it is checked: its answer has 1 KiB; the rest is for
    /// what its shell prints at every login.
    static let answerBytes = 1 << 16
    /// One line of an answer: the machine's report has 600 bytes, and a path can have 4,096.
    static let answerLineBytes = 1 << 13
    /// More processors than any machine has.
    static let cores = 1 << 16
    /// More operations per second than any thread makes.
    static let operationRate = 1e16
    /// A release: the one for x86-64 has 40 MB, most of it the Swift library and OpenBLAS.
    static let releaseBytes = 1 << 30
}
