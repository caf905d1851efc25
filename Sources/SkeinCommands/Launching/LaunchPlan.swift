import SkeinBasics
import SkeinTraining

/// The command lines of a launch. Pure.
struct LaunchPlan: Sendable, Equatable {
    /// A program with its arguments, and what it reads first.
    struct Program: Sendable, Equatable {
        var words: [String]
        var input: [UInt8] = []
    }

    struct Worker: Sendable, Equatable {
        var name: String
        var place: Place
        var threads: Int?
        var model: String?
        /// `skein`, where the worker runs.
        var program: String

        enum Place: Sendable, Equatable {
            case here
            /// What ssh is told.
            case host(String)
        }
    }

    /// `skein` on this machine.
    var program: String
    /// As it is given to the coordinator; port 0 becomes a real one with its first start.
    var listen: String
    var tokenFile: String
    /// The bytes of `tokenFile`, for other hosts.
    var token: [UInt8]
    /// Training options and others for the coordinator, as words.
    var coordinatorWords: [String]
    var resumes: Bool
    var workers: [Worker]
    /// Options that all workers have in common, as words.
    var workerWords: [String]
    var format = Log.Format.text
    /// Looked up in PATH.
    var ssh = "ssh"

    /// - Parameters:
    ///   - address: where the coordinator of this launch listened before, nil at first: workers know
    ///     that address and come back to it.
    ///   - again: it goes on where it was.
    /// - Returns: the program to start.
    func coordinator(address: String?, again: Bool) -> Program {
        let resuming = resumes || again ? ["--resume"] : []
        return Program(
            words: [
                program, "coordinator", "--listen", address ?? listen, "--token-file", tokenFile,
            ] + coordinatorWords + resuming)
    }

    /// - Parameters:
    ///   - index: of `workers`.
    ///   - address: where the coordinator listens.
    /// - Returns: the program to start.
    func worker(_ index: Int, address: String) -> Program {
        let worker = workers[index]
        var words = ["worker", "--coordinator", address, "--name", worker.name]
        if let threads = worker.threads { words += ["--threads", "\(threads)"] }
        if let model = worker.model { words += ["--model", model] }
        words += workerWords
        switch worker.place {
        case .here:
            return Program(words: [worker.program] + words + ["--token-file", tokenFile])
        case .host(let destination):
            let script = remoteScript([worker.program] + words)
            return Program(
                words: [
                    ssh, "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o",
                    "ServerAliveInterval=15", destination,
                    "sh -c " + ShellWords.quoted(script),
                ], input: token)
        }
    }

    /// What a host runs: the token comes in on standard input, since a command line can be seen by
    /// everybody there, into a file that its owner alone can read and that goes with the worker.
    ///
    /// dd takes exactly the token; the worker keeps the rest of the stream, whose end tells it that
    /// launch or the connection is gone.
    private func remoteScript(_ words: [String]) -> String {
        "umask 077; t=$(mktemp) || exit 74; trap 'rm -f \"$t\"' EXIT; trap 'exit 129' HUP INT TERM; "
            + "dd bs=1 count=\(token.count) of=\"$t\" 2>/dev/null || exit 74; "
            + "\(ParentPipe.variable)=0 \(ShellWords.line(words)) --token-file \"$t\""
    }

    func name(of member: Supervision.Member) -> String {
        switch member {
        case .coordinator: "coordinator"
        case .worker(let index): workers[index].name
        }
    }
}

extension ParsedArguments {
    /// The options of `options` that were given, as words that give them again.
    func words(_ options: [OptionDescription]) -> [String] {
        options.flatMap { option -> [String] in
            guard let text = text(of: option) else { return [] }
            if option.isFlag { return text == "true" ? ["--" + option.name] : [] }
            return ["--\(option.name)=\(text)"]
        }
    }
}
