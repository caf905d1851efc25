import SkeinBasics

/// Why a host cannot take part. Cases carry facts; `HostProblem+Sentences` has the words.
enum HostProblem: Error, Equatable, Sendable {
    /// ssh gave up; `words` are its last.
    case unreachable(Refusal, words: String)
    /// ssh said nothing for `seconds`, at this point.
    case silent(Stage, seconds: Int)
    /// It writes more than launch is willing to read.
    case floods
    /// Something other than a shell answers.
    case noShell(words: String)
    case noSkein(program: String)
    /// `skein --version` failed there.
    case doesNotRun(path: String, status: Int, words: String)
    /// Something that is called `skein` answers otherwise than Skein.
    case notSkein(path: String)
    case otherSystem(found: String, here: String)
    case otherVersion(found: String, here: String)
    case otherEngine(found: String, here: String)
    /// The release did not get there; `step` is a word of the script.
    case copyFailed(step: String, words: String)

    /// What kept ssh from connecting.
    enum Refusal: Sendable, Equatable {
        case unknownKey
        case changedKey
        case login
        case name
        case network
    }

    enum Stage: Sendable, Equatable {
        case connecting
        /// Connected, and its shell began to answer.
        case answering
        /// This many bytes of the release had been taken.
        case copying(Int, of: Int)
    }

    /// Whether it is the network's or the host's absence, so that trying later may help.
    var isAbsence: Bool {
        switch self {
        case .unreachable, .silent, .floods, .noShell: true
        default: false
        }
    }
}

extension HostProblem.Refusal {
    /// Reads ssh's last words, which it writes in English in every locale.
    init(ssh words: String) {
        let marks: [(String, Self)] = [
            ("REMOTE HOST IDENTIFICATION HAS CHANGED", .changedKey),
            ("Host key verification failed", .unknownKey), ("Permission denied", .login),
            ("Too many authentication failures", .login), ("Could not resolve hostname", .name),
        ]
        self = marks.first { words.contains($0.0) }?.1 ?? .network
    }
}

extension HostAnswer {
    /// What keeps the host from taking part, if anything does.
    ///
    /// - Parameters:
    ///   - ending: of ssh.
    ///   - errors: what ssh and the host wrote on standard error.
    ///   - program: the host's own `skein`, as the host file has it.
    ///   - here: this machine.
    ///   - compute: the run's `--compute`.
    ///   - admitsOthers: whether other engines are admitted.
    /// - Returns: the first problem; nil when there is none.
    func problem(
        ending: ChildProcess.Ending, errors: String, program: String, here: MachineReport,
        compute: String, admitsOthers: Bool
    ) -> HostProblem? {
        let words = LastWords.of(errors)
        guard let system else {
            return ending == .exited(255)
                ? .unreachable(HostProblem.Refusal(ssh: errors), words: words)
                : .noShell(words: words)
        }
        // Between other systems nothing else is worth comparing.
        let own = "\(here.system) \(here.architecture)"
        if system != own { return .otherSystem(found: system, here: own) }
        if let failure { return .copyFailed(step: failure, words: words) }
        if isAbsent { return .noSkein(program: program) }
        guard let path, let status else {
            return isCopying
                ? .copyFailed(step: "connection", words: words)
                : .unreachable(HostProblem.Refusal(ssh: errors), words: words)
        }
        guard status == 0 else {
            return .doesNotRun(path: PlainText.of(path), status: status, words: words)
        }
        guard let report else {
            guard let oldVersion else { return .notSkein(path: PlainText.of(path)) }
            return .otherVersion(found: oldVersion, here: here.version)
        }
        guard report.version == here.version else {
            return .otherVersion(found: report.version, here: here.version)
        }
        let (found, expected) = (report.fingerprints[compute], here.fingerprints[compute])
        guard found == expected || admitsOthers else {
            return .otherEngine(found: found ?? "none", here: expected ?? "none")
        }
        return nil
    }
}

/// The last line of what a program wrote: its error, if it failed.
enum LastWords {
    static func of(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let last = lines.last { line in line.contains { !$0.isWhitespace } }
        return last.map { PlainText.of(String($0)) } ?? ""
    }
}
