import SkeinBasics

// Adapters of the embedding and the head.
extension AdapterOutline {
    /// A module outside the blocks, with the rank that its matrices have.
    package struct Edge: Sendable, Equatable {
        package let module: EdgeTensorName.Module
        package let rank: Int
        /// The name of the module's A.
        package let tensor: String
    }

    /// The tensors of an adapter by what they belong to.
    package struct Parts {
        /// At least one of these two has an element.
        package var modules: [Module]
        package var edges: [Edge]
        /// The matrices' shapes.
        var shapes: [String: [Int]]
        /// Shapes of the base model's own weights among the tensors.
        var copies: [String: [Int]]

        /// Names of all modules.
        package var names: [String] { modules.map(\.module) + edges.map(\.module.rawValue) }
        /// Adapted layers, ascending; nil: none, or all from the first.
        package var layersUnlessFromFirst: [Int]? {
            let layers = Set(modules.map(\.layer)).sorted()
            return layers == Array(0..<layers.count) ? nil : layers
        }
    }

    /// Which modules a set of LoRA matrices covers; arguments and errors as of `modules(of:)`.
    package static func parts(
        of shapes: [String: [Int]], rank: Int?, magnitudes: Bool = false, path: String
    ) throws -> Parts {
        var blocks: [String: [Int]] = [:]
        var edges: [EdgeTensorName: [Int]] = [:]
        var copies: [String: [Int]] = [:]
        for (text, shape) in shapes {
            if let name = EdgeTensorName(text) {
                edges[name] = shape
            } else if EdgeTensorName(copy: text) != nil {
                copies[text] = shape
            } else {
                blocks[text] = shape
            }
        }
        if magnitudes, let name = edges.keys.map(\.text).min() {
            throw FormatError.unsupported(
                path: path, field: "DoRA of \(name)", found: "true",
                supported: "DoRA of modules in blocks alone")
        }
        let modules =
            blocks.isEmpty && !edges.isEmpty
            ? []
            : try Self.modules(of: blocks, rank: rank, magnitudes: magnitudes, path: path)
        let own = modules.first.flatMap { AdapterTensorName($0.tensor)?.blocks }
        let parts = Parts(
            modules: modules, edges: try Self.edges(edges, rank: rank, blocks: own, path: path),
            shapes: shapes.filter { copies[$0.key] == nil }, copies: copies)
        try checkNames(ofCopies: parts, blocks: own, path: path)
        return parts
    }

    /// PEFT calls the weight of an adapted module otherwise than that of another one.
    private static func checkNames(
        ofCopies parts: Parts, blocks: AdapterTensorName.Blocks?, path: String
    ) throws {
        let adapted = parts.edges.compactMap { EdgeTensorName($0.tensor) }
        for text in parts.copies.keys.sorted() {
            guard let name = EdgeTensorName(copy: text) else { continue }
            let isAdapted = adapted.contains(name)
            // The head's name says less of the model than the embedding's.
            let isOfModel =
                blocks.map { name.with($0) == name }
                ?? adapted.allSatisfy { name.with($0.blocks) == name }
            guard isOfModel, text == (isAdapted ? name.copyName : name.plainCopyName) else {
                throw FormatError.unexpectedTensor(path: path, tensor: text)
            }
        }
    }

    /// `blocks`: how names of the adapted blocks begin; nil: none is adapted.
    private static func edges(
        _ shapes: [EdgeTensorName: [Int]], rank: Int?, blocks: AdapterTensorName.Blocks?,
        path: String
    ) throws -> [Edge] {
        for (name, shape) in shapes.sorted(by: { $0.key.text < $1.key.text }) {
            guard shape.count == 2 else {
                throw FormatError.badTensor(
                    path: path, tensor: name.text, field: "dimensions", expected: "2",
                    found: "\(shape.count)")
            }
            guard shape.allSatisfy({ (1...Limits.adapterDimension).contains($0) }) else {
                throw FormatError.badTensor(
                    path: path, tensor: name.text, field: "dimension",
                    expected: "1 to \(Limits.adapterDimension)", found: "\(shape)")
            }
            let other: AdapterTensorName.Matrix = name.matrix == .a ? .b : .a
            guard let partner = shapes[name.with(other)] else {
                throw FormatError.missingTensor(path: path, tensor: name.with(other).text)
            }
            // The head's name says less of the model than the embedding's.
            if let blocks, name.with(blocks) != name {
                throw FormatError.unexpectedTensor(path: path, tensor: name.text)
            }
            let own = name.matrix == .a ? shape[0] : shape[1]
            let expected = rank ?? (name.matrix == .a ? own : partner.first ?? 0)
            guard own == expected else {
                throw FormatError.wrongShape(
                    path: path, tensor: name.text,
                    expected: name.matrix == .a ? [expected, shape[1]] : [shape[0], expected],
                    found: shape)
            }
            guard own <= Limits.adapterRank else {
                throw FormatError.badTensor(
                    path: path, tensor: name.text, field: "rank",
                    expected: "1 to \(Limits.adapterRank)", found: "\(own)")
            }
        }
        return try EdgeTensorName.Module.allCases.compactMap { module in
            let names = shapes.keys.filter { $0.module == module && $0.matrix == .a }
            guard let name = names.min(by: { $0.text < $1.text }) else { return nil }
            if names.count > 1, let second = names.map(\.text).max() {
                throw FormatError.unexpectedTensor(path: path, tensor: second)
            }
            return Edge(module: module, rank: shapes[name]?[0] ?? 0, tensor: name.text)
        }
    }
}
