import SkeinBasics
import SkeinInference

/// Why a server does not begin, or does not take an adapter (`HostError` and `AdapterMemoryError` beside it).
package enum ServeError: Error, Equatable {
    /// The system refuses another thread.
    case noThread
    /// Another of the served models has the name.
    case nameTaken(name: String, from: NameSource)
    /// A name that no request could give, or that means something else.
    case badName(name: String, from: NameSource)
    /// There is no room for another adapter.
    case tooManyAdapters(limit: Int)
    /// The adapters that are given at the start, up to this one, take more than all may.
    case givenTooLarge(adapter: String, bytes: Int, limit: Int)
    /// A path that is not below `--adapter-root`.
    case outsideRoot(path: String)
    /// A folder with more files than are looked at.
    case tooManyFiles(path: String, limit: Int)
    /// A key file without keys, or with one that a header cannot carry.
    case badKey(path: String, line: Int?)
    /// The run has no checkpoint of that step.
    case noCheckpoint(run: String, step: String)

    /// Where a model's name comes from.
    package enum NameSource: Sendable {
        /// `--name`, or the base model's file.
        case base
        /// `--adapter`.
        case adapter
        /// The directory of `--follow`.
        case followed
        /// A request that loads an adapter.
        case request
    }
}

extension ServeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noThread: AnswerError.noThread.explanation
        case .nameTaken(let name, let source):
            Explanation(
                what: "the name \(name) is taken", place: source.flag,
                remedy: source.remedyForTaken,
                status: source == .request ? .badData : .usage)
        case .badName(let name, let source):
            Explanation(
                what: "\(name) cannot be the name of a model", place: source.flag,
                remedy: "use 1 to \(Limits.nameBytes) letters, digits and . _ - : / + without @; "
                    + "a name is not a path",
                status: source == .request ? .badData : .usage)
        case .tooManyAdapters(let limit):
            Explanation(
                what: "\(limit) adapters are loaded already",
                remedy: "unload one (/v1/unload_lora_adapter), or start skein serve with a larger "
                    + "--max-adapters", status: .badData)
        case .givenTooLarge(let adapter, let bytes, let limit):
            Explanation(
                what: "the adapters up to this one take \(Figures.bytes(bytes)), and all adapters "
                    + "may take \(Figures.bytes(limit))", place: adapter,
                remedy:
                    "give --adapter-memory \(Figures.mebibytes(bytes)) or more, or fewer adapters "
                    + "(--adapter)", status: .usage)
        case .outsideRoot(let path):
            Explanation(
                what: "\(path) is not below --adapter-root",
                remedy: "name an adapter relative to --adapter-root", status: .badData)
        case .tooManyFiles(let path, let limit):
            Explanation(
                what: "the folder \(path) has more than \(limit) files",
                remedy: "name a folder with an adapter and nothing else", status: .badData)
        case .badKey(let path, let line):
            Explanation(
                what: line == nil
                    ? "the file has no key" : "a key has a character that no header carries",
                place: line.map { "\(path):\($0)" } ?? path,
                remedy: "write one key a line, of printable ASCII without spaces",
                status: .badData)
        case .noCheckpoint(let run, let step):
            Explanation(
                what: "\(run) has no checkpoint of step \(step)",
                remedy: "look into \(run)/checkpoints, or ask for @latest", status: .badData)
        }
    }
}

extension HostError: Explained {
    package var explanation: Explanation {
        switch self {
        case .contextTooLong(let tokens, let limit):
            Explanation(
                what: "--context is \(tokens), but the model reads at most \(limit) tokens",
                place: "--context", remedy: "give at most \(limit)", status: .usage)
        case .memory(let needed, let available):
            Explanation(
                what:
                    "serving would take \(Figures.bytes(needed)), and \(Figures.bytes(available)) "
                    + "are available",
                remedy: "give a smaller --cache-memory, --prefix-memory, --grammar-memory, "
                    + "--adapter-memory, --context or --parallel, or --cache-type int8; --compute int8 "
                    + "holds a second copy of the weights",
                status: .inputOutput)
        case .cacheTooSmall(let bytes, let needed):
            Explanation(
                what: "keys and values of one answer take \(Figures.bytes(needed)), and they may "
                    + "take \(Figures.bytes(bytes)) in all",
                place: "--cache-memory",
                remedy:
                    "give at least \(Figures.mebibytes(needed)), or a smaller --max-tokens "
                    + "or --context", status: .usage)
        }
    }
}

extension ServeError.NameSource {
    /// What an operator wrote it in; a client's request has its own way to say which field it is.
    fileprivate var flag: String {
        switch self {
        case .base: "--name"
        case .adapter: "--adapter"
        case .followed: "--follow"
        case .request: ""
        }
    }

    fileprivate var remedyForTaken: String {
        switch self {
        case .base, .adapter:
            "give each adapter a name of its own, other than the base's (--name) and the followed "
                + "run's (--follow)"
        case .followed:
            "give the base (--name) or the adapter another name: a run has that of its directory"
        case .request: "use another, or unload the adapter that has it"
        }
    }
}
