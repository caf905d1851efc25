import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct AdapterOutlineTests {
    /// Matrices of rank 4 for q and v of the tiny model.
    private func tensors(layers: Int) -> [SafetensorsWriter.Tensor] {
        (0..<layers).flatMap { layer in
            [("q_proj", 64), ("v_proj", 32)].flatMap { module, out in
                AdapterTensorName.Matrix.allCases.map { matrix in
                    let shape = matrix == .a ? [4, 64] : [out, 4]
                    return SafetensorsWriter.Tensor(
                        name: AdapterTensorName(layer: layer, module: module, matrix: matrix).text,
                        shape: shape, floats: [Float](repeating: 1, count: shape[0] * shape[1]))
                }
            }
        }
    }

    private func configuration(_ tiny: TinyModel) throws -> ModelConfiguration {
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            return try ModelDirectory.open(directory + "/tiny.gguf").configuration
        }
    }

    @Test("an adapter for another model is refused, with the matrix that does not fit")
    func otherModel() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/adapter_model.safetensors"
            try AtomicFile.write(#"{"r":4}"#, to: directory + "/adapter_config.json")
            try SafetensorsWriter.write(tensors(layers: 3), metadata: [:], to: path)
            let outline = try AdapterFiles.read(directory) { _ in }.outline
            let third = AdapterTensorName(layer: 2, module: "q_proj", matrix: .a).text
            #expect(throws: FormatError.unexpectedTensor(path: path, tensor: third)) {
                try outline.check(against: configuration(TinyModel()))
            }
            var tiny = TinyModel()
            tiny.layerCount = 3
            try outline.check(against: configuration(tiny))
            tiny.width = 32
            let first = AdapterTensorName(layer: 0, module: "q_proj", matrix: .a).text
            #expect(
                throws: FormatError.wrongShape(
                    path: path, tensor: first, expected: [4, 32], found: [4, 64])
            ) { try outline.check(against: configuration(tiny)) }
        }
    }
}
