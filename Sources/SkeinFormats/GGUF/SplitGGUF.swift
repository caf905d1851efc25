import Foundation
import SkeinBasics

/// The name of one part of a split GGUF file: `NAME-00002-of-00003.gguf`.
struct SplitName: Equatable {
    /// The path up to the first of the two numbers' hyphens.
    let stem: String
    /// From 1.
    let part: Int
    let count: Int

    /// nil unless the last part of `path` is such a name.
    init?(path: String) {
        let match = path.wholeMatch(
            of: #/(?<stem>.*)-(?<part>[0-9]{5})-of-(?<count>[0-9]{5})\.gguf/#
                .dotMatchesNewlines())
        guard let match, let part = Int(match.part), let count = Int(match.count),
            part >= 1, part <= count
        else { return nil }
        stem = String(match.stem)
        self.part = part
        self.count = count
    }

    /// The path of part `part` of the same model.
    func path(ofPart part: Int) -> String { stem + Self.ending(part, of: count) }

    /// The name that a part has in a model's digest and on the wire, whatever its file is called.
    static func plain(part: Int, of count: Int) -> String { "model" + ending(part, of: count) }

    private static func ending(_ part: Int, of count: Int) -> String {
        String(format: "-%05d-of-%05d.gguf", part, count)
    }

    /// The first part in a folder that holds one split model; nil if there is none or several.
    ///
    /// - Throws: `FileError` when the folder cannot be listed.
    static func firstPart(inFolder directory: String) throws -> String? {
        let firsts = try DiskStore().names(in: directory).filter { SplitName(path: $0)?.part == 1 }
        return firsts.count == 1 ? firsts.first.map { FilePath.join(directory, $0) } : nil
    }
}

extension GGUFFile {
    /// The parts of a split file, in order, when `path` is any of them.
    ///
    /// llama.cpp's gguf-split writes the metadata into the first part, and split.no, split.count and
    /// split.tensors.count into each.
    ///
    /// - Parameters:
    ///   - given: the part that has been read.
    ///   - count: what it says about the number of parts, above 1.
    /// - Returns: all parts.
    /// - Throws: `FormatError` when a part is missing or not of this model, or the name does not say
    ///   where the others are; `FileError`.
    static func parts(of given: Part, count: UInt64) throws -> [Part] {
        let path = given.file.path
        guard count <= UInt64(Limits.shards) else {
            throw FormatError.overLimit(
                path: path, field: "split.count", limit: UInt64(Limits.shards), found: count)
        }
        guard let name = SplitName(path: path), name.count == Int(count) else {
            throw FormatError.splitFile(path: path, parts: count)
        }
        let parts = try (1...name.count).map { number in
            guard number != name.part else { return given }
            let other = name.path(ofPart: number)
            guard try FileKind.at(other) != nil else {
                throw FormatError.missingFile(
                    path: FilePath.parent(of: other), expected: FilePath.name(of: other))
            }
            return try Part(path: other)
        }
        let tensors = parts.reduce(0) { $0 + $1.tensors.count }
        for (number, part) in parts.enumerated() {
            try part.require("split.no", number)
            try part.require("split.count", name.count)
        }
        for part in parts { try part.require("split.tensors.count", tensors) }
        return parts
    }

    /// All tensors of `parts`.
    ///
    /// - Throws: `FormatError.duplicate`.
    static func merged(_ parts: [Part]) throws -> [String: TensorView] {
        var tensors: [String: TensorView] = [:]
        for part in parts {
            for (name, view) in part.tensors {
                guard tensors.updateValue(view, forKey: name) == nil else {
                    throw FormatError.duplicate(path: part.file.path, name: name)
                }
            }
        }
        return tensors
    }
}

extension GGUFFile.Part {
    /// Checks an integer of the metadata.
    fileprivate func require(_ field: String, _ expected: Int) throws {
        let found: Int? =
            switch metadata[field] {
            case .unsigned(let number): Int(clamping: number)
            case .integer(let number): Int(clamping: number)
            default: nil
            }
        guard found == expected else {
            throw FormatError.badField(
                path: file.path, field: field, expected: String(expected),
                found: found.map(String.init) ?? metadata[field]?.kind ?? "missing")
        }
    }
}
