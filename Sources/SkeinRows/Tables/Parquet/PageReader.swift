import SkeinBasics
import SkeinJSON

/// Reads the pages of one leaf in one row group, and decompresses them.
///
/// A page's sizes are compared with the bytes that are there before memory is allocated for them.
struct PageReader {
    /// One page without its compression. Its bytes are valid until the next page of its sort is read.
    struct Page {
        let header: PageHeader
        /// In the file.
        let offset: Int
        /// The levels of a page of version 2; empty otherwise.
        let repetitions: UnsafeRawBufferPointer
        let definitions: UnsafeRawBufferPointer
        /// The values; in a page of version 1 its levels stand before them.
        let body: UnsafeRawBufferPointer
    }

    private let file: UnsafeRawBufferPointer
    private let column: String
    private let codec: PageCodec
    private var place: Int
    private let end: Int
    private let dataBuffer: PageBuffer
    private let dictionaryBuffer: PageBuffer

    /// - Parameters:
    ///   - file: the whole file.
    ///   - column: for problems.
    ///   - chunk: whose range lies in the file.
    ///   - budget: for the memory of all columns.
    /// - Throws: `TableProblem.unsupported`.
    init(
        _ file: UnsafeRawBufferPointer, column: String, chunk: RowGroup.Chunk, budget: PageBudget
    ) throws(TableProblem) {
        guard let codec = PageCodec(rawValue: chunk.codec) else {
            throw .unsupported(column: column, feature: .codec(PageCodec.name(chunk.codec)))
        }
        self.file = file
        self.column = column
        self.codec = codec
        place = chunk.start
        end = chunk.start + chunk.byteCount
        dataBuffer = PageBuffer(budget)
        dictionaryBuffer = PageBuffer(budget)
    }

    /// The part of the file that a problem is about.
    static func part(_ column: String) -> String { "a page of column \(JSONValue.quoted(column))" }

    private func damaged(_ offset: Int, _ problem: String) -> TableProblem {
        .damaged(part: Self.part(column), offset: offset, problem: problem)
    }

    /// The next page of data or with a dictionary; nil after the last.
    mutating func next() throws(TableProblem) -> Page? {
        while place < end {
            let offset = place
            let length = min(end - place, Limits.pageHeaderBytes)
            var reader = ThriftReader(
                UnsafeRawBufferPointer(rebasing: file[place..<(place + length)]),
                part: Self.part(column), fileOffset: offset)
            let header = try PageHeader(&reader)
            place += reader.place
            guard header.storedBytes <= end - place else {
                throw damaged(offset, "claims \(header.storedBytes) bytes of \(end - place)")
            }
            let stored = UnsafeRawBufferPointer(
                rebasing: file[place..<(place + header.storedBytes)])
            place += header.storedBytes
            guard let kind = header.kind, kind != .index else { continue }
            try check(header, stored, offset)
            return try page(kind, header, stored, offset)
        }
        return nil
    }

    private func check(
        _ header: PageHeader, _ stored: UnsafeRawBufferPointer, _ offset: Int
    ) throws(TableProblem) {
        guard header.decodedBytes <= Limits.pageBytes else {
            throw .tooLarge(
                part: Self.part(column), limit: Limits.pageBytes, found: header.decodedBytes)
        }
        guard header.valueCount <= Limits.pageValues else {
            throw .tooLarge(
                part: "values of " + Self.part(column), limit: Limits.pageValues,
                found: header.valueCount)
        }
        if let checksum = header.checksum, checksum != CRC32.of(stored) {
            throw damaged(offset, "does not have the checksum of its header")
        }
    }

