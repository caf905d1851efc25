import Foundation
import SkeinBasics
import SkeinTraining

/// The directory below which clients may name adapters.
struct AdapterRoot: Sendable {
    /// Without links.
    let path: String

    /// - Throws: `FileError` when there is no such directory.
    init(_ path: String) throws {
        self.path = try Self.resolved(path)
    }

    /// The file or folder that a client means: relative to the root, or absolute, with all links
    /// followed before it is compared.
    ///
    /// - Throws: `ServeError.outsideRoot`, also for what does not exist: nobody outside learns what
    ///   else is on this machine.
    func resolve(_ name: String) throws(ServeError) -> String {
        let given = name.hasPrefix("/") ? name : FilePath.join(path, name)
        guard !name.isEmpty, !name.utf8.contains(0), let found = try? Self.resolved(given),
            found.hasPrefix(path == "/" ? "/" : path + "/")
        else { throw .outsideRoot(path: APIError.printable(name)) }
        return found
    }

    /// The adapter that a client means: no file of it may lie elsewhere either.
    ///
    /// - Throws: `ServeError.outsideRoot`.
    func resolveAdapter(_ name: String) throws(ServeError) -> String {
        let found = try resolve(name)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: found)) ?? []
        guard names.count <= Limits.adapterFiles else {
            throw .outsideRoot(path: APIError.printable(name))
        }
        for file in names { _ = try resolve(FilePath.join(found, file)) }
        return found
    }

    /// A path below the root without the root.
    func relative(_ path: String) -> String {
        String(path.dropFirst(self.path == "/" ? 1 : self.path.count + 1))
    }

    private static func resolved(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else {
            throw FileError.failed(operation: "resolve", path: path, code: errno)
        }
        defer { free(real) }
        return String(cString: real)
    }
}

/// A part of a model's name that says which checkpoint of a run is meant: `RUN@50`, `RUN@latest`.
struct CheckpointName: Sendable, Equatable {
    var run: String
    /// nil: the newest.
    var step: Int?

    init?(_ name: String) {
        guard let at = name.lastIndex(of: "@"), at > name.startIndex else { return nil }
        run = String(name[..<at])
        let word = name[name.index(after: at)...]
        if word == "latest" {
            step = nil
        } else if let number = Int(word), number >= 0, String(number) == word {
            step = number
        } else {
            return nil
        }
    }

    /// The step and the path of the checkpoint in a run's directory.
    ///
    /// - Throws: `ServeError.noCheckpoint`.
    func find(in directory: String) throws(ServeError) -> (step: Int, path: String) {
        let store = CheckpointStore(directory: FilePath.join(directory, "checkpoints"))
        let steps = (try? store.steps()) ?? []
        guard let found = step.map({ steps.contains($0) ? $0 : nil }) ?? steps.last else {
            throw .noCheckpoint(run: run, step: step.map(String.init) ?? "latest")
        }
        return (found, store.path(ofStep: found))
    }
}
