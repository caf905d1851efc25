import Foundation
import SkeinBasics

/// Folders of an adapter's versions: `jargon`, `jargon-version-2`, `jargon-version-3`.
enum AdapterVersion {
    private static let mark = "-version-"
    /// Far more versions than one adapter ever has.
    private static let most = 100_000

    /// Makes an empty folder for the next version of an adapter.
    ///
    /// - Parameter path: of the adapter; if it is the adapter or a checkpoint of a run directory,
    ///   the versions stand beside that.
    /// - Returns: the folder, with the first number above the adapter's own that is free.
    /// - Throws: `FileError`.
    static func next(to path: String) throws -> String {
        let path = FilePath.trimmed(path)
        let (name, number) = parsed(run(of: path) ?? path)
        for number in number + 1...most {
            let folder = name + mark + String(number)
            // Fails if another task has just made it.
            if mkdir(folder, 0o755) == 0 { return folder }
            guard errno == EEXIST else {
                throw FileError.failed(
                    operation: "make the directory", path: folder, code: errno)
            }
        }
        throw FileError.failed(operation: "make the directory", path: name + mark, code: EEXIST)
    }

    /// The run directory that an adapter is in, as its result or as a checkpoint.
    private static func run(of path: String) -> String? {
        let folder = FilePath.parent(of: path)
        var runs = [folder]
        // Only the run may put anything beside its checkpoints.
        if FilePath.name(of: folder) == "checkpoints" { runs.append(FilePath.parent(of: folder)) }
        return runs.first { DiskStore().exists(FilePath.join($0, "run.json")) }
    }

    /// A path without its version, and the version: 1 without one.
    static func parsed(_ path: String) -> (name: String, number: Int) {
        guard let range = path.range(of: mark, options: .backwards),
            path[range.upperBound...].allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(path[range.upperBound...]), (1..<most).contains(number)
        else { return (path, 1) }
        return (String(path[..<range.lowerBound]), number)
    }
}
