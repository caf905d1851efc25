import SkeinBasics

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
