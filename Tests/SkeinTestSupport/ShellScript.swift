import Foundation

/// Programs that a test writes and runs.
package enum ShellScript {
    /// Writes a script for `sh` to `path` that can be run at once.
    ///
    /// Another process writes the file: if this one opened it, a child that another test is
    /// starting could still have the descriptor, and running the script would fail with ETXTBSY.
    package static func write(_ text: String, at path: String) throws {
        let source = path + ".text"
        try Data(("#!/bin/sh\n" + text).utf8).write(to: URL(fileURLWithPath: source))
        let copy = Process()
        copy.executableURL = URL(fileURLWithPath: "/bin/sh")
        copy.arguments = [
            "-c", #"cp "$0" "$1" && chmod 755 "$1" && rm "$0""#, source, path,
        ]
        try copy.run()
        copy.waitUntilExit()
        guard copy.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
