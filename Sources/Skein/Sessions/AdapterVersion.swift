import Foundation
import SkeinBasics

/// Folders of an adapter's versions: `jargon`, `jargon-version-2`, `jargon-version-3`.
enum AdapterVersion {
    private static let mark = "-version-"
    /// Far more than anybody makes of one adapter.
    private static let most = 100_000

    /// Makes an empty folder for the next version of an adapter.
    ///
    /// - Parameter path: of the adapter, or of the adapter in a run directory, whose versions stand
    ///   beside the run directory.
    /// - Returns: the folder, with the first number above the adapter's own that is free.
    /// - Throws: `FileError`.
    static func next(to path: String) throws -> String {
        let path = FilePath.trimmed(path)
        let run = FilePath.parent(of: path)
        let isOfRun = DiskStore().exists(FilePath.join(run, "run.json"))
        let (name, number) = parsed(isOfRun ? run : path)
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

    /// A path without its version, and the version: 1 without one.
    static func parsed(_ path: String) -> (name: String, number: Int) {
        guard let range = path.range(of: mark, options: .backwards),
            path[range.upperBound...].allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(path[range.upperBound...]), (1..<most).contains(number)
        else { return (path, 1) }
        return (String(path[..<range.lowerBound]), number)
    }
}
