import Foundation

/// The file that this process runs.
package enum ProgramFile {
    /// Its path by its own name, so that `ps` and `pgrep` know children that are started from it.
    package static var path: String {
        let link = "/proc/self/exe"
        guard let path = realpath(link, nil) else { return link }
        defer { free(path) }
        return String(cString: path)
    }
}
