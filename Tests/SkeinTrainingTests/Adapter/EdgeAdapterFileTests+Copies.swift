import SkeinFormats
import Testing

@testable import SkeinModels
@testable import SkeinTraining

// Copies of the base model's embedding and head beside an adapter's matrices, under the names that PEFT
// 0.21 gives them.
extension EdgeAdapterFileTests {
    @Test("the base weights that PEFT saves with them must be the base model's")
    func copies() throws {
        for isTied in [true, false] {
            try withModel(isTied: isTied) { model, _ in
                let names = model.configuration.design.names
                func copy(
                    _ name: String, of weight: String,
                    _ change: @escaping (inout [Float]) -> Void = { _ in }
                ) -> (inout [String: SafetensorsWriter.Tensor]) throws -> Void {
                    { tensors in
                        let view = try model.tensor(weight)
                        var floats = view.floats()
                        change(&floats)
                        let own = Self.prefix + name + ".weight"
                        tensors[own] = .init(
                            name: own, shape: [floats.count / 64, 64], floats: floats)
                    }
                }
                let head = isTied ? names.embedding : names.head
                let plain = try read(model)
                let loaded = try read(
                    model,
                    changing: { tensors in
                        try copy("model.embed_tokens.base_layer", of: names.embedding)(&tensors)
                        try copy("lm_head.base_layer", of: head)(&tensors)
                    })
                #expect(loaded.parameters.values == plain.parameters.values)
                #expect(loaded.parameters.shape == plain.parameters.shape)
                #expect(
                    throws: AdapterError.otherCopy(
                        name: Self.prefix + "model.embed_tokens.base_layer.weight", row: 1)
                ) {
                    _ = try read(
                        model,
                        changing: copy("model.embed_tokens.base_layer", of: names.embedding) {
                            $0[70] += 0.5
                        })
                }
                #expect(
                    throws: AdapterError.otherCopy(
                        name: Self.prefix + "lm_head.base_layer.weight", row: 1)
                ) {
                    _ = try read(
                        model, changing: copy("lm_head.base_layer", of: head) { $0[70] += 0.5 })
                }
                // As PEFT calls the weight of an adapted module, and of another one.
                for (targets, name) in [
                    ([TargetModule.query, .embedding], "lm_head.base_layer"),
                    ([.query], "model.embed_tokens.base_layer"),
                    ([.query, .embedding], "model.embed_tokens"), ([.query, .head], "lm_head"),
                ] {
                    let weight = name.hasPrefix("lm_head") ? head : names.embedding
                    #expect(
                        throws: FormatError.unexpectedTensor(
                            path: "", tensor: Self.prefix + name + ".weight")
                    ) {
                        do {
                            _ = try read(
                                model, targets: targets, changing: copy(name, of: weight))
                        } catch FormatError.unexpectedTensor(_, let tensor) {
                            throw FormatError.unexpectedTensor(path: "", tensor: tensor)
                        }
                    }
                }
            }
        }
    }

    @Test(
        "copies of an embedding and a head that are not adapted, as save_embedding_layers adds them"
    )
    func plainCopies() throws {
        for isTied in [true, false] {
            try withModel(isTied: isTied) { model, _ in
                let names = model.configuration.design.names
                let weights = [
                    "model.embed_tokens": names.embedding,
                    "lm_head": isTied ? names.embedding : names.head,
                ]
                func copies(
                    _ wanted: [String], _ change: @escaping (inout [Float]) -> Void = { _ in }
                ) -> (inout [String: SafetensorsWriter.Tensor]) throws -> Void {
                    { tensors in
                        for name in wanted {
                            var floats = try model.tensor(#require(weights[name])).floats()
                            change(&floats)
                            let own = Self.prefix + name + ".weight"
                            tensors[own] = .init(
                                name: own, shape: [floats.count / 64, 64], floats: floats)
                        }
                    }
                }
                for (targets, wanted) in [
                    ([TargetModule.query], ["model.embed_tokens", "lm_head"]),
                    ([.query, .embedding], ["lm_head"]), ([.head], ["model.embed_tokens"]),
                ] {
                    let plain = try read(model, targets: targets)
                    let loaded = try read(model, targets: targets, changing: copies(wanted))
                    #expect(loaded.parameters.values == plain.parameters.values)
                    #expect(loaded.parameters.shape == plain.parameters.shape)
                    #expect(loaded.configuration == plain.configuration)
                }
                let vocabulary = model.configuration.vocabularySize
                for name in weights.keys.sorted() {
                    let whole = Self.prefix + name + ".weight"
                    #expect(throws: AdapterError.otherCopy(name: whole, row: 3)) {
                        _ = try read(
                            model, targets: [.query], changing: copies([name]) { $0[200] += 0.5 })
                    }
                    #expect(
                        throws: AdapterError.resizedCopy(
                            name: whole, expected: vocabulary, found: vocabulary + 1)
                    ) {
                        _ = try read(
                            model, targets: [.query],
                            changing: copies([name]) { $0 += [Float](repeating: 0, count: 64) })
                    }
                    #expect(throws: FormatError.self) {
                        _ = try read(
                            model, targets: [.query],
                            changing: { tensors in
                                tensors[whole] = .init(
                                    name: whole, shape: [64], floats: .init(repeating: 0, count: 64)
                                )
                            })
                    }
                }
            }
        }
    }
}
