import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

/// Readers of adapters against damaged files: each is read or refused with a typed error, and what is
/// read is not larger than the file. `Damage.count` says how many.
@Suite struct AdapterMutationTests {
    private static let count = Damage.count(150)

    @Test(
        "a damaged adapter is read or refused",
        arguments: ["peft", "peft-patterns", "mlx", "llamacpp.adapter"])
    func files(name: String) throws {
        let sound = LoadedAdapterTests.folder + "/" + name
        try LoadedAdapterTests.withModel { model in
            try TestPaths.withTemporaryDirectory { directory in
                let format = try AdapterFormats.standard.format(at: sound)
                let path = format.isFolder ? directory : directory + "/a.gguf"
                let weights = Array(try data(format.weights(of: sound)))
                let config = format.isFolder ? Array(try data(sound + "/adapter_config.json")) : []
                // The numbers of a matrix may be anything.
                let header =
                    format.isFolder
                    ? 8 + Int(weights.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }) : 960
                var (refused, read) = (0, 0)
                for number in 0..<Self.count {
                    var damage = Damage(number: number)
                    var (bytes, text) = (weights, config)
                    if !text.isEmpty, damage.below(2) == 0 {
                        damage.change(&text, within: 0..<text.count)
                    } else {
                        damage.change(
                            &bytes,
                            within: damage.below(4) > 0 ? 0..<header : header..<bytes.count)
                        if damage.below(20) == 0 { bytes.removeLast(damage.below(bytes.count)) }
                    }
                    try Data(bytes).write(to: URL(fileURLWithPath: format.weights(of: path)))
                    if !text.isEmpty {
                        try Data(text).write(
                            to: URL(fileURLWithPath: directory + "/adapter_config.json"))
                    }
                    if try reads(path, model, bytes: bytes.count) {
                        read += 1
                    } else {
                        refused += 1
                    }
                }
                #expect(refused > 0 && read > 0, "\(name): \(read) read, \(refused) refused")
            }
        }
    }

    private func data(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Reads the adapter, and what it says without a model.
    ///
    /// - Returns: whether it was accepted.
    private func reads(_ path: String, _ model: ModelDirectory, bytes: Int) throws -> Bool {
        do {
            let summary = try AdapterSummary(path: path)
            #expect(summary.parameterCount * 2 <= bytes)
        } catch is FormatError {
            // The model may know more of a GGUF file's names.
        }
        do {
            let adapter = try LoadedAdapter.read(
                path, for: model, matching: ModulePatterns.matching)
            #expect(adapter.parameters.values.count * 2 <= bytes)
            return true
        } catch is FormatError {
            return false
        } catch is AdapterError {
            return false
        }
    }
}
