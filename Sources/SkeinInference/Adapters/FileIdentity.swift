import Foundation
import SkeinBasics
import SkeinModels

/// Which files lie at a path, without a look into them: others have other numbers, sizes or times.
package struct FileIdentity: Sendable, Equatable {
    fileprivate struct Part: Sendable, Equatable {
        /// In its folder; empty for what lies at the path itself.
        var name: String
        var device: UInt64
        var number: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    private var parts: [Part] = []

    /// How the names of files end that a model or an adapter is read from, besides the weights of adapters.
    /// Most of what else is written into their folder, such as logs and folders of runs, changes neither.
    private static let endings = [".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt"]
    /// Named templates; a file that comes or goes changes the folder's time.
    private static let folders: Set<String> = ["additional_chat_templates"]

    /// The identity of a file, or of a folder and those files directly in it that can be a model's
    /// or an adapter's.
    ///
    /// - Parameters:
    ///   - path: where they lie.
    ///   - weights: names of the files with the numbers of adapters.
    /// - Throws: `FileError`.
    package init(
        of path: String, weights: [String] = AdapterFormats.standard.weightsNames
    ) throws {
        let whole = try Self.status(of: path)
        guard FileKind(mode: whole.st_mode) == .directory else {
            parts = [Part("", whole)]
            return
        }
        parts = [Part(folder: whole)]
        // Sorted: a file that comes and goes may leave the others in another order.
        for name in try DiskStore().names(in: path).sorted()
        where Self.folders.contains(name) || weights.contains(name)
            || Self.endings.contains(where: name.hasSuffix)
        {
            parts.append(Part(name, try Self.status(of: FilePath.join(path, name))))
        }
    }

    private static func status(of path: String) throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw FileError.failed(operation: "look at", path: path, code: errno)
        }
        return status
    }
}

extension FileIdentity.Part {
    /// A folder by its place alone: its time is that of whatever was written into it.
    fileprivate init(folder status: stat) {
        self.init("", status)
        (size, seconds, nanoseconds) = (0, 0, 0)
    }

    fileprivate init(_ name: String, _ status: stat) {
        self.name = name
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
    }
}
