import SkeinBasics
import SkeinJSON

/// A LoRA adapter as llama.cpp loads it and its converter of PEFT's adapters writes it: A and B of "blk.0.attn_q.weight" are "blk.0.attn_q.weight.lora_a" and ".lora_b".
package struct GGUFAdapter: Sendable {
    /// What a tensor of the base model is called by PEFT.
    package struct Name: Sendable, Equatable {
        /// The module's name, such as "model.layers.0.self_attn.q_proj".
        package var module: String
        /// Rows of one head, if its halves are interleaved in the file.
        package var interleavedHeadRows: Int?

        package init(module: String, interleavedHeadRows: Int?) {
            self.module = module
            self.interleavedHeadRows = interleavedHeadRows
        }
    }

    package let path: String
    /// general.architecture: that of the base model.
    package let architecture: String
    /// 0: the scale is 1.
    package let alpha: Double
    package let baseModelName: String
    package let origin: AdapterOrigin?
    private let tensors: [String: TensorView]

    /// Shapes of all tensors by their names in the file, row-major.
    package var shapes: [String: [Int]] { tensors.mapValues(\.shape) }

    /// Whether a GGUF file says that it is an adapter.
    package static func isAdapter(_ file: GGUFFile) -> Bool {
        file.metadata["general.type"] == .string("adapter")
    }

    /// Maps the file and checks what it says of itself.
    ///
    /// - Throws: `FileError`, `FormatError`.
    package init(path: String) throws {
        let file = try GGUFFile(path: path)
        let fields = GGUFFields(file)
        func require(_ field: String, _ expected: String) throws {
            guard let found = try fields.string(field) else { throw fields.check.missing(field) }
            guard found == expected else {
                throw fields.check.unsupported(field, found, expected)
            }
        }
        if !Self.isAdapter(file), file.metadata["adapter.type"] == nil {
            throw FormatError.modelAsAdapter(path: path)
        }
        try require("general.type", "adapter")
        try require("adapter.type", "lora")
        let alpha = try fields.required("adapter.lora.alpha")
        guard alpha.isFinite else {
            throw fields.check.bad("adapter.lora.alpha", "finite", String(alpha))
        }
        guard !fields.architecture.isEmpty else {
            throw fields.check.missing("general.architecture")
        }
        self.path = path
        self.alpha = alpha
        architecture = fields.architecture
        baseModelName = try fields.string("general.base_model.0.name") ?? ""
        origin = try fields.string(Self.originField).map { text in
            try Array(text.utf8).withUnsafeBytes {
                try JSONFile.decode(AdapterOrigin.self, bytes: $0, path: path)
            }
        }
        tensors = file.tensors
    }

    private static let originField = "skein.origin"
    private static let suffixes: [(matrix: AdapterTensorName.Matrix, text: String)] = [
        (.a, ".lora_a"), (.b, ".lora_b"),
    ]

    /// The adapter under PEFT's names.
    ///
    /// - Parameter name: what PEFT calls the module of a tensor such as "blk.0.attn_q.weight"; nil:
    ///   the base model has no such module.
    /// - Returns: all matrices; the numbers are read from the file when they are asked for.
    /// - Throws: `FormatError` for tensors that are unknown, unpaired or misshapen.
    package func files(naming name: (String) -> Name?) throws -> AdapterFiles {
        var views: [String: TensorView] = [:]
        for (text, view) in tensors.sorted(by: { $0.key < $1.key }) {
            guard let (matrix, suffix) = Self.suffixes.first(where: { text.hasSuffix($0.text) }),
                let found = name(String(text.dropLast(suffix.count)))
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            if let edge = EdgeTensorName(moduleName: found.module, matrix: matrix) {
                // llama.cpp looks tokens' rows up in A.
                let isTurned = edge.module == .embedding && matrix == .a && view.shape.count == 2
                views[edge.text] =
                    isTurned
                    ? TensorView(name: edge.text, TransposedMatrix(source: view))
                    : view.renamed(edge.text)
                continue
            }
            guard
                let peft = AdapterTensorName(
                    "base_model.model.\(found.module).\(matrix.rawValue).weight")
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            let headRows = matrix == .b ? found.interleavedHeadRows : nil
            if let headRows, view.shape.first.map({ $0 % headRows != 0 }) ?? true {
                throw FormatError.badTensor(
                    path: path, tensor: text, field: "rows", expected: "a multiple of \(headRows)",
                    found: "\(view.shape)")
            }
            let renamed = view.renamed(peft.text, interleavedHeadRows: headRows)
            guard views.updateValue(renamed, forKey: peft.text) == nil else {
                throw FormatError.duplicate(path: path, name: text)
            }
        }
        return AdapterFiles(outline: try outline(views.mapValues(\.shape)), tensors: views)
    }

    private func outline(_ shapes: [String: [Int]]) throws -> AdapterOutline {
        let parts = try AdapterOutline.parts(of: shapes, rank: nil, path: path)
        let rank = parts.modules.first?.rank ?? parts.edges.first?.rank ?? 1
        let configuration = AdapterConfiguration(
            rank: rank, alpha: alpha == 0 ? Double(rank) : alpha, dropout: 0,
            targetModules: parts.names, layersToTransform: parts.layersUnlessFromFirst,
            baseModelName: baseModelName, origin: origin)
        return AdapterOutline(
            configuration: configuration, parts,
            rules: AdapterRules(targets: nil, excluded: nil, layers: nil, path: path),
            scale: alpha == 0 ? .same(1) : .byRank(alpha: alpha), path: path)
    }

    /// A matrix to write.
    package struct Matrix: Sendable {
        /// The name of the tensor that it is added to, such as "blk.0.attn_q.weight".
        package var weight: String
        package var matrix: AdapterTensorName.Matrix
        package var shape: [Int]
        /// In PEFT's order of rows.
        package var floats: [Float]
        package var interleavedHeadRows: Int?

        package init(
            weight: String, matrix: AdapterTensorName.Matrix, shape: [Int], floats: [Float],
            interleavedHeadRows: Int?
        ) {
            self.weight = weight
            self.matrix = matrix
            self.shape = shape
            self.floats = floats
            self.interleavedHeadRows = interleavedHeadRows
        }

        /// The rows in the file's order.
        var stored: [Float] {
            guard matrix == .b, let headRows = interleavedHeadRows else { return floats }
            let columns = shape[1]
            var out = floats
            for row in 0..<shape[0] {
                let place = TensorView.interleavedRow(row, headRows)
                for column in 0..<columns {
                    out[place * columns + column] = floats[row * columns + column]
                }
            }
            return out
        }
    }

    /// Writes an adapter.
    ///
    /// - Parameters:
    ///   - matrices: of all modules.
    ///   - architecture: the base model's.
    ///   - alpha: the scale of a module is this by the rank of its matrices.
    ///   - configuration: the adapter's, for the base model's name and the origin.
    ///   - path: of the file.
    ///   - store: where it is written.
    /// - Throws: `FileError`.
    package static func write(
        _ matrices: [Matrix], architecture: String, alpha: Double,
        configuration: AdapterConfiguration, to path: String, in store: any Store = DiskStore()
    ) throws {
        var metadata: [(key: String, value: GGUFWriter.Value)] = [
            ("general.architecture", .string(architecture)), ("general.type", .string("adapter")),
            // LLAMA_FTYPE_ALL_F32.
            ("general.file_type", .uint32(0)), ("adapter.type", .string("lora")),
            ("adapter.lora.alpha", .float32(Float(alpha))),
        ]
        if !configuration.baseModelName.isEmpty {
            metadata.append(("general.base_model.count", .uint32(1)))
            metadata.append(("general.base_model.0.name", .string(configuration.baseModelName)))
        }
        if let origin = configuration.origin {
            metadata.append((originField, .string(JSONValue.fields(origin.fields).written)))
        }
        let tensors = matrices.map { matrix in
            GGUFWriter.Tensor(
                name: matrix.weight + (matrix.matrix == .a ? ".lora_a" : ".lora_b"),
                shape: matrix.shape, floats: matrix.stored)
        }
        try GGUFWriter.write(metadata: metadata, tensors: tensors, to: path, in: store)
    }
}
