import SkeinBasics

/// OUT/term: a number for each start of a run in a directory, one more every time, and 16 random
/// hexadecimal digits: two processes that start at the same moment, where locks do not work, have
/// the same number, and only one of them has its digits there.
///
/// Everything from an earlier coordinator has an earlier term and is recognized by it. So the
/// number is on disk before it is used.
struct TermFile: Sendable {
    static let name = "term"

    /// What the file says.
    struct Entry: Sendable, Equatable {
        var term: UInt32
        /// nil: of a version that wrote the number alone.
        var mark: UInt64?
    }

    let path: String
    let store: any Store

    /// Writes the next term: `first` in a directory that has had none.
    ///
    /// - Parameters:
    ///   - first: for a directory without a term.
    ///   - mark: random digits.
    ///   - expected: what the file must say; nil: there is none.
    ///   - directory: whose term it is, for people.
    /// - Returns: what the file says now.
    /// - Throws: `TrainingError.takenOver` if it says something else; `.damagedRecord`, as a guess could
    ///   use a term twice; `FileError`.
    func raise(
        first: UInt32, mark: UInt64, expecting expected: Entry?, of directory: String
    ) throws -> Entry {
        let last = store.exists(path) ? try read() : nil
        guard last == expected else {
            throw TrainingError.takenOver(
                path: directory, own: expected?.term, found: last?.term)
        }
        let (next, isOver) = last?.term.addingReportingOverflow(1) ?? (first, false)
        guard !isOver else { throw damaged("no term is left") }
        let entry = Entry(term: next, mark: mark)
        try store.write(Self.text(entry), to: path)
        return entry
    }

    /// What the file says; nil if there is none, or it is damaged: then nothing can be raised.
    ///
    /// - Throws: `FileError`.
    func readIfSound() throws -> Entry? {
        guard store.exists(path) else { return nil }
        do {
            return try read()
        } catch is TrainingError {
            return nil
        }
    }

    /// What the file says now.
    ///
    /// - Throws: `TrainingError.damagedRecord`; `FileError`.
    func read() throws -> Entry { try entry(bytes()) }

    /// The file's bytes, unread.
    func bytes() throws -> [UInt8] { try RecordFile.bytes(of: path, in: store) }

    /// What bytes of such a file say.
    ///
    /// - Throws: `TrainingError.damagedRecord`.
    func entry(_ bytes: [UInt8]) throws -> Entry {
        let text = String(decoding: bytes, as: UTF8.self)
        let words = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(words.count), let term = UInt32(words[0]) else {
            throw damaged("not a term")
        }
        let entry = Entry(term: term, mark: words.count == 2 ? UInt64(words[1], radix: 16) : nil)
        guard text == Self.text(entry) else { throw damaged("not a term") }
        return entry
    }

    /// How an entry is written.
    static func text(_ entry: Entry) -> String {
        guard let mark = entry.mark else { return "\(entry.term)\n" }
        let digits = String(mark, radix: 16)
        return "\(entry.term) " + String(repeating: "0", count: 16 - digits.count) + digits + "\n"
    }

    private func damaged(_ detail: String) -> TrainingError {
        .damagedRecord(path: path, line: nil, detail: detail)
    }
}
