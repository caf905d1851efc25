import Foundation

/// The file that this process runs.
package enum ProgramFile {
    /// Its real path, so that `ps` and `pgrep` show children started from it by name.
    package static var path: String {
        let link = "/proc/self/exe"
        guard let path = realpath(link, nil) else { return link }
        defer { free(path) }
        return String(cString: path)
    }
}