    private func page(
        _ kind: PageHeader.Kind, _ header: PageHeader, _ stored: UnsafeRawBufferPointer,
        _ offset: Int
    ) throws(TableProblem) -> Page {
        let none = UnsafeRawBufferPointer(rebasing: stored[..<0])
        guard kind == .dataV2 else {
            let buffer = kind == .dictionary ? dictionaryBuffer : dataBuffer
            let body = try decode(stored, header.decodedBytes, codec, into: buffer, offset)
            return Page(
                header: header, offset: offset, repetitions: none, definitions: none, body: body)
        }
        // Levels stand before the values, and are never compressed.
        let (repetitionBytes, definitionBytes) = (header.repetitionBytes, header.definitionBytes)
        let most = min(stored.count, header.decodedBytes)
        guard repetitionBytes <= most, definitionBytes <= most - repetitionBytes else {
            throw damaged(offset, "is shorter than its levels")
        }
        let levelBytes = repetitionBytes + definitionBytes
        let body = try decode(
            UnsafeRawBufferPointer(rebasing: stored[levelBytes...]),
            header.decodedBytes - levelBytes, header.isCompressed ? codec : .none,
            into: dataBuffer, offset)
        return Page(
            header: header, offset: offset,
            repetitions: UnsafeRawBufferPointer(rebasing: stored[..<repetitionBytes]),
            definitions: UnsafeRawBufferPointer(rebasing: stored[repetitionBytes..<levelBytes]),
            body: body)
    }

    /// `stored` without its compression, `count` bytes.
    private func decode(
        _ stored: UnsafeRawBufferPointer, _ count: Int, _ codec: PageCodec,
        into buffer: PageBuffer, _ offset: Int
    ) throws(TableProblem) -> UnsafeRawBufferPointer {
        // Writers disagree on how nothing is compressed.
        if count == 0 { return UnsafeRawBufferPointer(rebasing: stored[..<0]) }
        let isFull: Bool
        switch codec {
        case .none:
            guard stored.count == count else {
                throw damaged(offset, "has \(stored.count) bytes and claims \(count)")
            }
            return stored
        case .snappy:
            guard count <= Snappy.mostBytes(stored.count) else {
                throw damaged(offset, "claims more bytes than SNAPPY can make of it")
            }
            let out = try buffer.prepare(count)
            do throws(Snappy.Problem) {
                try Snappy.decompress(stored, into: out)
                isFull = true
            } catch {
                // Said below, with the page's place.
                isFull = false
            }
        case .zstd:
            guard let most = ZstdPage.mostBytes(stored), count <= most else {
                throw damaged(offset, "claims more bytes than ZSTD can make of it")
            }
            isFull = ZstdPage.decompress(stored, into: try buffer.prepare(count))
        }
        guard isFull else {
            throw damaged(offset, "does not decompress to \(count) bytes")
        }
        return buffer.bytes
    }
}

/// How much memory the decompressed pages of all columns of a file take.
final class PageBudget {
    private var taken = 0
    /// The most that it was.
    private(set) var peak = 0

    /// - Parameters:
    ///   - old: bytes that are given back.
    ///   - new: bytes that are taken.
    /// - Throws: `TableProblem.tooLarge`.
    func replace(_ old: Int, with new: Int) throws(TableProblem) {
        guard taken - old + new <= Limits.openBytes else {
            throw .tooLarge(
                part: "decompressed pages of all columns", limit: Limits.openBytes,
                found: taken - old + new)
        }
        taken += new - old
        peak = max(peak, taken)
    }

    func giveBack(_ bytes: Int) { taken -= bytes }
}

/// Memory for one decompressed page after the other.
final class PageBuffer {
    private let budget: PageBudget
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0

    init(_ budget: PageBudget) { self.budget = budget }

    deinit {
        budget.giveBack(memory.count)
        memory.deallocate()
    }

    /// The bytes of the last page.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<used]) }

    /// Room for `count` bytes; the page before is gone.
    func prepare(_ count: Int) throws(TableProblem) -> UnsafeMutableRawBufferPointer {
        if count > memory.count {
            try budget.replace(memory.count, with: count)
            memory.deallocate()
            memory = .allocate(byteCount: count, alignment: 16)
        }
        used = count
        return UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }
}
