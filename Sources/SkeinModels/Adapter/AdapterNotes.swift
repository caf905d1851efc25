import SkeinBasics

/// What stands beside an adapter and is not needed to use it: the model card, which the Hugging Face
/// Hub shows, and what its creator says of it. Both belong to it in any format that is a folder.
package struct AdapterNotes: Sendable, Equatable {
    /// The model card.
    package static let cardName = "README.md"
    /// What the creator wrote; sessions read `creatorDefined` in it.
    package static let metadataName = "metadata.json"
    package static let metadataBytes = 1 << 20
    /// A run's card has some 2 kB. Cards of the Hub with pictures in them stay below this.
    static let cardBytes = 4 << 20

    private var card: [UInt8]?
    private var metadata: [UInt8]?

    /// Reads them. One that cannot be read, or is longer than such files are, is none: it is not needed.
    ///
    /// - Parameters:
    ///   - path: the adapter's folder; the file of a GGUF adapter has none.
    ///   - left: gets what to say of each file that is left behind.
    package init(of path: String, left: (String) -> Void) {
        func bytes(_ name: String, _ limit: Int) -> [UInt8]? {
            do {
                return try Self.bytes(name, in: path, limit: limit)
            } catch {
                let why = (error as? any Explained)?.explanation.what ?? "\(error)"
                left("\(FilePath.join(path, name)) is left behind: \(why)")
                return nil
            }
        }
        card = bytes(Self.cardName, Self.cardBytes)
        metadata = bytes(Self.metadataName, Self.metadataBytes)
    }

    /// Names of the files that are there.
    ///
    /// - Parameter path: the adapter's folder.
    /// - Returns: of card and metadata.
    package static func names(in path: String) -> [String] {
        [cardName, metadataName].filter { DiskStore().exists(FilePath.join(path, $0)) }
    }

    private static func bytes(
        _ name: String, in folder: String, limit: Int
    ) throws -> [UInt8]? {
        let path = FilePath.join(folder, name)
        guard DiskStore().exists(path) else { return nil }
        let bytes = try RegularFile.bytes(of: path, from: 0, limit: limit + 1)
        guard bytes.count <= limit else {
            throw Oversized(limit: limit)
        }
        return bytes
    }

    private struct Oversized: Error, Explained {
        let limit: Int

        var explanation: Explanation {
            Explanation(
                what: "it has more than \(limit) bytes", remedy: "shorten it", status: .badData)
        }
    }

    /// Names of the files.
    package var names: [String] {
        (card == nil ? [] : [Self.cardName]) + (metadata == nil ? [] : [Self.metadataName])
    }

    /// Weights by the name of their file.
    package struct Weights: Sendable, Equatable {
        var name: String
        var digest: SHA256.Digest

        /// - Throws: `FileError`.
        package init(of path: String, _ format: any AdapterFormat) throws {
            let file = format.weights(of: path)
            name = FilePath.name(of: file)
            digest = try RegularFile.digest(of: file).digest
        }
    }

    /// Writes them beside an adapter that was exported. A card names the library that loads the
    /// folder, and says at its end which weights are there, unless they are those that it describes.
    ///
    /// - Parameters:
    ///   - directory: the adapter's folder.
    ///   - format: of the adapter there.
    ///   - old: the weights that the card describes.
    ///   - new: those beside which it is written.
    ///   - store: where it is written.
    /// - Throws: `FileError`.
    package func write(
        to directory: String, _ format: any AdapterFormat, from old: Weights, to new: Weights,
        in store: any Store = DiskStore()
    ) throws {
        if let metadata {
            try store.write(metadata, to: FilePath.join(directory, Self.metadataName))
        }
        guard let card else { return }
        var bytes = Self.card(card, for: format)
        if old != new {
            let section = """

                ## Exported

                These are \(format.name)'s files of an adapter. \(new.name) has the SHA-256 `\(new.digest)`; \
                \(old.name), of which this card was written, has `\(old.digest)`.

                """
            if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
            bytes += Array(section.utf8)
        }
        try store.write(bytes, to: FilePath.join(directory, Self.cardName))
    }

    /// The card with another `library_name` in its front matter, if it has one.
    private static func card(_ bytes: [UInt8], for format: any AdapterFormat) -> [UInt8] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        func isBorder(_ line: ArraySlice<UInt8>) -> Bool {
            line.elementsEqual("---".utf8) || line.elementsEqual("---\r".utf8)
        }
        guard let first = lines.first, isBorder(first),
            let end = lines.dropFirst().firstIndex(where: isBorder),
            let index = lines[..<end].firstIndex(where: { $0.starts(with: "library_name:".utf8) })
        else { return bytes }
        var changed = lines.map(Array.init)
        changed[index] =
            Array(
                "library_name: \(format.id)".utf8) + (lines[index].last == 0x0D ? [0x0D] : [])
        return Array(changed.joined(separator: [UInt8(ascii: "\n")]))
    }
}
