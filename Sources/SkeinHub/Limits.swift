/// What is accepted from a user, a server and the fetcher.
package enum Limits {
    /// Bytes of an organization's or a repository's name; the Hub itself allows 96 for both.
    static let nameBytes = 96
    /// Bytes of a branch, tag or commit.
    static let revisionBytes = 128
    /// Bytes of a file's path in a repository.
    static let filePathBytes = 1024
    /// Bytes of one part of it: what Linux allows.
    static let filePartBytes = 255
    /// Files of a repository.
    package static let files = 100_000
    /// Bytes of one file: 16 TiB, so that the sum of all sizes does not overflow.
    static let fileBytes = 1 << 44
    /// Parts of one GGUF model.
    static let ggufParts = 1000
    /// Bytes of a token file.
    static let tokenBytes = 4096
    /// Bytes of model.safetensors.index.json: 100 for each of 100,000 tensors.
    static let indexBytes = 16 << 20
    /// Bytes of one line between `skein` and `skein-fetch`.
    package static let lineBytes = 1 << 16
    /// The fetcher reports every second, unless a disk hangs for ten minutes; silence for this long means
    /// that it hangs.
    package static let silence: Duration = .seconds(60)
}
