import Basics
import Foundation
import Tensors

/// What a number was measured on; without it a number means nothing.
struct Machine: Sendable, Equatable {
    var processor: String
    var cores: Int
    /// OpenBLAS's name and version.
    var library: String
    /// The kernels that OpenBLAS uses.
    var coreType: String

    static func current() -> Machine {
        Machine(
            processor: processorName(in: EngineCore.processorDescription()) ?? "unknown processor",
            cores: ProcessInfo.processInfo.activeProcessorCount,
            library: MatMul.libraryConfiguration.split(separator: " ").prefix(2)
                .joined(separator: " "),
            coreType: MatMul.coreType)
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
        "\(processor), \(Figures.count(cores, "core")); \(library) with \(coreType) kernels"
    }

    var json: JSONLine.Value {
        .object([
            ("processor", .string(processor)), ("cores", .integer(cores)),
            ("openblas", .string(library)), ("openblas_core", .string(coreType)),
        ])
    }
}
