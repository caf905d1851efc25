import SkeinBasics
import SkeinJSON
import SkeinTensors

/// One kernel to measure, and which limit of the machine applies to it.
struct Kernel {
    enum Limit {
        /// Matrix products of `operations`, against what registers allow for this kind.
        case products(operations: Int, MatMulTally.Kind)
        /// Work that reads and writes `bytes`, against a copy that moves as many.
        case copy(bytes: Int)
    }

    let name: String
    let size: String
    let limit: Limit
    /// The same product with everything packed before; nil where that is not measured.
    var bare: BareProduct?
    let run: () -> Void
}

/// A kernel's rate beside its limit, both measured in this process.
struct KernelResult: Sendable, Equatable {
    var name: String
    var size: String
    /// Median time of one call.
    var seconds: Double
    /// `unit` per second.
    var rate: Double
    /// FLOP or B.
    var unit: String
    /// `unit` per second.
    var limit: Double
    /// The bare tile's rate, measured in turn with the kernel's.
    var bare: Double?

    var share: Double { limit > 0 ? rate / limit : 0 }

    /// Measures `kernel` and its limit, one after the other.
    init(_ kernel: Kernel, _ effort: Effort) {
        name = kernel.name
        size = kernel.size
        let measured: Measurement
        if let product = kernel.bare {
            // In turn, because a neighbour on the core comes and goes within seconds.
            var (own, bare): ([Double], [Double]) = ([], [])
            let single = Effort(repetitions: 1, minimumSeconds: effort.minimumSeconds)
            for _ in 0..<effort.repetitions {
                own += Stopwatch.measure(single, kernel.run).seconds
                bare += Stopwatch.measure(single) { product.run() }.seconds
            }
            measured = Measurement(seconds: own)
            self.bare = Measurement(seconds: bare).rate(of: product.operations)
        } else {
            measured = Stopwatch.measure(effort, kernel.run)
            bare = nil
        }
        seconds = measured.median
        switch kernel.limit {
        case .products(let operations, let kind):
            unit = "FLOP"
            rate = measured.rate(of: operations)
            let most = RegisterPeak.run(kind)
            limit = Stopwatch.measure(effort) { RegisterPeak.run(kind) }.rate(of: most)
        case .copy(let bytes):
            unit = "B"
            rate = measured.rate(of: bytes)
            let copy = MemoryCopy(bytes: bytes)
            limit = Stopwatch.measure(effort) { copy.run() }.rate(of: copy.bytes)
        }
    }

    init(
        name: String, size: String, seconds: Double, rate: Double, unit: String, limit: Double
    ) {
        self.name = name
        self.size = size
        self.seconds = seconds
        self.rate = rate
        self.unit = unit
        self.limit = limit
    }

    var json: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("name", .text(name)), ("size", .text(size)), ("seconds", .decimal(seconds)),
            ("rate", .decimal(rate)), ("limit", .decimal(limit)), ("unit", .text(unit + "/s")),
            ("share", .decimal(share)),
        ]
        if let bare { fields.append(("bare_tile", .decimal(bare))) }
        return .fields(fields)
    }

    /// Name, size, time, rate, limit, share, the bare tile's rate.
    var cells: [String] {
        [
            name, size, Figures.seconds(seconds), Figures.rate(rate, unit: unit),
            Figures.rate(limit, unit: unit), Figures.percent(share),
            bare.map { Figures.rate($0, unit: unit) } ?? "",
        ]
    }

    static let heading = ["kernel", "size", "time", "rate", "limit", "share", "bare tile"]
}

/// A copy within memory: it reads and writes as many bytes as a kernel does, so that caches serve
/// both alike.
struct MemoryCopy {
    private let source: FloatBuffer
    private let target: FloatBuffer

    /// - Parameter bytes: how many are read and written, together.
    init(bytes: Int) {
        let count = max(1, bytes / 8)
        source = Operands.buffer(count, stream: 3)
        target = Operands.buffer(count, stream: 4)
    }

    /// How many are read and written, together.
    var bytes: Int { source.count * 8 }

    func run() {
        target.base.update(from: source.base, count: source.count)
    }
}

/// Sizes that kernels are measured at: those of SmolLM2-135M, and one row of `tokens` tokens.
struct KernelSizes: Sendable, Equatable {
    var tokens = 512
    var width = 576
    var feedForward = 1536
    var heads = 9
    var keyValueHeads = 3
    var headDimension = 64
    var vocabulary = 49152
    var rank = 8
    /// Logit rows that a training step holds at once, and the vocabulary rows of one product.
    var headRows = 128
    var headPanel = 8192
    /// Numbers in a rank-8 adapter on q, k, v and o of all 30 layers.
    var adapter = 921_600

    var keyValueWidth: Int { keyValueHeads * headDimension }
}
