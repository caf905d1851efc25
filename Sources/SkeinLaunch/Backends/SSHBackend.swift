import Foundation
import SkeinBasics

/// A worker on another host, represented here by an ssh client.
package struct SSHBackend: LaunchBackend {
    /// `user@host`, `host`, or a name in ~/.ssh/config.
    let destination: String
    /// Passed on standard input, since all users of the host can see a command line.
    let token: [UInt8]
    /// Looked up in PATH.
    var ssh = "ssh"

    package func program(_ words: [String]) -> ChildProgram {
        ChildProgram(
            words: Self.words(ssh, connectTimeout: 30, destination, script(words)), input: token)
    }

    /// The command line that has a host run `script`, whatever the user's shell is there; it never asks
    /// for a password.
    static func words(
        _ ssh: String, connectTimeout: Int, _ destination: String, _ script: String
    ) -> [String] {
        [
            ssh, "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=\(connectTimeout)", "-o",
            "ServerAliveInterval=15", destination, "sh -c " + ShellWords.quoted(script),
        ]
    }

    /// What the host runs. The token goes into a file that only its owner can read and that is
    /// removed when the worker ends.
    ///
    /// dd reads exactly the token; the worker keeps the rest of the stream, whose end tells it that
    /// launch or the connection is gone.
    private func script(_ words: [String]) -> String {
        "umask 077; t=$(mktemp) || exit 74; trap 'rm -f \"$t\"' EXIT; trap 'exit 129' HUP INT TERM; "
            + "dd bs=1 count=\(token.count) of=\"$t\" 2>/dev/null || exit 74; "
            + "\(ParentPipe.variable)=0 \(ShellWords.line(words)) --token-file \"$t\""
    }

    /// Signals do not pass through the connection, but its end closes the worker's standard input,
    /// and then the worker ends (`ParentPipe`).
    package func stop(_ child: ChildProcess, isForced: Bool) {
        child.send(isForced ? SIGKILL : SIGTERM)
    }

    /// A worker on each host of a file.
    ///
    /// - Parameters:
    ///   - file: the hosts.
    ///   - token: the run's.
    ///   - threads: for hosts whose line has none.
    ///   - programs: where a release was copied to, by the host's name; others use their own `skein`.
    /// - Returns: the workers, in the order of the file.
    package static func workers(
        _ file: HostFile, token: [UInt8], threads: Int?, programs: [String: String] = [:]
    ) -> [LaunchPlan.Worker] {
        file.hosts.map { host in
            LaunchPlan.Worker(
                name: host.name, threads: host.threads ?? threads, model: host.model,
                program: programs[host.name] ?? host.skein,
                backend: SSHBackend(destination: host.destination, token: token))
        }
    }
}
