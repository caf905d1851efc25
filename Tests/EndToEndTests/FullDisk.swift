import Foundation
import SkeinBench
import SkeinTestSupport

/// A run on a disk of 240 kB, and again with `--resume` on the same disk when it has grown.
enum FullDisk {
    /// Whether this user may mount in a new namespace.
    static let isPossible: Bool = {
        do {
            return try SkeinProcess.run(["--version"], shell: "unshare -m true").status == 0
        } catch {
            return false
        }
    }()

    /// Prints "first: STATUS" and "second: STATUS"; the folder of each run, disk/run, is kept as
    /// disk.first and disk.second.
    ///
    /// - Parameters:
    ///   - words: the words of skein, with disk/run as its output.
    ///   - bench: where the disk is mounted.
    ///   - size: the disk's the second time, as mount takes it.
    /// - Returns: what both runs wrote.
    /// - Throws: when the shell cannot be started or does not end.
    static func run(
        _ words: [String], in bench: Workbench, then size: String
    ) throws -> SkeinProcess.Ending {
        try FileManager.default.createDirectory(
            atPath: bench.path("disk"), withIntermediateDirectories: true)
        // The mount lives in the namespace of this shell and goes with it.
        let shell = """
            exec unshare -m sh -c '
            disk=$1; shift
            mount -t tmpfs -o size=240k none "$disk" || exit 1
            "$@"; echo "first: $?"
            cp -r "$disk/run" "$disk.first"
            mount -o remount,size=\(size) "$disk" || exit 1
            "$@" --resume; echo "second: $?"
            cp -r "$disk/run" "$disk.second"
            ' sh '\(bench.path("disk"))' "$@"
            """
        return try SkeinProcess.run(words, shell: shell)
    }
}
