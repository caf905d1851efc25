/// What a file is whose kind Skein does not read, told by its first bytes. Errors name it, so that
/// another kind of file is not taken for a damaged one.
///
/// A file of weights may begin with any bytes, so of these it is asked only once they were refused.
package enum ForeignFile: Sendable, Equatable {
    /// The few lines that stand in a Git repository for a file that Git LFS keeps elsewhere.
    case pointer
    /// Text whose characters have two or four bytes; the name is iconv's.
    case wideText(encoding: String)
    /// Compressed, or several files in one.
    case packed(Packing)
    /// Objects of Python, which may run code when they are read; `isTorch`: in PyTorch's archive.
    case pickle(isTorch: Bool)
    case arrow(Arrow)
    /// HTML: what a server sends when it does not send the file.
    case webPage
    /// Weights, in the place of the folder or of the GGUF file that they belong to.
    case safetensors
    /// A model or an adapter of llama.cpp.
    case gguf

    package enum Packing: String, Sendable, CaseIterable {
        case gzip
        case zstd
        case xz
        case bzip2
        case zip
        case tar
    }

    package enum Arrow: Sendable {
        /// Such as Python's `datasets` writes.
        case stream
        /// Also Feather, version 2.
        case file
    }

    /// The most bytes from the beginning that are looked at.
    package static let lookedAt = 4096

    /// nil for what is none of these.
    ///
    /// - Parameter bytes: the file, or at least its first `lookedAt` bytes.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.lookedAt))
        let found =
            Self.pointer(start, isWhole: bytes.count < Self.lookedAt) ?? Self.packed(start)
            ?? Self.pickle(start) ?? Self.arrow(start) ?? Self.wideText(start)
            ?? Self.weights(start) ?? Self.webPage(start)
            ?? (start.starts(with: "GGUF".utf8) ? .gguf : nil)
        guard let found else { return nil }
        self = found
    }

    /// The specification in github.com/git-lfs/git-lfs: below 1024 bytes, and the key `version` first.
    private static func pointer(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool
    ) -> ForeignFile? {
        guard isWhole, bytes.count < 1024,
            ["version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"]
                .contains(where: { bytes.starts(with: $0.utf8) })
        else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).dropFirst()
        return lines.contains { $0.starts(with: "oid sha256:".utf8) } ? .pointer : nil
    }

    private static func packed(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        // The format's own signatures: RFC 1952, RFC 8878, the xz and bzip2 programs', APPNOTE.TXT.
        let signatures: [(Packing, [UInt8])] = [
            (.gzip, [0x1F, 0x8B, 0x08]), (.zstd, [0x28, 0xB5, 0x2F, 0xFD]),
            (.xz, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]), (.zip, [0x50, 0x4B, 0x03, 0x04]),
            (.zip, [0x50, 0x4B, 0x05, 0x06]),
        ]
        if let (packing, _) = signatures.first(where: { bytes.starts(with: $0.1) }) {
            // torch.save writes a zip file whose objects are in data.pkl, near its beginning.
            let isTorch = packing == .zip && contains("/data.pkl", bytes)
            return isTorch ? .pickle(isTorch: true) : .packed(packing)
        }
        let block: [UInt8] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]
        if bytes.starts(with: "BZh".utf8), bytes.dropFirst(4).starts(with: block) {
            return .packed(.bzip2)
        }
        return bytes.dropFirst(257).starts(with: "ustar".utf8) ? .packed(.tar) : nil
    }

    private static func contains(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let wanted = Array(text.utf8)
        return bytes.indices.contains {
            bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted)
        }
    }

    /// Protocols 2 to 5 say so in their first two bytes; no UTF-8 text begins with the first.
    private static func pickle(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        // Protocols 0 and 1 begin lists and dicts so.
        let older: [[UInt8]] = [
            Array("(lp0\n".utf8), Array("(dp0\n".utf8), [0x5D, 0x71, 0], [0x7D, 0x71, 0],
        ]
        if older.contains(where: { bytes.starts(with: $0) }) { return .pickle(isTorch: false) }
        guard bytes.count > 2, bytes[0] == 0x80, (2...5).contains(bytes[1]) else { return nil }
        // torch.save's old form begins with a pickle of this number.
        let number: [UInt8] = [
            0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19,
        ]
        return .pickle(isTorch: bytes.dropFirst(2).starts(with: number))
    }

    private static func arrow(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        if bytes.starts(with: "ARROW1\0\0".utf8) { return .arrow(.file) }
        // A message's mark and its length, which is positive.
        guard bytes.count > 8, bytes.prefix(4).allSatisfy({ $0 == 0xFF }), bytes[7] < 0x80,
            bytes[4..<8].contains(where: { $0 != 0 })
        else { return nil }
        return .arrow(.stream)
    }

    /// By the mark at the beginning, or since every other of the first bytes is zero.
    private static func wideText(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            return .wideText(encoding: "UTF-32")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return .wideText(encoding: "UTF-16")
        }
        guard bytes.count >= 4 else { return nil }
        switch (bytes[0] == 0, bytes[1] == 0, bytes[2] == 0, bytes[3] == 0) {
        case (false, true, false, true): return .wideText(encoding: "UTF-16LE")
        case (true, false, true, false): return .wideText(encoding: "UTF-16BE")
        default: return nil
        }
    }

    /// The length of a header, and the header.
    private static func weights(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        guard bytes.count > 8, bytes[8] == UInt8(ascii: "{"), bytes[4..<8].allSatisfy({ $0 == 0 })
        else { return nil }
        return .safetensors
    }

    private static func webPage(_ bytes: UnsafeRawBufferPointer) -> ForeignFile? {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        let start = bytes.drop { blanks.contains($0) }.prefix(14)
        let text = String(decoding: start, as: UTF8.self).lowercased()
        return text.hasPrefix("<!doctype html") || text.hasPrefix("<html") ? .webPage : nil
    }
}
