/// Puts the parts of quantized weights together.
extension FolderWeights {
    /// Replaces codes, scales and the rest by the matrices that they are, under the names of the
    /// weights. What is left over keeps its name, so that the model's check can name it.
    ///
    /// - Throws: `FormatError` when a part is missing, or of another type or shape.
    mutating func compose(_ quantization: FolderQuantization, path: String) throws {
        switch quantization {
        case .none: break
        case .affine(let settings): try composeAffine(settings, path)
        case .float8(let settings): try composeFloat8(settings, path)
        case .bitsandbytes: try composeCodebooks(path)
        }
    }

    private func part(_ name: String, _ path: String) throws -> StoredTensor {
        guard let tensor = stored[name] else {
            throw FormatError.missingTensor(path: path, tensor: name)
        }
        return tensor
    }

    private mutating func composeAffine(_ settings: AffineSettings, _ path: String) throws {
        let ending = ".scales"
        let found = stored.keys.filter { $0.hasSuffix(ending) }
            .map { String($0.dropLast(ending.count)) }
        for module in Set(found).union(settings.stated).sorted() {
            guard let settings = settings.settings(of: module) else { continue }
            let parts = [".weight", ".scales", ".biases"].map { "\(module)\($0)" }
            let matrix = try AffineMatrix(
                settings, codes: part(parts[0], path), scales: part(parts[1], path),
                biases: part(parts[2], path))
            replace(parts[0], by: matrix, parts: parts)
        }
    }

    private mutating func composeFloat8(
        _ settings: Float8Matrix.Settings, _ path: String
    ) throws {
        for name in stored.keys.sorted() where stored[name]?.type == "F8_E4M3" {
            let scales = name + settings.scaleEnding
            let matrix = try Float8Matrix(
                settings, codes: part(name, path), scales: part(scales, path))
            // Inputs are not quantized here, so their scale has no meaning.
            let module = name.dropLast("weight".count)
            let inputs = ["activation_scale", "input_scale"].map { "\(module)\($0)" }
            replace(name, by: matrix, parts: [name, scales] + inputs)
        }
    }

    private mutating func composeCodebooks(_ path: String) throws {
        for table in [CodebookMatrix.Table.nf4, .fp4] {
            let ending = ".quant_state.bitsandbytes__\(table.rawValue)"
            for stateName in stored.keys.sorted() where stateName.hasSuffix(ending) {
                let name = String(stateName.dropLast(ending.count))
                let state = try CodebookState(part(stateName, path), table)
                let outer = state.nested == nil ? [] : ["nested_absmax", "nested_quant_map"]
                let parts = (["absmax", "quant_map"] + outer).map { "\(name).\($0)" }
                let matrix = try CodebookMatrix(
                    state, codes: part(name, path),
                    parts: CodebookParts(
                        absmax: part(parts[0], path), map: part(parts[1], path),
                        nestedAbsmax: outer.isEmpty ? nil : part(parts[2], path),
                        nestedMap: outer.isEmpty ? nil : part(parts[3], path)))
                replace(name, by: matrix, parts: parts + [name, stateName])
            }
        }
    }
}
