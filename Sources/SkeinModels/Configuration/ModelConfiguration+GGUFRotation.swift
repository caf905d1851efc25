import SkeinFormats
import SkeinTensors

extension ModelConfiguration {
    /// Tensors that are not weights.
    enum RotaryTensor: String, CaseIterable {
        case divisors = "rope_freqs.weight"
        /// For rows up to the original context, and beyond.
        case short = "rope_factors_short.weight"
        case long = "rope_factors_long.weight"
    }

    /// Reads the rotations of a GGUF file; those of windowed layers may be their own.
    mutating func setRotations(
        _ gguf: GGUFFile, _ fields: GGUFFields, _ traits: FileTraits, isWindowed: [Bool]
    ) throws {
        let check = fields.check
        let thetaField = fields.key("rope.freq_base")
        let context = RotaryContext(
            headDimension: headDimension, contextLength: contextLength,
            theta: try check.ropeTheta(thetaField, try fields.number(thetaField) ?? 10_000),
            dimension: try rotaryDimension(fields, traits),
            originalContextLength: try originalContext(fields), longRopeName: nil)
        let table = try rotation(gguf, fields, context)
        var local: DecoderDesign.RotaryTable?
        if traits.hasLocalRotation, isWindowed.contains(true) {
            let field = fields.key("rope.freq_base_swa")
            let theta = try fields.number(field) ?? traits.localTheta ?? context.theta
            local = DecoderDesign.RotaryTable(
                theta: try check.ropeTheta(field, theta), dimension: context.dimension)
        }
        let period = traits.unrotatedPeriod ?? .max
        setRotations(
            table, local: local, isLocal: local == nil ? isWindowed.map { _ in false } : isWindowed,
            isRotated: (1...layerCount).map { $0 % period != 0 })
        try setQueryGrowth(fields, traits, context)
    }

    private func rotaryDimension(_ fields: GGUFFields, _ traits: FileTraits) throws -> Int {
        let field = fields.key("rope.dimension_count")
        guard let value = try fields.integer(field), value != headDimension else {
            return headDimension
        }
        guard traits.allowsPartialRotation else {
            throw fields.check.unsupported(
                field, String(value), "\(headDimension), the head dimension")
        }
        guard (2..<headDimension).contains(value), value % 2 == 0 else {
            throw fields.check.bad(field, "even, from 2 to \(headDimension)", String(value))
        }
        return value
    }

    private func originalContext(_ fields: GGUFFields) throws -> Double? {
        let field = fields.key("rope.scaling.original_context_length")
        guard let length = try fields.integer(field), length != 0 else { return nil }
        return Double(try fields.check.size(field, length, limit: Limits.contextLength - 1))
    }

    /// The rotation of all layers that have no other.
    private mutating func rotation(
        _ gguf: GGUFFile, _ fields: GGUFFields, _ context: RotaryContext
    ) throws -> DecoderDesign.RotaryTable {
        let typeField = fields.key("rope.scaling.type")
        let type = try fields.string(typeField)
        var table = DecoderDesign.RotaryTable(
            theta: context.theta, dimension: context.dimension)
        let factor = try number(fields, "rope.scaling.attn_factor") { check, field, value in
            try check.factor(field, value)
        }
        let hasFactors =
            gguf.tensors[RotaryTensor.short.rawValue] != nil
            || gguf.tensors[RotaryTensor.long.rawValue] != nil
        switch type {
        case nil where hasFactors, "longrope":
            table.divisors = try divisors(.short, gguf, table.dimension)
            table.longDivisors = try divisors(.long, gguf, table.dimension)
            table.longFrom = Int(context.originalContextLength ?? Double(contextLength))
            table.attentionFactor = Float(factor ?? 1)
        case "yarn":
            if gguf.tensors[RotaryTensor.divisors.rawValue] != nil {
                throw fields.check.unsupported(
                    typeField, "yarn with \(RotaryTensor.divisors.rawValue)", "one of the two")
            }
            table = try yarn(fields).table(context, fields.check)
            table.attentionFactor *= Float(factor ?? 1)
        case nil, "none", "linear":
            if hasFactors {
                throw fields.check.unsupported(
                    typeField, "\(type ?? "none") with \(RotaryTensor.short.rawValue)", "longrope")
            }
            if let factor, factor != 1 {
                throw fields.check.unsupported(
                    fields.key("rope.scaling.attn_factor"), "\(factor)", "1")
            }
            let (factor, isNew) = try Self.linearFactor(fields, type: type)
            table.divisors = try linearDivisors(gguf, Float(factor), table.dimension)
            if isNew, fields.architecture == "llama" { newlyReadRopeFactor = factor }
        case let type?:
            throw fields.check.unsupported(typeField, type, "none, linear, longrope or yarn")
        }
        return table
    }

