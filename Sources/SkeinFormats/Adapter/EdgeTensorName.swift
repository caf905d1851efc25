/// The name of one LoRA matrix of a module outside the blocks in a PEFT file, such as
/// "base_model.model.model.embed_tokens.lora_embedding_A" or
/// "base_model.model.lm_head.lora_A.weight".
package struct EdgeTensorName: Sendable, Hashable {
    /// What is before the first block and after the last one, by its Hugging Face name.
    package enum Module: String, Sendable, CaseIterable {
        /// A is [rank, V], whose columns are tokens; B is [D, rank].
        case embedding = "embed_tokens"
        /// A is [rank, D], B is [V, rank].
        case head = "lm_head"
    }

    package let module: Module
    /// `.a` or `.b`.
    package let matrix: AdapterTensorName.Matrix
    /// The head of a text model and of one for several kinds of input have one name: then `.text`.
    package let blocks: AdapterTensorName.Blocks

    package init(
        module: Module, matrix: AdapterTensorName.Matrix, blocks: AdapterTensorName.Blocks = .text
    ) {
        self.module = module
        self.matrix = matrix
        self.blocks = module == .head && blocks == .multimodal ? .text : blocks
    }

    /// Parses a name; nil unless it is that of a known LoRA matrix.
    package init?(_ text: String) {
        guard let name = Self.all.first(where: { $0.text == text }) else { return nil }
        self = name
    }

    /// The matrix A or B of a module with a name such as "model.embed_tokens"; nil for another module.
    package init?(moduleName: String, matrix: AdapterTensorName.Matrix) {
        guard let name = Self.all.first(where: { $0.moduleName == moduleName }) else { return nil }
        self = name.with(matrix)
    }

    private static let all = Module.allCases.flatMap { module in
        AdapterTensorName.Matrix.allCases.flatMap { matrix in
            AdapterTensorName.Blocks.allCases.map {
                EdgeTensorName(module: module, matrix: matrix, blocks: $0)
            }
        }
    }

    package func with(_ matrix: AdapterTensorName.Matrix) -> EdgeTensorName {
        EdgeTensorName(module: module, matrix: matrix, blocks: blocks)
    }

    package func with(_ blocks: AdapterTensorName.Blocks) -> EdgeTensorName {
        EdgeTensorName(module: module, matrix: matrix, blocks: blocks)
    }

    /// The module's whole name in the model.
    package var moduleName: String {
        switch module {
        case .embedding: blocks.rawValue.dropLast("layers.".count) + module.rawValue
        case .head: (blocks == .outer ? "language_model." : "") + module.rawValue
        }
    }

    /// The name of the weight that the matrix is added to.
    package var weightName: String { moduleName + ".weight" }

    /// The weight as PEFT saves it beside the matrices whenever the embedding or the head is adapted.
    package var copyName: String { "base_model.model.\(moduleName).base_layer.weight" }

    /// The weight of a module that is not adapted, as PEFT saves it if it is told to
    /// (`save_embedding_layers`) or finds that the vocabulary was resized.
    var plainCopyName: String { "base_model.model.\(weightName)" }

    package var text: String {
        let ending =
            switch (module, matrix) {
            case (.embedding, .a): "lora_embedding_A"
            case (.embedding, _): "lora_embedding_B"
            case (.head, _): matrix.rawValue + ".weight"
            }
        return "base_model.model.\(moduleName).\(ending)"
    }

    /// The A of the module of which a tensor is a copy; nil for another tensor.
    package init?(copy text: String) {
        let name = Self.all.first {
            $0.matrix == .a && ($0.copyName == text || $0.plainCopyName == text)
        }
        guard let name else { return nil }
        self = name
    }
}
