import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

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

    /// Starts a coordinator on such a disk, and again on its port when it has ended and the disk has
    /// grown. It prints as `run` does, and its folder is kept as disk.second.
    ///
    /// - Parameters:
    ///   - words: the words of a coordinator, with disk/run as its output.
    ///   - bench: where the disk is mounted.
    ///   - size: the disk's the second time, as mount takes it.
    /// - Returns: both, as one process, and the address at which they listen.
    /// - Throws: when the shell cannot be started, or the first coordinator does not listen.
    static func coordinator(
        _ words: [String], in bench: Workbench, then size: String
    ) throws -> (SkeinProcess, address: String) {
        try FileManager.default.createDirectory(
            atPath: bench.path("disk"), withIntermediateDirectories: true)
        let log = bench.path("disk.log")
        let shell = """
            exec unshare -m sh -c '
            disk=$1; shift
            mount -t tmpfs -o size=240k none "$disk" || exit 1
            "$@" --listen 127.0.0.1:0 2>"$disk.log"; echo "first: $?"
            cat "$disk.log" >&2
            mount -o remount,size=\(size) "$disk" || exit 1
            "$@" --resume --listen "$(sed -n "s/.*listening on //p" "$disk.log" | head -n 1)"
            echo "second: $?"
            cp -r "$disk/run" "$disk.second"
            ' sh '\(bench.path("disk"))' "$@"
            """
        let process = try SkeinProcess(words, shell: shell, isHeld: true)
        var address: String?
        try process.wait(SkeinProcess.patience, for: "its address") {
            let data = FileManager.default.contents(atPath: log) ?? Data()
            // The last piece may be an incomplete line.
            let lines = String(decoding: data, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast()
            let mark = "listening on "
            address = lines.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
            return address != nil
        }
        return (process, try #require(address, "\(process.errorText)"))
    }
}
