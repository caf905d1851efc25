import SkeinBasics

/// Who is started in a launch, and with which command lines. Pure.
package struct LaunchPlan: Sendable {
    package struct Worker: Sendable {
        package var name: String
        package var threads: Int?
        /// nil: fetched from the coordinator.
        package var model: String?
        /// `skein`, where the worker runs.
        var program: String
        var backend: any LaunchBackend
    }

    /// `skein` on this machine.
    var program: String
    /// As it is given to the coordinator; port 0 becomes a real one with its first start.
    var listen: String
    /// Where the coordinator, which is always here, reads the token.
    var tokenFile: String
    /// Training options and others for the coordinator, as words.
    var coordinatorWords: [String]
    var resumes: Bool
    package var workers: [Worker]
    /// Options that all workers have in common, as words.
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
    ///   - address: where the coordinator of this launch listened before, nil at first: workers know
    ///     that address and come back to it.
    ///   - again: it goes on where it was.
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

    /// Ends a member's child; the coordinator is one of this machine's.
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

    /// Whether a launch came to its good end. The exit status is the coordinator's, as far as it is
    /// one of ours.
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
