import Foundation

/// A coordinator's report as far as it can be read: each field is there or it is not.
///
/// The coordinator may be of another version, so nothing but the outer object is insisted on.
struct ClusterStatus: Sendable, Equatable {
    struct Lease: Sendable, Equatable {
        var round: Int?
        var microBatch: Int?
        /// Since it was given out.
        var seconds: Double?
        /// From 0 to 1.
        var progress: Double?
    }

    struct Worker: Sendable, Equatable {
        var name: String?
        var address: String?
        var state: String?
        var threads: Int?
        /// Those that it computes, the first few.
        var leases: [Lease] = []
        /// All of them, those that wait behind others included.
        var leaseCount: Int?
        var tokensPerSecond: Double?
        var lastHeardSeconds: Double?
        var accepted: Int?
        var refused: Int?
    }

    var output: String?
    var term: Int?
    var step: Int?
    var stepCount: Int?
    var phase: String?
    var loss: Double?
    var why: String?
    var waitingSeconds: Double?
    var workers: [Worker] = []
    /// In the order of their names.
    var counters: [Counter] = []

    struct Counter: Sendable, Equatable {
        var name: String
        var count: Int
    }

    /// nil when `bytes` are no JSON object.
    init?(json bytes: [UInt8]) {
        guard let value = Self.value(of: bytes), let object = Fields(value) else { return nil }
        if let run = object.fields("run") {
            output = run.text("output")
            term = run.integer("term")
            step = run.integer("step")
            stepCount = run.integer("step_count")
            phase = run.text("phase")
            loss = run.number("loss")
        }
        why = object.text("why")
        waitingSeconds = object.number("waiting_seconds")
        workers = object.list("workers").map { Worker($0) }
        counters = (object.fields("counters")?.integers ?? []).map {
            Counter(name: $0.name, count: $0.count)
        }
    }

    private static func value(of bytes: [UInt8]) -> Any? {
        do {
            return try JSONSerialization.jsonObject(with: Data(bytes))
        } catch {
            return nil
        }
    }
}

extension ClusterStatus.Worker {
    fileprivate init(_ object: Fields) {
        name = object.text("name")
        address = object.text("address")
        state = object.text("state")
        threads = object.integer("threads")
        leases = object.list("leases").map { lease in
            ClusterStatus.Lease(
                round: lease.integer("round"), microBatch: lease.integer("micro_batch"),
                seconds: lease.number("seconds"), progress: lease.number("progress"))
        }
        leaseCount = object.integer("lease_count")
        tokensPerSecond = object.number("tokens_per_second")
        lastHeardSeconds = object.number("last_heard_seconds")
        accepted = object.integer("accepted")
        refused = object.integer("refused")
    }
}

/// The fields of a JSON object that have the type that is asked for.
private struct Fields {
    private let values: [String: Any]

    init?(_ value: Any) {
        guard let values = value as? [String: Any] else { return nil }
        self.values = values
    }

    /// Without control characters: a terminal would obey them.
    func text(_ name: String) -> String? {
        guard let text = values[name] as? String else { return nil }
        return Self.printable(text)
    }

    func number(_ name: String) -> Double? {
        guard let number = values[name] as? NSNumber, number.doubleValue.isFinite else {
            return nil
        }
        return number.doubleValue
    }

    func integer(_ name: String) -> Int? {
        number(name).flatMap { Int(exactly: $0) }
    }

    func fields(_ name: String) -> Fields? {
        values[name].flatMap { Fields($0) }
    }

    func list(_ name: String) -> [Fields] {
        (values[name] as? [Any] ?? []).compactMap { Fields($0) }
    }

    var integers: [(name: String, count: Int)] {
        values.keys.sorted().compactMap { name in
            integer(name).map { (Self.printable(name), $0) }
        }
    }

    private static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? "?" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
