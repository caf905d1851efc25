import SkeinBasics

/// Why a server does not begin, or does not take an adapter.
package enum ServeError: Error, Equatable {
    /// The system refuses another thread.
    case noThread
    /// Two of the served models have one name.
    case nameTaken(name: String)
    /// A name that no request could give, or that means something else.
    case badName(name: String)
    /// There is no room for another adapter.
    case tooManyAdapters(limit: Int)
    /// A path that is not below `--adapter-root`.
    case outsideRoot(path: String)
    /// A folder with more files than are looked at.
    case tooManyFiles(path: String, limit: Int)
    /// A key file without keys, or with one that a header cannot carry.
    case badKey(path: String, line: Int?)
    /// The rank is above what the server has room for.
    case rankTooLarge(adapter: String, rank: Int, limit: Int)
    /// The context is longer than the model's.
    case contextTooLong(tokens: Int, limit: Int)
    /// What would be held does not fit into this machine's memory.
    case memory(needed: Int, available: Int)
    /// Not even one answer of the usual length would fit.
    case cacheTooSmall(bytes: Int, needed: Int)
    /// The run has no checkpoint of that step.
    case noCheckpoint(run: String, step: String)
}

extension ServeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noThread:
            Explanation(
                what: "the system refuses another thread",
                remedy: "look at ulimit -u and the limits of the control group",
                status: .inputOutput)
        case .nameTaken(let name):
            Explanation(
                what: "the name \(name) is taken", place: "--adapter",
                remedy: "give each model a name of its own", status: .usage)
        case .badName(let name):
            Explanation(
                what: "\(name) is no name for a model",
                remedy: "use 1 to \(Limits.nameBytes) letters, digits and . _ - : / + without @",
                status: .badData)
        case .tooManyAdapters(let limit):
            Explanation(
                what: "\(limit) adapters are loaded already",
                remedy: "unload one (/v1/unload_lora_adapter), or start skein serve with a larger "
                    + "--max-adapters", status: .badData)
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
        case .rankTooLarge(let adapter, let rank, let limit):
            Explanation(
                what: "the adapter's rank is \(rank), and there is room for \(limit)",
                place: adapter, remedy: "start skein serve with --max-rank \(rank)",
                status: .badData)
        case .contextTooLong(let tokens, let limit):
            Explanation(
                what: "--context is \(tokens), but the model reads at most \(limit) tokens",
                place: "--context", remedy: "give at most \(limit)", status: .usage)
        case .memory(let needed, let available):
            Explanation(
                what:
                    "serving would take \(Figures.bytes(needed)), and \(Figures.bytes(available)) "
                    + "are available",
                remedy: "give a smaller --cache-memory, --prefix-memory, --context or --parallel, "
                    + "or --cache-type int8", status: .inputOutput)
        case .cacheTooSmall(let bytes, let needed):
            Explanation(
                what: "keys and values of one answer take \(Figures.bytes(needed)), and they may "
                    + "take \(Figures.bytes(bytes)) in all",
                place: "--cache-memory",
                remedy:
                    "give at least \((needed + (1 << 20) - 1) >> 20), or a smaller --max-tokens "
                    + "or --context", status: .usage)
        case .noCheckpoint(let run, let step):
            Explanation(
                what: "\(run) has no checkpoint of step \(step)",
                remedy: "look into \(run)/checkpoints, or ask for @latest", status: .badData)
        }
    }
}
