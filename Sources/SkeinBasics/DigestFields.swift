/// Hashes fields, each with its length first, so that no two lists of fields are the same bytes.
package struct DigestFields {
    private var hash = SHA256()

    package init(_ purpose: String) {
        append(purpose)
    }

    package mutating func append(_ bytes: [UInt8]) {
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update($0) }
        hash.update(bytes)
    }

    package mutating func append(_ text: String) { append(Array(text.utf8)) }

    package mutating func append(_ digest: SHA256.Digest) { append(digest.bytes) }

    package mutating func append(_ ids: [Int32]) {
        append(ids.count * 4)
        let words = ids.map(\.littleEndian)
        words.withUnsafeBytes { hash.update($0) }
    }

    package mutating func append(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { append(Array($0)) }
    }

    package consuming func finish() -> SHA256.Digest { hash.finish() }
}
