import SkeinBasics

/// The processes of a launch, and their command lines. Pure.
package struct LaunchPlan: Sendable {
    package struct Worker: Sendable {
        package var name: String
        package var threads: Int?
        /// nil: fetched from the coordinator.
        package var model: String?
        /// The path of `skein` where the worker runs.
        var program: String
        var backend: any LaunchBackend
    }

    /// The path of `skein` on this machine.
    var program: String
    /// Where the coordinator listens at its first start; with port 0 the system chooses a port.
    var listen: String
    /// The token file of the coordinator, which always runs on this machine.
    var tokenFile: String
    /// Training and other options for the coordinator, as command line words.
    var coordinatorWords: [String]
    var resumes: Bool
    package var workers: [Worker]
    /// Options for every worker, as command line words.
    var workerWords: [String]
    var format: Log.Format

    package init(
        program: String, listen: String, tokenFile: String, coordinatorWords: [String],
        resumes: Bool, workers: [Worker], workerWords: [String], format: Log.Format = .text
    ) {
        self.program = program
        self.listen = listen
        self.tokenFile = tokenFile
        self.coordinatorWords = coordinatorWords
        self.resumes = resumes
        self.workers = workers
        self.workerWords = workerWords
        self.format = format
    }

    /// - Parameters:
    ///   - address: where this launch's coordinator listened before, nil at first. Workers
    ///     reconnect to that address.
    ///   - again: whether it is restarted and must resume.
    /// - Returns: the program to start.
    package func coordinator(address: String?, again: Bool) -> ChildProgram {
        let resuming = resumes || again ? ["--resume"] : []
        return ChildProgram(
            words: [
                program, "coordinator", "--listen", address ?? listen, "--token-file", tokenFile,
            ] + coordinatorWords + resuming)
    }

    /// - Parameters:
    ///   - index: of `workers`.
    ///   - address: where the coordinator listens.
    /// - Returns: the program to start.
    package func worker(_ index: Int, address: String) -> ChildProgram {
        let worker = workers[index]
        var words = [worker.program, "worker", "--coordinator", address, "--name", worker.name]
        if let threads = worker.threads { words += ["--threads", "\(threads)"] }
        if let model = worker.model { words += ["--model", model] }
        return worker.backend.program(words + workerWords)
    }

    /// Ends a member's child; the coordinator is always on this machine.
    func stop(_ member: Supervision.Member, _ child: ChildProcess, isForced: Bool) {
        let backend =
            switch member {
            case .coordinator: LocalBackend(tokenFile: tokenFile) as any LaunchBackend
            case .worker(let index): workers[index].backend
            }
        backend.stop(child, isForced: isForced)
    }

    func name(of member: Supervision.Member) -> String {
        switch member {
        case .coordinator: "coordinator"
        case .worker(let index): workers[index].name
        }
    }

    /// Checks that a launch ended with a complete run. The exit status of the error is that of the
    /// child, if it is one of ours.
    ///
    /// - Parameters:
    ///   - verdict: how the launch ended.
    ///   - directory: the run's.
    /// - Throws: `LaunchError` unless the run is complete.
    package func check(_ verdict: Supervision.Verdict, directory: String) throws(LaunchError) {
        let (name, ending): (String, ChildProcess.Ending)
        switch verdict {
        case .interrupted: throw .interrupted(directory: directory)
        case .coordinator(let end): (name, ending) = (self.name(of: .coordinator), end)
        case .worker(let index, let end): (name, ending) = (self.name(of: .worker(index)), end)
        }
        var status = ExitStatus.internalError
        if case .exited(let code) = ending, let known = ExitStatus(rawValue: code) {
            status = known
        }
        switch status {
        case .done: return
        case .interrupted: throw .interrupted(directory: directory)
        default: throw .memberFailed(name: name, ending: ending.text, status: status)
        }
    }
}
