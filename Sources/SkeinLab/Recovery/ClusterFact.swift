import SkeinJSON

/// A fact in a coordinator's log (`--log-format json`), with the fields that recovery needs.
struct ClusterFact: Sendable, Equatable {
    enum Kind: String, Sendable {
        case opened, closed, joined, left, lost, leased, cancelled, arrived, accepted, refused
    }

    var kind: Kind
    /// Seconds since the coordinator started.
    var seconds: Double
    var worker = ""
    var round = 0
    var microBatch = 0
    /// The pieces of an opened round.
    var pieces = 0
    /// The step of an opened round.
    var step = 0

    init(_ kind: Kind, seconds: Double, worker: String = "", round: Int = 0, microBatch: Int = 0) {
        self.kind = kind
        self.seconds = seconds
        self.worker = worker
        self.round = round
        self.microBatch = microBatch
    }

    /// Reads a line of the log; nil if it is none of these facts.
    init?(line: String) {
        guard line.contains("\"event\""),
            let object = Self.object(line), let seconds = object["seconds"]?.double,
            let kind = object["event"]?.string.flatMap(Kind.init)
        else { return nil }
        self.init(
            kind, seconds: seconds, worker: object["worker"]?.string ?? "",
            round: object["round"]?.integer ?? 0, microBatch: object["micro_batch"]?.integer ?? 0)
        pieces = object["pieces"]?.integer ?? 0
        step = object["step"]?.integer ?? 0
    }

    private static func object(_ line: String) -> JSONValue? {
        do {
            return try JSONReader.read(Array(line.utf8), .foundation)
        } catch {
            // A crash report, or a line cut short by a kill.
            return nil
        }
    }
}

/// What was done to a worker.
struct Blow: Sendable, Equatable {
    enum Kind: String, Sendable { case kill, stop }

    var kind: Kind
    var worker: String
    /// When it came, on the coordinator's clock.
    var seconds: Double
    /// When a stopped worker was continued.
    var continued: Double?
}
