import SkeinFormats

/// What an adapter's files say of themselves, without the base model.
package struct AdapterSummary: Sendable {
    package let format: any AdapterFormat
    package let configuration: AdapterConfiguration
    /// Names of the adapted modules, as the files call them.
    package let modules: [String]
    /// Adapted layers, ascending.
    package let layers: [Int]
    /// The smallest and the largest rank.
    package let ranks: ClosedRange<Int>
    /// The factor of B A x, of modules of the stated rank.
    package let scale: Double
    /// All matrices A, all matrices B and all magnitudes, by name.
    package let matrices: [AdapterTensorName.Matrix: [String: TensorView]]

    package var parameterCount: Int {
        matrices.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.elementCount } }
    }

    /// Reads the adapter at a path. Numbers of a PEFT folder and of a GGUF file stay on disk
    /// (`MappedFile`), so call it only for files that have been read before.
    ///
    /// - Throws: `FormatError`, `FileError`.
    package init(path: String) throws {
        format = try AdapterFormats.standard.format(at: path)
        let files = try format.map(path)
        let outline = files.outline
        configuration = outline.configuration
        modules = configuration.targetModules
        layers = outline.layers
        let all = outline.modules.map(\.rank) + outline.edges.map(\.rank)
        ranks = (all.min() ?? 0)...(all.max() ?? 0)
        scale = outline.statedScale
        matrices = Dictionary(
            uniqueKeysWithValues: (AdapterTensorName.Matrix.allCases + [.magnitude]).map { matrix in
                (
                    matrix,
                    files.tensors.filter {
                        (AdapterTensorName($0.key)?.matrix ?? EdgeTensorName($0.key)?.matrix)
                            == matrix
                    }
                )
            })
    }
}
