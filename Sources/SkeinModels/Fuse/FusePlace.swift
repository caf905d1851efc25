import Foundation
import SkeinBasics

/// Where a fused model may be written.
package enum FusePlace {
    /// Refuses a place where something is, or that is inside of what is read.
    ///
    /// - Parameters:
    ///   - output: where a file or folder would be made.
    ///   - inputs: files and folders that are read.
    /// - Throws: `FuseError.outputExists`, `.insideInput`.
    package static func check(_ output: String, against inputs: [String]) throws(FuseError) {
        var status = stat()
        // Also a link that leads nowhere; one with a slash behind it would be followed.
        guard lstat(FilePath.trimmed(output), &status) != 0 else {
            throw FuseError.outputExists(path: output)
        }
        guard let parent = resolved(nearest(FilePath.parent(of: FilePath.trimmed(output)))) else {
            return
        }
        for input in inputs {
            guard let place = resolved(input) else { continue }
            if parent == place || parent.hasPrefix(place == "/" ? place : place + "/") {
                throw FuseError.insideInput(path: output, input: input)
            }
        }
    }

    /// The directory or the lowest one above it that exists.
    private static func nearest(_ path: String) -> String {
        var path = path
        while !FileManager.default.fileExists(atPath: path), FilePath.parent(of: path) != path {
            path = FilePath.parent(of: path)
        }
        return path
    }

    private static func resolved(_ path: String) -> String? {
        guard let bytes = realpath(path, nil) else { return nil }
        defer { free(bytes) }
        return String(cString: bytes)
    }
}
