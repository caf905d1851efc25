import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels

extension SystemLanguageModel {
    /// A LoRA adapter for a base model: what `skein train` writes, or a PEFT or MLX folder, or a GGUF
    /// file.
    ///
    /// An adapter that Skein trained says which base it was made for, by SHA-256; with another base, a
    /// request throws `AssetError.compatibleAdapterNotFound`.
    public struct Adapter: Sendable {
        /// Why there is no adapter.
        public enum AssetError: LocalizedError {
            /// What happened, where and how to mend it.
            public struct Context: Sendable {
                /// The whole text.
                public let debugDescription: String

                /// Shapes a context of its own, for tests of error handling.
                ///
                /// - Parameter debugDescription: the whole text.
                public init(debugDescription: String) {
                    self.debugDescription = debugDescription
                }
            }

            /// Its files are missing, damaged or of no known format.
            case invalidAsset(Context)
            /// A name of letters, digits and underscores is wanted.
            case invalidAdapterName(Context)
            /// There is none of this name, or none that was made for the base.
            case compatibleAdapterNotFound(Context)

            /// The context's text.
            public var errorDescription: String? {
                switch self {
                case .invalidAsset(let context), .invalidAdapterName(let context),
                    .compatibleAdapterNotFound(let context):
                    context.debugDescription
                }
            }
        }

        /// The folder or file.
        let path: String
        /// SHA-256 of the base that it was made for, in hexadecimal; nil: it does not say.
        let baseDigest: String?
        private let metadata: Data?

        /// Opens an adapter and checks its files; its numbers are read when a request needs them.
        ///
        /// - Parameter fileURL: a PEFT or MLX folder, a GGUF file, or the directory of a run, which means
        ///   the adapter in it.
        /// - Throws: `AssetError.invalidAsset`.
        public init(fileURL: URL) throws {
            try self.init(path: AdapterFormats.standard.place(fileURL.path(percentEncoded: false)))
        }

        /// The newest adapter of a name in the adapter store that fits the configured model.
        ///
        /// - Parameter name: letters, digits and underscores.
        /// - Throws: `AssetError`.
        public init(name: String) throws {
            let store = AdapterStore()
            try store.check(name)
            guard let found = try store.compatible(name).first else {
                throw AssetError.compatibleAdapterNotFound(
                    .init(debugDescription: try store.absence(of: name)))
            }
            try self.init(path: found.path)
        }

        init(path: String) throws {
            do {
                try self.init(reading: path)
            } catch {
                throw AssetError.invalidAsset(.init(error))
            }
        }

        /// - Throws: `FileError`, or what is wrong with the adapter's files.
        init(reading path: String) throws {
            self.path = FilePath.withoutEndingSlash(path)
            // Reads all of the weights first: an unreadable file is an error here, not a signal later.
            _ = try RegularFile.digest(of: AdapterFormats.standard.weights(of: self.path))
            baseDigest = try AdapterSummary(path: self.path).configuration.origin?.base.sha256
            metadata = Self.metadata(of: self.path)
        }

        /// What the creator wrote into `metadata.json` beside the adapter, under `creatorDefined`; empty
        /// if there is none.
        public var creatorDefinedMetadata: [String: Any] {
            // They are remarks for the app alone: an adapter works without them, and with damaged ones.
            guard let metadata,
                let whole = try? JSONSerialization.jsonObject(with: metadata) as? [String: Any]
            else { return [:] }
            return whole["creatorDefined"] as? [String: Any] ?? [:]
        }

        private static func metadata(of path: String) -> Data? {
            let file = FilePath.join(path, AdapterNotes.metadataName)
            let limit = AdapterNotes.metadataBytes
            // They are remarks for the app alone: what cannot be read has none.
            let bytes = try? RegularFile.bytes(of: file, from: 0, limit: limit + 1)
            return bytes.flatMap { $0.count <= limit ? Data($0) : nil }
        }

        /// Prepares an adapter for use. There is nothing to compile here: it checks once more that the
        /// files can be read. Draft models are not used.
        ///
        /// - Throws: `AssetError.invalidAsset`.
        public func compile() async throws {
            let path = path
            try await Aside.run { _ = try Adapter(path: path) }
        }

        /// Identifiers of the store's adapters of a name that fit the configured model, the newest first.
        ///
        /// - Parameter name: letters, digits and underscores.
        /// - Returns: names in the store, such as `fmadapter-tone-3`; none if there are none.
        public static func compatibleAdapterIdentifiers(name: String) -> [String] {
            let store = AdapterStore()
            // Without an error to throw: `init(name:)` says why there is none.
            return (try? store.compatible(name))?.map(\.identifier) ?? []
        }

        /// Removes the store's adapters that were made for another base than the configured model.
        /// Adapters that do not say for which base they were made stay.
        ///
        /// - Throws: `AssetError`; an error of the file system.
        public static func removeObsoleteAdapters() throws {
            try AdapterStore().removeObsolete()
        }
    }
}

extension SystemLanguageModel.Adapter.AssetError.Context {
    /// What an error says, in one text.
    init(_ error: any Error) {
        self.init(debugDescription: ErrorText.of(error))
    }
}

/// Errors of the rooms below as one text: what happened, where, how to mend it.
enum ErrorText {
    static func of(_ error: any Error) -> String {
        guard let explained = error as? any Explained else { return "\(error)" }
        let explanation = explained.explanation
        let remedy = explanation.remedy
        return explanation.located + (remedy.isEmpty ? "" : ": \(remedy)")
    }
}
