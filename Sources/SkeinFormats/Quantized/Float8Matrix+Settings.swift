/// The two ways in which config.json describes weights of 8-bit floats.
extension Float8Matrix.Settings {
    /// transformers' own: `quant_method` "fp8".
    struct FineGrained: Decodable {
        let format: String?
        let scaleFormat: String?
        let block: [Int]?

        enum CodingKeys: String, CodingKey {
            case format = "fmt"
            case scaleFormat = "scale_fmt"
            case block = "weight_block_size"
        }
    }

    /// - Throws: `FormatError` for fields that are invalid or of another format.
    init(_ fields: FineGrained, _ check: ConfigurationCheck) throws {
        if let format = fields.format, format != "e4m3" {
            throw check.unsupported("fmt", format, "e4m3")
        }
        if let format = fields.scaleFormat, !["float", "ue8m0"].contains(format) {
            throw check.unsupported("scale_fmt", format, "float and ue8m0")
        }
        self.init(
            grid: try fields.block.map { try .blocks(Self.block($0, "weight_block_size", check)) }
                ?? .whole,
            hasExponents: fields.scaleFormat == "ue8m0")
    }

    /// compressed-tensors': groups of modules with equal settings.
    struct Compressed: Decodable {
        let format: String?
        let groups: [String: Group]
        /// Rotations of the weights and inputs.
        let transforms: Groups?
        let sparsity: Sparsity?

        enum CodingKeys: String, CodingKey {
            case format
            case groups = "config_groups"
            case transforms = "transform_config"
            case sparsity = "sparsity_config"
        }

        struct Groups: Decodable {
            let isEmpty: Bool

            init(from decoder: any Decoder) throws {
                isEmpty = try decoder.container(keyedBy: NamedKey.self).allKeys.isEmpty
            }
        }

        struct Sparsity: Decodable {
            let format: String?
        }

        struct Group: Decodable {
            let weights: Weights?
        }

        struct Weights: Decodable {
            let bits: Int
            let type: String
            let strategy: String?
            let isSymmetric: Bool?
            let block: [Int]?

            enum CodingKeys: String, CodingKey {
                case bits = "num_bits"
                case type
                case strategy
                case isSymmetric = "symmetric"
                case block = "block_structure"
            }
        }
    }

    /// - Throws: `FormatError` for fields that are invalid, of another format, or that differ from
    ///   group to group.
    init(_ fields: Compressed, _ check: ConfigurationCheck) throws {
        if let format = fields.format, !["float-quantized", "naive-quantized"].contains(format) {
            throw check.unsupported("format", format, "float-quantized")
        }
        if let format = fields.sparsity?.format, format != "dense" {
            throw check.unsupported("sparsity_config.format", format, "dense")
        }
        guard fields.transforms?.isEmpty ?? true else {
            throw check.unsupported("transform_config", "not empty", "weights without transforms")
        }
        let grids = try fields.groups.sorted { $0.key < $1.key }.map { name, group in
            try Self.grid(group.weights, "config_groups.\(name).weights", check)
        }
        guard let grid = grids.first else { throw check.missing("config_groups.group_0") }
        guard grids.allSatisfy({ $0 == grid }) else {
            throw check.unsupported("config_groups", "of several kinds", "groups of one kind")
        }
        // Products are rounded to the type of the scales, as that package does.
        self.init(grid: grid, scaleEnding: "_scale", isRounded: true)
    }

    private static func grid(
        _ weights: Compressed.Weights?, _ name: String, _ check: ConfigurationCheck
    ) throws -> Float8Matrix.Grid {
        guard let weights else { throw check.missing(name) }
        guard weights.type == "float", weights.bits == 8 else {
            throw check.unsupported(name, "\(weights.type) of \(weights.bits) bits", "8-bit floats")
        }
        guard weights.isSymmetric ?? true else {
            throw check.unsupported(name + ".symmetric", "false", "true")
        }
        switch weights.strategy {
        case "tensor": return .whole
        case "channel": return .rows
        case "block":
            guard let block = weights.block else { throw check.missing(name + ".block_structure") }
            return .blocks(try Self.block(block, name + ".block_structure", check))
        default:
            throw check.unsupported(
                name + ".strategy", weights.strategy ?? "missing", "tensor, channel and block")
        }
    }

    private static func block(
        _ sizes: [Int], _ name: String, _ check: ConfigurationCheck
    ) throws -> Float8Matrix.Block {
        guard sizes.count == 2, sizes.allSatisfy({ (1...Limits.matrixSide).contains($0) }) else {
            throw check.bad(name, "two sizes of 1 to \(Limits.matrixSide)", "\(sizes)")
        }
        return Float8Matrix.Block(rows: sizes[0], columns: sizes[1])
    }
}
