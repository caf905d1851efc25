import SkeinBasics
import SkeinRows

/// A row's tokens by their SHA-256, as the index has them.
package struct FeatureName: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameter tokens: that are read.
    package init(_ tokens: ArraySlice<Int32>) {
        let digest = tokens.withUnsafeBytes { SHA256.digest(of: $0) }
        words = digest.bytes.withUnsafeBytes { Self.words($0) }
    }

    /// - Parameter bytes: 32 of them.
    init(_ bytes: UnsafeRawBufferPointer) { words = Self.words(bytes) }

    private static func words(
        _ bytes: UnsafeRawBufferPointer
    ) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
        }
        return (word(0), word(1), word(2), word(3))
    }

    package static func == (left: FeatureName, right: FeatureName) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        // All of it: the name of a damaged record is whatever stands there.
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }

    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }
}

/// One row in a file of features: a head, the numbers, and the SHA-256 of the file's key and both.
///
///     32 bytes  SHA-256 of the row's tokens
///      4 bytes  how many tokens, little-endian
///      4 bytes  CRC-32C of the 36 bytes before
///      n bytes  tokens x width numbers, little-endian
///     32 bytes  SHA-256 of the key's digest and all that
struct FeatureRecord {
    static let headBytes = 40
    static let sealBytes = 32

    let name: FeatureName
    let tokens: Int

    init(name: FeatureName, tokens: Int) {
        self.name = name
        self.tokens = tokens
    }

    /// Reads a head; nil if its checksum is wrong, or if it is of no row that Skein has.
    init?(head: UnsafeRawBufferPointer) {
        guard head.count == Self.headBytes else { return nil }
        let checksum = UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 36, as: UInt32.self))
        guard checksum == CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: head[..<36])) else {
            return nil
        }
        let tokens = UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 32, as: UInt32.self))
        guard (1...RowLimits.tokens).contains(Int(tokens)) else { return nil }
        name = FeatureName(UnsafeRawBufferPointer(rebasing: head[..<32]))
        self.tokens = Int(tokens)
    }

    var head: [UInt8] {
        var bytes = name.bytes
        withUnsafeBytes(of: UInt32(tokens).littleEndian) { bytes += $0 }
        let checksum = CRC32C.checksum(of: bytes)
        withUnsafeBytes(of: checksum.littleEndian) { bytes += $0 }
        return bytes
    }

    /// What a record ends with.
    ///
    /// - Parameters:
    ///   - bytes: the record without it.
    ///   - key: of the file, so that no other file's record is taken for one of this.
    /// - Returns: 32 bytes.
    static func seal(_ bytes: UnsafeRawBufferPointer, _ key: FeatureKey) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(key.digest.bytes)
        hash.update(bytes)
        return hash.finish()
    }

    /// Bytes of the whole record.
    static func bytes(tokens: Int, _ key: FeatureKey) -> Int {
        headBytes + tokens * key.tokenBytes + sealBytes
    }

    /// The whole record.
    ///
    /// - Parameters:
    ///   - features: [tokens, width].
    ///   - key: of the file.
    /// - Returns: its bytes.
    func packed(_ features: UnsafePointer<Float>, _ key: FeatureKey) -> [UInt8] {
        let count = Self.bytes(tokens: tokens, key)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes.copyBytes(from: head)
            for i in 0..<(tokens * key.width) {
                let bits = features[i].bitPattern
                if key.isRounded {
                    bytes.storeBytes(
                        of: UInt16(bits >> 16).littleEndian, toByteOffset: Self.headBytes + 2 * i,
                        as: UInt16.self)
                } else {
                    bytes.storeBytes(
                        of: bits.littleEndian, toByteOffset: Self.headBytes + 4 * i,
                        as: UInt32.self)
                }
            }
            let end = count - Self.sealBytes
            let seal = Self.seal(UnsafeRawBufferPointer(rebasing: bytes[..<end]), key)
            UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: seal.bytes)
            filled = count
        }
    }

    /// Reads back what `packed` made for the same row.
    ///
    /// - Parameters:
    ///   - bytes: as many as the record has.
    ///   - key: of the file.
    ///   - features: [tokens, width], overwritten.
    /// - Returns: false, and nothing written, if anything in it is wrong.
    func unpack(
        _ bytes: [UInt8], _ key: FeatureKey, into features: UnsafeMutablePointer<Float>
    ) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let end = bytes.count - Self.sealBytes
            guard bytes.count == Self.bytes(tokens: tokens, key),
                let found = FeatureRecord(
                    head: UnsafeRawBufferPointer(rebasing: bytes[..<Self.headBytes])),
                found.name == name, found.tokens == tokens,
                bytes[end...].elementsEqual(
                    Self.seal(UnsafeRawBufferPointer(rebasing: bytes[..<end]), key).bytes)
            else { return false }
            let numbers = UnsafeRawBufferPointer(rebasing: bytes[Self.headBytes..<end])
            for i in 0..<(tokens * key.width) {
                let bits =
                    key.isRounded
                    ? UInt32(
                        UInt16(
                            littleEndian: numbers.loadUnaligned(
                                fromByteOffset: 2 * i, as: UInt16.self))) << 16
                    : UInt32(
                        littleEndian: numbers.loadUnaligned(
                            fromByteOffset: 4 * i, as: UInt32.self))
                features[i] = Float(bitPattern: bits)
            }
            return true
        }
    }
}
