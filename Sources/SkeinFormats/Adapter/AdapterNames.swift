/// How a model names what adapters are added to, where that is not as an adapter's file has it.
package struct AdapterNames: Sendable, Equatable {
    /// What names of weights begin with.
    package var blocks: AdapterTensorName.Blocks
    /// The model's names of modules by those of other models, such as "output_linear" by "down_proj".
    package var modules: [String: String]

    package init(blocks: AdapterTensorName.Blocks, modules: [String: String]) {
        self.blocks = blocks
        self.modules = modules
    }

    /// A matrix's name in the model.
    func name(_ text: String) -> String {
        if let edge = EdgeTensorName(text) { return edge.with(blocks).text }
        guard let name = AdapterTensorName(text)?.with(blocks) else { return text }
        return modules[name.module].map { name.with(module: $0).text } ?? name.text
    }
}
