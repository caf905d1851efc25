import Basics
import Models

/// The words that options choose between. Each room has its own type for the meaning.
enum PromptFormatChoice: String, Sendable, CaseIterable {
    /// `chat` when the model has a template, else `eos`.
    case auto
    case chat
    case eos
    case raw
}

/// Which assistant turns of a conversation carry loss.
enum TrainedTurnsChoice: String, Sendable, CaseIterable {
    case all
    case last
}

/// Where the frozen weights live while they are used.
enum WeightsChoice: String, Sendable, CaseIterable {
    /// `resident` when it fits into memory, else `streamed`.
    case auto
    /// As 32-bit numbers in memory.
    case resident
    /// Dequantized layer by layer out of the mapped file.
    case streamed
}

/// How the learning rate goes on after the warm-up.
enum ScheduleChoice: String, Sendable, CaseIterable {
    case constant
    case linear
    case cosine
}

/// How a micro-batch's gradient is written down before it is added to others.
enum GradientCodecChoice: String, Sendable, CaseIterable {
    case fp32
    case bf16
    case int8
}

/// Which decoder blocks carry an adapter.
enum LayerSelection: Sendable, Equatable {
    case all
    /// From the first to the second, both included, counted from 0.
    case range(ClosedRange<Int>)
    /// The uppermost blocks.
    case last(Int)

    /// Reads `all`, `A-B` or `last:N`.
    init?(text: String) {
        if text == "all" {
            self = .all
        } else if text.hasPrefix("last:") {
            guard let count = Int(text.dropFirst(5)), count > 0 else { return nil }
            self = .last(count)
        } else {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
                return nil
            }
            self = .range(first...last)
        }
    }

    var text: String {
        switch self {
        case .all: "all"
        case .range(let range): "\(range.lowerBound)-\(range.upperBound)"
        case .last(let count): "last:\(count)"
        }
    }

    /// The selected blocks of a model with `layerCount` of them, or nil when it has not got them.
    func layers(of layerCount: Int) -> Range<Int>? {
        switch self {
        case .all: 0..<layerCount
        case .range(let range): range.upperBound < layerCount ? Range(range) : nil
        case .last(let count): count <= layerCount ? (layerCount - count)..<layerCount : nil
        }
    }
}

extension ValueFormat where Value == LayerSelection {
    static var layers: ValueFormat {
        ValueFormat(
            placeholder: "L", accepted: "all, a range such as 8-15, or last:N",
            read: { LayerSelection(text: $0) }, json: { .string($0.text) })
    }
}

extension ValueFormat where Value == [TargetModule] {
    /// Names with commas between them, or `all-linear` for all of them, as PEFT has it.
    static var targetModules: ValueFormat {
        let names = TargetModule.allCases.map(\.name)
        return ValueFormat(
            placeholder: "LIST",
            accepted: "all-linear, or with commas between them any of \(Words.either(names))",
            choices: ["all-linear"] + names,
            read: { text in
                if text == "all-linear" { return TargetModule.allCases }
                var found: Set<TargetModule> = []
                for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let bare = name.filter { $0 != " " }
                    guard let module = TargetModule(name: bare) else { return nil }
                    found.insert(module)
                }
                return found.sorted()
            },
            json: { .array($0.map { .string($0.name) }) })
    }
}

extension ValueFormat where Value == UInt64 {
    /// A seed: what fits into 63 bits, so that JSON readers keep it.
    static var seed: ValueFormat {
        ValueFormat(
            placeholder: "N", accepted: "a whole number from 0 up",
            read: { Int($0).flatMap { UInt64(exactly: $0) } }, json: { .integer(Int($0)) })
    }
}
