import SkeinBasics

/// Hashes fields, each with its length first, so that no two lists of fields are the same bytes.
struct DigestFields {
    private var hash = SHA256()

    init(_ purpose: String) {
        append(purpose)
    }

    mutating func append(_ bytes: [UInt8]) {
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update($0) }
        hash.update(bytes)
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    mutating func append(_ digest: SHA256.Digest) { append(digest.bytes) }

    mutating func append(_ ids: [Int32]) {
        append(ids.count * 4)
        let words = ids.map(\.littleEndian)
        words.withUnsafeBytes { hash.update($0) }
    }

    mutating func append(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { append(Array($0)) }
    }

    consuming func finish() -> SHA256.Digest { hash.finish() }
}
