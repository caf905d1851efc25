import SkeinBasics

/// A data file and how often its rows stand in an epoch: `A.jsonl:2` is twice, `A.jsonl:0.5` half of
/// them once.
package struct WeightedFile: Sendable, Equatable {
    package let path: String
    /// Above 0, at most `mostWeight`.
    package let weight: Double

    /// Times that the rows of a file may stand in an epoch. What is wanted more often is an epoch
    /// of its own.
    package static let mostWeight = 100.0

    package init(path: String, weight: Double = 1) {
        self.path = path
        self.weight = weight
    }

    /// Times that every row stands in an epoch.
    var copies: Int { Int(weight.rounded(.down)) }

    /// Rows of `count` that stand in it once more: a share, rounded to the nearest row, and at
    /// least one row when none would be left of a file that is named.
    package func extraRows(of count: Int) -> Int {
        let share = weight - weight.rounded(.down)
        guard share > 0, count > 0 else { return 0 }
        let rows = Int((Double(count) * share).rounded())
        return copies == 0 ? max(1, rows) : rows
    }
}

extension [WeightedFile] {
    /// Files of one list. Each is open while it is read, one after the other.
    static let mostFiles = 1024

    /// Whether it is one file, all of whose rows stand in each epoch once.
    var isOneWholeFile: Bool { count == 1 && self[0].weight == 1 }

    /// SHA-256 of what the list names: of the file's bytes if it is one whole file, else of every
    /// file's with its weight.
    ///
    /// - Parameter digests: of the files, in their order.
    /// - Returns: another one for other bytes, another order or other weights.
    func digest(of digests: [SHA256.Digest]) -> SHA256.Digest {
        precondition(digests.count == count)
        if isOneWholeFile { return digests[0] }
        var fields = DigestFields("skein data files 1")
        fields.append(count)
        for (file, digest) in zip(self, digests) {
            fields.append(digest)
            fields.append(Int(bitPattern: UInt(file.weight.bitPattern)))
        }
        return fields.finish()
    }

    /// The same of files that have not been read.
    ///
    /// - Throws: `FileError`.
    package func digest() throws -> SHA256.Digest {
        digest(of: try map { try RegularFile.digest(of: $0.path).digest })
    }
}
