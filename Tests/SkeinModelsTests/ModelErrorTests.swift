import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct ModelErrorTests {
    @Test("a path without a model says what is expected there")
    func noModel() throws {
        try TestPaths.withTemporaryDirectory { directory in
            #expect(throws: FormatError.notFound(path: directory + "/x")) {
                _ = try ModelDirectory.open(directory + "/x")
            }
            #expect(throws: FormatError.notAModel(path: directory)) {
                _ = try ModelDirectory.open(directory)
            }
            let path = directory + "/text"
            try AtomicFile.write("hello", to: path)
            #expect(
                throws: FormatError.badMagic(path: path, expected: "GGUF", found: "0x68656c6c")
            ) { _ = try ModelDirectory.open(path) }
        }
    }

    @Test("a folder with damaged or missing parts is refused")
    func folderParts() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let config = directory + "/config.json"
            let sound = try String(contentsOfFile: config, encoding: .utf8)
            try AtomicFile.write(String(sound.dropLast(5)), to: config)
            guard case .badJSON(config, _) = openError(directory) else {
                Issue.record("found \(String(describing: openError(directory)))")
                return
            }
            try AtomicFile.write(String(repeating: " ", count: 1 << 20) + sound, to: config)
            #expect(
                openError(directory)
                    == .overLimit(
                        path: config, field: "file size", limit: 1 << 20,
                        found: UInt64(1 << 20 + sound.utf8.count)))
            try AtomicFile.write(sound, to: config)
            #expect(openError(directory) == nil)
            try FileManager.default.removeItem(atPath: directory + "/model.safetensors")
            #expect(
                openError(directory)
                    == .missingFile(
                        path: directory,
                        expected: "model.safetensors or model.safetensors.index.json"))
        }
    }

    @Test("weights that do not fit the configuration are refused by name")
    func folderWeights() throws {
        var tensors = TinyModel().weights().map {
            SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats)
        }
        let name = "model.layers.1.mlp.down_proj.weight"
        let removed = try #require(tensors.firstIndex { $0.name == name })
        var tensor = tensors.remove(at: removed)
        #expect(try error(tensors) == .missingTensor(path: "D", tensor: name))
        tensor.shape = [128, 64]
        #expect(
            try error(tensors + [tensor])
                == .wrongShape(
                    path: "D/model.safetensors", tensor: name, expected: [64, 128],
                    found: [128, 64]))
        tensor.shape = [64, 128]
        #expect(try error(tensors + [tensor]) == nil)
        func extra(_ name: String) -> SafetensorsWriter.Tensor {
            SafetensorsWriter.Tensor(name: name, shape: [1], floats: [0])
        }
        let bias = "model.layers.0.self_attn.q_proj.bias"
        #expect(
            try error(tensors + [tensor, extra(bias)])
                == .unexpectedTensor(path: "D", tensor: bias))
        let harmless = [
            extra("lm_head.weight"), extra("model.layers.0.self_attn.rotary_emb.inv_freq"),
        ]
        #expect(try error(tensors + [tensor] + harmless) == nil)
    }

    /// The error of opening a folder with these weights, with "D" for its path.
    private func error(_ tensors: [SafetensorsWriter.Tensor]) throws -> FormatError? {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            try SafetensorsWriter.write(
                tensors, metadata: [:], to: directory + "/model.safetensors")
            switch openError(directory) {
            case .missingTensor(directory, let tensor):
                return .missingTensor(path: "D", tensor: tensor)
            case .unexpectedTensor(directory, let tensor):
                return .unexpectedTensor(path: "D", tensor: tensor)
            case .wrongShape(let path, let tensor, let expected, let found):
                return .wrongShape(
                    path: path.replacing(directory, with: "D"), tensor: tensor,
                    expected: expected, found: found)
            case let other: return other
            }
        }
    }

    private func openError(_ path: String) -> FormatError? {
        do {
            _ = try ModelDirectory.open(path)
            return nil
        } catch let error as FormatError {
            return error
        } catch {
            Issue.record("found \(error)")
            return nil
        }
    }
}
