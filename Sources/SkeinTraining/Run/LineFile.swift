import SkeinBasics
import SkeinJSON

/// A .jsonl file of a run that grows by whole lines and survives a kill at any byte.
///
/// A line counts once its newline is there. Every line of a step begins with it, and a step's lines
/// are flushed before its checkpoint is begun. So a resumed run keeps everything up to the last line
/// of its checkpoint's step, and drops what follows, whether whole, torn or never filled by the disk;
/// also the lines of test rows at the end, which begin otherwise.
package struct LineFile: ~Copyable {
    package let path: String
    private let file: any GrowingFile

    /// Opens or makes the file and keeps the lines through step `step`.
    ///
    /// What is kept is copied into a new file, which gets the name: another process that still has
    /// the old one open, because it was stopped and has lost its lock, appends to a file without a
    /// name. It costs what reading costs, and room for the copy.
    ///
    /// A damaged line among them stays, too: cutting there would lose good lines. Reading the file
    /// reports it.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - step: the last whose lines are kept; below 0: no line.
    ///   - head: lines that begin the file from now on; lines of before that begin with `replacing` give
    ///     way to them.
    ///   - replacing: how the lines begin that leading ones of `head` replace.
    ///   - store: where the file is.
    /// - Throws: `FileError`.
    package init(
        path: String, keepingThroughStep step: Int, head: [JSONValue] = [],
        replacing: StaticString = "", in store: any Store
    ) throws {
        try Self.replace(
            path, keepingThroughStep: step, head: Array(Self.text(head).utf8),
            Array("\(replacing)".utf8), in: store)
        let file = try store.growingFile(path)
        self.path = path
        self.file = file
    }

    /// Opens or makes the file and keeps all of it.
    ///
    /// - Throws: `FileError`.
    init(appendingTo path: String, in store: any Store) throws {
        file = try store.growingFile(path)
        self.path = path
    }

    private static func replace(
        _ path: String, keepingThroughStep step: Int, head: [UInt8], _ replaced: [UInt8],
        in store: any Store
    ) throws {
        guard store.exists(path) else {
            guard !head.isEmpty else { return }
            return try store.write(to: path) { append in
                try head.withUnsafeBytes { try append($0) }
            }
        }
        let kept = try length(ofStepsThrough: step, path: path, in: store)
        try store.file(copying: path) { _ in }.withBytes { bytes in
            try store.write(to: path) { append in
                var rest = UnsafeRawBufferPointer(rebasing: bytes[..<kept])
                if !head.isEmpty {
                    try head.withUnsafeBytes { try append($0) }
                    while rest.starts(with: replaced), let end = rest.firstIndex(of: 0x0A) {
                        rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                    }
                }
                try append(rest)
            }
        }
    }

    private static func text(_ lines: [JSONValue]) -> String {
        lines.map { $0.written + "\n" }.joined()
    }

    /// Appends lines and makes them durable.
    package func append(_ lines: [JSONValue]) throws {
        guard !lines.isEmpty else { return }
        try file.append(Array(Self.text(lines).utf8))
    }

    /// Where the last line of a step up to `step` ends.
    private static func length(
        ofStepsThrough step: Int, path: String, in store: any Store
    ) throws -> Int {
        var kept = 0
        try forEachLine(of: path, in: store) { line in
            if let found = Self.step(of: line.bytes), found <= step { kept = line.end }
        }
        return kept
    }

    /// A line of a file.
    struct Line {
        /// From 1.
        var number: Int
        /// Without the line end.
        var bytes: UnsafeRawBufferPointer
        /// Where the next line begins in the file.
        var end: Int
    }

    /// Calls `body` with every line that ends with a newline; a torn last line is left out.
    static func forEachLine(
        of path: String, in store: any Store, _ body: (Line) throws -> Void
    ) throws {
        try store.file(copying: path, check: { _ in }).withBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            for (number, line) in ByteLines(UnsafeRawBufferPointer(rebasing: bytes[..<end])) {
                guard let start = line.baseAddress else { continue }
                var next = start - base + line.count
                while bytes[next] != 0x0A { next += 1 }
                try body(Line(number: number, bytes: line, end: next + 1))
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
