import Foundation

/// A worker on another host, with an ssh client that stands for it here.
package struct SSHBackend: LaunchBackend {
    /// `user@host`, `host`, or a name of ~/.ssh/config.
    let destination: String
    /// Handed over on standard input, since everybody on the host sees a command line.
    let token: [UInt8]
    /// Looked up in PATH.
    var ssh = "ssh"

    package func program(_ words: [String]) -> ChildProgram {
        ChildProgram(
            words: [
                ssh, "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o",
                "ServerAliveInterval=15", destination,
                "sh -c " + ShellWords.quoted(script(words)),
            ], input: token)
    }

    /// What the host runs: the token goes into a file that its owner alone can read and that goes with
    /// the worker.
    ///
    /// dd takes exactly the token; the worker keeps the rest of the stream, whose end tells it that
    /// launch or the connection is gone.
    private func script(_ words: [String]) -> String {
        "umask 077; t=$(mktemp) || exit 74; trap 'rm -f \"$t\"' EXIT; trap 'exit 129' HUP INT TERM; "
            + "dd bs=1 count=\(token.count) of=\"$t\" 2>/dev/null || exit 74; "
            + "\(ParentPipe.variable)=0 \(ShellWords.line(words)) --token-file \"$t\""
    }

    /// No signal passes through a connection; but its end closes the worker's standard input, and a
    /// worker without its parent ends (`ParentPipe`).
    package func stop(_ child: ChildProcess, isForced: Bool) {
        child.send(isForced ? SIGKILL : SIGTERM)
    }

    /// A worker on each host of a file; `threads` for those whose line has none.
    package static func workers(
        _ file: HostFile, token: [UInt8], threads: Int?
    ) -> [LaunchPlan.Worker] {
        file.hosts.map { host in
            LaunchPlan.Worker(
                name: host.name, threads: host.threads ?? threads, model: host.model,
                program: host.skein,
                backend: SSHBackend(destination: host.destination, token: token))
        }
    }
}

/// Words as a POSIX shell reads them back.
package enum ShellWords {
    /// `word` as it is when it has nothing that a shell would take up, else in single quotes.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "_-./:=@%+,".unicodeScalars.contains(scalar))
        }
        if isPlain, !word.isEmpty { return word }
        return "'"
            + word.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }

    /// Several words as one line.
    package static func line(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}
