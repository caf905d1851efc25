import SkeinBasics

/// Why there is no room for an adapter.
package enum AdapterMemoryError: Error, Equatable {
    /// It takes more than all adapters may.
    case tooLarge(bytes: Int, limit: Int)
    /// Adapters that are loaded, or held by requests, leave no room for another one now.
    case full(bytes: Int, held: Int, limit: Int)
    /// Its files became others while they were read.
    case changed(path: String)
    /// The rank is above what there is room for.
    case rankTooLarge(adapter: String, rank: Int, limit: Int)
}

extension AdapterMemoryError: Explained {
    package var explanation: Explanation {
        switch self {
        case .tooLarge(let bytes, let limit):
            Explanation(
                what: "the adapter takes \(Figures.bytes(bytes)), and all adapters may take "
                    + Figures.bytes(limit),
                place: "--adapter-memory",
                remedy:
                    "start skein serve with --adapter-memory \(Figures.mebibytes(bytes)) or more",
                status: .badData)
        case .full(let bytes, let held, let limit):
            Explanation(
                what: "adapters that are loaded or still answer take \(Figures.bytes(held)) of "
                    + "\(Figures.bytes(limit)), and this one takes \(Figures.bytes(bytes))",
                place: "--adapter-memory",
                remedy: "unload one (/v1/unload_lora_adapter), or start skein serve with "
                    + "--adapter-memory \(Figures.mebibytes(held + bytes)) or more",
                status: .badData)
        case .changed(let path):
            Explanation(
                what: "the adapter's files were changed while they were read", place: path,
                remedy: "load it again when it has been written", status: .badData)
        case .rankTooLarge(let adapter, let rank, let limit):
            Explanation(
                what: "the adapter's rank is \(rank), and there is room for \(limit)",
                place: adapter, remedy: "start skein serve with --max-rank \(rank)",
                status: .badData)
        }
    }
}
