import SkeinFormats

extension AdapterOutline {
    /// Checks that every matrix fits the weight of `model` that it is added to.
    ///
    /// - Throws: `FormatError.unexpectedTensor` for a layer that the model does not have, `.wrongShape`.
    package func check(against model: ModelConfiguration) throws {
        var weights: [String: [Int]] = [:]
        for (name, shape) in model.requiredTensors { weights[name] = shape }
        for (text, found) in shapes.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text), let weight = weights[name.weightName],
                let out = weight.first, let input = weight.last
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            let rank = configuration.rank
            let expected = name.matrix == .a ? [rank, input] : [out, rank]
            guard found == expected else {
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: found)
            }
        }
    }
}
