import SkeinBasics
import SkeinJSON
import SkeinTensors

/// The machine that a number was measured on; without it a number means nothing.
struct Machine: Sendable, Equatable {
    var processor: String
    var cores: Int
    /// The processor's level, which selects the kernels, and OpenBLAS where that multiplies.
    var kernels: String

    static func current() -> Machine {
        Machine(
            processor: processorName(in: SystemProcessors.description) ?? "unknown processor",
            cores: SystemProcessors.usable,
            kernels: ProcessorLevel.current.rawValue + (MatMul.isOwn ? "" : ", \(library)"))
    }

    /// OpenBLAS's name, version and kernels.
    private static var library: String {
        let name = MatMul.libraryConfiguration.split(separator: " ").prefix(2)
        return name.joined(separator: " ") + " " + MatMul.coreType
    }

    /// The `model name` of the first processor in /proc/cpuinfo.
    static func processorName(in description: String) -> String? {
        for line in description.split(separator: "\n") where line.hasPrefix("model name") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            return line[line.index(after: colon)...].split(separator: " ").joined(separator: " ")
        }
        return nil
    }

    var text: String {
        "\(processor), \(Figures.count(cores, "core")); kernels: \(kernels)"
    }

    var json: JSONValue {
        .fields([
            ("processor", .text(processor)), ("cores", .integer(cores)),
            ("kernels", .text(kernels)),
        ])
    }
}
