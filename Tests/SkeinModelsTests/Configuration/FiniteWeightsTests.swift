import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite("weights that are not finite")
struct FiniteWeightsTests {
    private struct Diverged: Error {}

    private func withModel(
        _ numbers: [(tensor: String, index: Int, value: Float)],
        _ body: (ModelDirectory, String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            for (name, index, value) in numbers {
                let place = try #require(image.tensors.firstIndex { $0.name == name })
                image.tensors[place].data.replaceSubrange(
                    (4 * index)..<(4 * index + 4),
                    with: withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) })
            }
            let path = directory + "/tiny.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            try body(try ModelDirectory.open(path), path)
        }
    }

    @Test("the first one is named with its file, row and column, in the order of the design")
    func named() throws {
        try withModel([]) { model, _ in
            let found = try model.firstNotFiniteWeight()
            #expect(found == nil)
            let traced = Diverged().traced(to: model)
            #expect(traced is Diverged)
        }
        let width = TinyModel().width
        let numbers: [(String, Int, Float)] = [
            ("output_norm.weight", 3, .nan), ("blk.1.attn_v.weight", 2 * width + 5, -.infinity),
        ]
        try withModel(numbers) { model, path in
            let expected = FormatError.notFinite(
                path: path, tensor: "model.layers.1.self_attn.v_proj.weight", row: 2, column: 5,
                value: "-inf")
            let found = try model.firstNotFiniteWeight()
            #expect(found == expected)
            let traced = Diverged().traced(to: model) as? FormatError
            #expect(traced == expected)
        }
        try withModel([numbers[0]]) { model, path in
            let expected = FormatError.notFinite(
                path: path, tensor: "model.norm.weight", row: 0, column: 3, value: "nan")
            let found = try model.firstNotFiniteWeight()
            #expect(found == expected)
        }
    }
}
