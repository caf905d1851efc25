import Basics
import Foundation

/// A .jsonl file of a run that grows by whole lines and survives a kill at any byte.
///
/// A line counts once its newline is there. What a kill left behind it is cut off when the file is
/// opened again. Every line begins with its step, so a resumed run can drop what came after the
/// checkpoint that it resumes from.
public struct LineFile: ~Copyable {
    public let path: String
    private let descriptor: Int32

    /// Opens or makes the file and keeps the lines up to and with step `step`.
    ///
    /// - Throws: `FileError`; `TrainingError.damagedRecord` for a line that does not begin with a
    ///   step.
    public init(path: String, keepingThroughStep step: Int) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        do {
            let length = try Self.length(ofStepsThrough: step, path: path)
            guard ftruncate(descriptor, off_t(length)) == 0, fsync(descriptor) == 0 else {
                throw FileError.failed(operation: "cut", path: path, code: errno)
            }
            try AtomicFile.syncDirectory(of: path)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Appends lines and makes them durable.
    public func append(_ lines: [JSONLine]) throws {
        guard !lines.isEmpty else { return }
        let bytes = Array(lines.map { $0.text + "\n" }.joined().utf8)
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let written = write(descriptor, rest.baseAddress, rest.count)
                if written < 0 {
                    if errno == EINTR { continue }
                    throw FileError.failed(operation: "append", path: path, code: errno)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
        guard fsync(descriptor) == 0 else {
            throw FileError.failed(operation: "flush", path: path, code: errno)
        }
    }

    /// Bytes of the whole lines whose step is at most `step`, which stand before all others.
    private static func length(ofStepsThrough step: Int, path: String) throws -> Int {
        var kept = 0
        try forEachLine(of: path) { number, line in
            guard let found = Self.step(of: line) else {
                throw TrainingError.damagedRecord(
                    path: path, line: number, detail: "the line does not begin with a step")
            }
            guard found <= step else { return false }
            kept += line.count + 1
            return true
        }
        return kept
    }

    /// Calls `body` with the number and the bytes of every line that ends with a newline, until it
    /// returns false; a torn last line is left out.
    static func forEachLine(
        of path: String, _ body: (Int, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try MappedFile(path: path).withBytes { bytes in
            let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            for (number, line) in ByteLines(UnsafeRawBufferPointer(rebasing: bytes[..<end])) {
                guard try body(number, line) else { return }
            }
        }
    }

    /// The step of a line that begins with `{"step":N,`.
    static func step(of line: UnsafeRawBufferPointer) -> Int? {
        let opening = Array("{\"step\":".utf8)
        guard line.count <= Limits.recordLineBytes, line.starts(with: opening) else { return nil }
        let digits = line[opening.count...].prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
