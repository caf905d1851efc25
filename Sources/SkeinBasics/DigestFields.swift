/// Hashes fields, each with its length first, so that no two lists of fields are the same bytes.
package struct DigestFields {
    private var hash = SHA256()

    package init(_ purpose: String) {
        append(purpose)
    }

    private mutating func append(raw bytes: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update($0) }
        hash.update(bytes)
    }

    package mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append(raw: $0) }
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(raw: UnsafeRawBufferPointer($0)) }
    }

    package mutating func append(_ digest: SHA256.Digest) { append(digest.bytes) }

    package mutating func append(_ ids: [Int32]) {
        append(ids.count * 4)
        // A key path would be asked for each of them.
        let words = ids.map { $0.littleEndian }
        words.withUnsafeBytes { hash.update($0) }
    }

    package mutating func append(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { append(raw: $0) }
    }

    package consuming func finish() -> SHA256.Digest { hash.finish() }
}
