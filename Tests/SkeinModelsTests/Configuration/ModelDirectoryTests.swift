import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct ModelDirectoryTests {
    @Test("a folder and a GGUF file of one model hold the same weights", arguments: [true, false])
    func bothForms(tied: Bool) throws {
        var tiny = TinyModel()
        tiny.tiedEmbeddings = tied
        tiny.seed = 5
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeHuggingFaceFolder(to: directory)
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let folder = try ModelDirectory.open(directory)
            let gguf = try ModelDirectory.open(directory + "/tiny.gguf")
            #expect(folder.configuration == gguf.configuration)
            #expect(folder.configuration.tiedEmbeddings == tied)
            #expect(folder.weightBytes == gguf.weightBytes)
            #expect(folder.chatTemplate == gguf.chatTemplate && folder.chatTemplate != nil)
            #expect(folder.has("lm_head.weight") == !tied)
            for weight in tiny.weights() {
                #expect(try folder.tensor(weight.name).floats() == weight.floats)
                #expect(try gguf.tensor(weight.name).floats() == weight.floats)
                #expect(try gguf.tensor(weight.name).shape == weight.shape)
            }
            #expect(throws: FormatError.missingTensor(path: directory, tensor: "x")) {
                _ = try folder.tensor("x")
            }
        }
    }

    @Test("any range of rows is the same part of the whole, permuted or not")
    func rowRanges() throws {
        var tiny = TinyModel()
        tiny.weightType = .q4x0
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            for name in ["self_attn.q_proj", "self_attn.v_proj"] {
                let view = try model.tensor("model.layers.1.\(name).weight")
                let whole = view.floats()
                for range in [0..<1, 5..<23, 9..<9, 0..<view.rows, (view.rows - 1)..<view.rows] {
                    var part = [Float](repeating: .nan, count: range.count * view.columns)
                    part.withUnsafeMutableBufferPointer { buffer in
                        if let out = buffer.baseAddress { view.dequantize(rows: range, into: out) }
                    }
                    let start = range.lowerBound * view.columns
                    #expect(part == Array(whole[start..<(start + part.count)]), "\(name) \(range)")
                }
            }
        }
    }

    @Test("quantized tiny models stay near their weights", arguments: TinyModel.WeightType.allCases)
    func quantized(type: TinyModel.WeightType) throws {
        var tiny = TinyModel()
        tiny.weightType = type
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let bound: Float = type == .f32 ? 0 : type == .q8x0 ? 0.002 : 0.04
            for weight in tiny.weights() where weight.shape.count == 2 {
                let floats = try model.tensor(weight.name).floats()
                let worst = zip(floats, weight.floats).map { abs($0 - $1) }.max() ?? 1
                #expect(worst <= bound, "\(weight.name)")
            }
        }
    }
}