    private func number(
        _ fields: GGUFFields, _ name: String,
        _ check: (ConfigurationCheck, String, Double) throws -> Double
    ) throws -> Double? {
        let field = fields.key(name)
        return try fields.number(field).map { try check(fields.check, field, $0) }
    }

    /// The numbers of YaRN under llama.cpp's names.
    private func yarn(_ fields: GGUFFields) throws -> RopeScaling {
        let check = fields.check
        let factorField = fields.key("rope.scaling.factor")
        let extentField = fields.key("rope.scaling.yarn_ext_factor")
        if let extent = try fields.number(extentField), extent != 1, extent != -1 {
            throw check.unsupported(extentField, "\(extent)", "1")
        }
        let cancelField = fields.key("rope.scaling.yarn_log_multiplier")
        let cancel = try fields.number(cancelField) ?? 0
        guard cancel == 0 || cancel == 1 else {
            throw check.unsupported(cancelField, "\(cancel)", "0 or 1")
        }
        return RopeScaling(
            type: "yarn",
            factor: try check.ropeFactor(factorField, fields.required(factorField)),
            attentionFactor: try number(fields, "rope.scaling.yarn_attn_factor") {
                try $0.factor($1, $2)
            },
            betaFast: try number(fields, "rope.scaling.yarn_beta_fast") { try $0.turns($1, $2) },
            betaSlow: try number(fields, "rope.scaling.yarn_beta_slow") { try $0.turns($1, $2) },
            scaleOfAll: cancel == 0 ? nil : 1)
    }

    private mutating func setQueryGrowth(
        _ fields: GGUFFields, _ traits: FileTraits, _ context: RotaryContext
    ) throws {
        let field = fields.key("attention.temperature_scale")
        guard let beta = try fields.number(field), beta != 0 else { return }
        guard traits.hasQueryGrowth else {
            throw fields.check.unsupported(field, "\(beta)", "none")
        }
        guard let original = context.originalContextLength else {
            throw fields.check.missing(fields.key("rope.scaling.original_context_length"))
        }
        stated.queryGrowth = BlockDesign.QueryGrowth(
            beta: Float(try fields.check.factor(field, beta)),
            original: Int(original))
    }

    private func divisors(
        _ tensor: RotaryTensor, _ gguf: GGUFFile, _ dimension: Int
    ) throws -> [Float] {
        guard let view = gguf.tensors[tensor.rawValue] else {
            throw FormatError.missingTensor(path: gguf.path, tensor: tensor.rawValue)
        }
        guard view.shape == [dimension / 2] else {
            throw FormatError.wrongShape(
                path: gguf.path, tensor: view.name, expected: [dimension / 2], found: view.shape)
        }
        let divisors = view.floats()
        let least = RotaryEmbedding.leastDivisor
        guard divisors.allSatisfy({ $0.isFinite && $0 >= least }) else {
            throw FormatError.badTensor(
                path: gguf.path, tensor: view.name, field: "elements",
                expected: "finite and at least \(least)", found: "others")
        }
        return divisors
    }

    /// The divisors of rope_freqs.weight, times the factor of linear scaling.
    private func linearDivisors(
        _ gguf: GGUFFile, _ factor: Float, _ dimension: Int
    ) throws -> [Float]? {
        guard gguf.tensors[RotaryTensor.divisors.rawValue] != nil else {
            return factor == 1 ? nil : [Float](repeating: factor, count: dimension / 2)
        }
        let scaled = try divisors(.divisors, gguf, dimension).map { $0 * factor }
        let least = RotaryEmbedding.leastDivisor
        guard scaled.allSatisfy({ $0.isFinite && $0 >= least }) else {
            throw FormatError.badTensor(
                path: gguf.path, tensor: RotaryTensor.divisors.rawValue, field: "elements",
                expected: "finite and at least \(least) after scaling", found: "others")
        }
        return scaled
    }

    /// As in llama.cpp: a factor without a type is linear, "none" disables it, and 0 means none.
    ///
    /// Before 2026-11-22 only the type "linear" read the factor; all others read the older key.
    ///
    /// - Returns: the factor, 1 for none, and whether older versions read another one.
    private static func linearFactor(
        _ fields: GGUFFields, type: String?
    ) throws -> (factor: Double, isNew: Bool) {
        let factorField = fields.key("rope.scaling.factor")
        // The key in older files.
        let older = try fields.number(fields.key("rope.scale_linear"))
        func judged(_ factor: Double) -> (Double, Bool) {
            (factor, type != "linear" && factor != older ?? 1)
        }
        if type == "none" { return judged(1) }
        guard let factor = try fields.number(factorField) ?? older else {
            guard type == nil else { throw fields.check.missing(factorField) }
            return judged(1)
        }
        return judged(factor == 0 ? 1 : try fields.check.ropeFactor(factorField, factor))
    }
}
