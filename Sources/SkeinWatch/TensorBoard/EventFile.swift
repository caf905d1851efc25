import Foundation
import SkeinBasics

/// A file of records as TensorFlow frames them: length u64, its masked CRC-32C, the bytes, their
/// masked CRC-32C, all little-endian (TensorFlow's RecordWriter).
final class EventFile {
    private let descriptor: Int32
    let path: String

    /// - Throws: `FileError` when it cannot be made; an existing file is not touched.
    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Appends whole records in one write.
    ///
    /// - Throws: `FileError`; the file may end with a torn record then, and nothing may follow it.
    func append(_ records: [EventRecord]) throws {
        var rest = records.flatMap { Self.framed($0.bytes) }[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw FileError.failed(operation: "write", path: path, code: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    static func framed(_ record: [UInt8]) -> [UInt8] {
        let length = withUnsafeBytes(of: UInt64(record.count).littleEndian) { Array($0) }
        return length + masked(length) + record + masked(record)
    }

    private static func masked(_ bytes: [UInt8]) -> [UInt8] {
        let crc = CRC32C.checksum(of: bytes)
        let masked = (crc >> 15 | crc << 17) &+ 0xa282_ead8
        return withUnsafeBytes(of: masked.littleEndian) { Array($0) }
    }

    /// The highest step of whole records of a file up to `limit`; nil if there is none. A torn or
    /// damaged record ends the search, as it ends TensorBoard's.
    ///
    /// - Throws: `FileError`.
    static func lastStep(of path: String, upTo limit: Int) throws -> Int? {
        try MappedFile(path: path).withBytes { bytes in
            var last: Int?
            var place = 0
            while bytes.count - place >= 16 {
                let length = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                guard let count = Int(exactly: UInt64(littleEndian: length)),
                    count <= bytes.count - place - 16, count <= Limits.recordBytes
                else { break }
                let record = Array(bytes[(place + 12)..<(place + 12 + count)])
                let crc = Array(bytes[(place + 12 + count)..<(place + 16 + count)])
                guard crc == masked(record) else { break }
                if let step = EventRecord.step(of: record), step <= limit {
                    last = max(last ?? step, step)
                }
                place += 16 + count
            }
            return last
        }
    }
}
