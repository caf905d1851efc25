import SkeinBasics
import SkeinFormats

/// A format of adapters: what a tool takes, and what of an adapter has no place in it.
///
/// A file of this folder for each reads and writes it. Between them adapters have PEFT's names.
package protocol AdapterFormat: Sendable {
    /// Its name in options, JSON and cards.
    var id: String { get }
    /// Its name in sentences.
    var name: String { get }
    var form: AdapterForm { get }
    var cannotHold: Set<AdapterPart> { get }
    /// Whether files may have slices of a fused module, since the tool knows it as several projections:
    /// those that are read are joined.
    var mayStoreSlices: Bool { get }

    /// Reads an adapter for a base model. `check` sees what the files promise before memory is taken
    /// for it; `store` is where folders are.
    ///
    /// - Throws: `FileError`, `FormatError`, `AdapterError`; what `check` throws.
    func read(
        _ path: String, for model: ModelDirectory, in store: any Store,
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles

    /// Reads an adapter without its base model. Its numbers may stay on disk (`MappedFile`), so call it
    /// only for files that have been read before.
    ///
    /// - Throws: `FileError`, `FormatError`.
    func map(_ path: String) throws -> AdapterFiles

    /// Writes an adapter that it can hold. `blocks`: what names of weights begin with.
    ///
    /// - Throws: `FileError`, `FormatError`, `AdapterError`.
    func write(
        _ export: AdapterExport, to path: String, blocks: AdapterTensorName.Blocks,
        in store: any Store
    ) throws
}

/// Where an adapter's numbers are, by which its format is found.
package enum AdapterForm: Sendable, Equatable {
    /// In a file of this name in a folder, which has room for notes.
    case folder(weights: String)
    /// In one file, which begins so.
    case file(beginning: String)
}

/// What a format may be unable to hold of an adapter.
package enum AdapterPart: Sendable {
    /// Those of DoRA.
    case magnitudes
    /// An adapter of one of embedding and head where these are one tensor. mlx-lm's embedding is its
    /// head, with the adapter, and llama.cpp finds the same matrices for both.
    case tiedEdge
}

extension AdapterFormat {
    package var isFolder: Bool { weightsName != nil }

    /// The file in a folder that has the numbers; nil: the adapter is one file.
    package var weightsName: String? {
        if case .folder(let name) = form { name } else { nil }
    }

    /// The file with the numbers of the adapter at a path.
    package func weights(of path: String) -> String {
        weightsName.map { FilePath.join(path, $0) } ?? path
    }

    /// Checks that it can hold an adapter of a base model. `edges`: what it adapts outside of blocks.
    ///
    /// - Throws: `AdapterError.noMagnitudes`, `.tiedEdge`.
    func check(
        usesMagnitudes: Bool, edges: [EdgeTensorName.Module], of model: ModelDirectory
    ) throws(AdapterError) {
        if usesMagnitudes, cannotHold.contains(.magnitudes) { throw .noMagnitudes(format: name) }
        guard cannotHold.contains(.tiedEdge), model.configuration.tiedEmbeddings,
            let edge = edges.first
        else { return }
        throw .tiedEdge(module: edge.rawValue, format: name)
    }
}
