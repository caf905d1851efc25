/// How the weights of a folder are quantized, as its config.json says: MLX's `quantization`, or
/// transformers' `quantization_config`.
enum FolderQuantization {
    case none
    case affine(AffineSettings)
    case float8(Float8Matrix.Settings)
    case bitsandbytes

    /// - Throws: `FormatError` for fields that are invalid or of another method.
    init(_ configuration: FolderConfiguration) throws {
        var fields = try configuration.decode(Fields.self)
        if fields.isEmpty, let text = try configuration.decode(Outer.self).text { fields = text }
        let check = ConfigurationCheck(path: configuration.path)
        let method = fields.method?.name
        if let affine = fields.affine {
            if let method {
                throw check.unsupported("quantization_config.quant_method", method, "one method")
            }
            self = .affine(try AffineSettings(affine, "quantization", check))
            return
        }
        if let affine = fields.otherAffine {
            self = .affine(try AffineSettings(affine, "quantization_config", check))
            return
        }
        guard let config = fields.method else {
            self = .none
            return
        }
        let inner = ConfigurationCheck(
            path: configuration.path, prefix: "quantization_config.")
        if let fields = config.fineGrained {
            self = .float8(try .init(fields, inner))
            return
        }
        if let fields = config.compressed {
            self = .float8(try .init(fields, inner))
            return
        }
        switch method {
        case "bitsandbytes":
            guard config.isFourBit == true else {
                throw inner.unsupported("load_in_4bit", "false", "4 bits")
            }
            self = .bitsandbytes
        default:
            throw inner.unsupported(
                "quant_method", method ?? "missing",
                "bitsandbytes, fp8, compressed-tensors and MLX's quantization")
        }
    }

    /// A model for several kinds of input may say it of its text model alone.
    private struct Outer: Decodable {
        let text: Fields?

        enum CodingKeys: String, CodingKey { case text = "text_config" }
    }

    private struct Fields: Decodable {
        let affine: AffineFields?
        let method: Method?
        /// MLX writes its fields a second time.
        let otherAffine: AffineFields?

        var isEmpty: Bool { affine == nil && method == nil }

        enum CodingKeys: String, CodingKey {
            case affine = "quantization"
            case method = "quantization_config"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            affine = try container.decodeIfPresent(AffineFields.self, forKey: .affine)
            method = try container.decodeIfPresent(Method.self, forKey: .method)
            otherAffine =
                method?.name == nil && method?.bits != nil
                ? try container.decode(AffineFields.self, forKey: .method) : nil
        }
    }

    private struct Method: Decodable {
        let name: String?
        let isFourBit: Bool?
        let bits: Int?
        let fineGrained: Float8Matrix.Settings.FineGrained?
        let compressed: Float8Matrix.Settings.Compressed?

        enum CodingKeys: String, CodingKey {
            case name = "quant_method"
            case isFourBit = "load_in_4bit"
            case bits
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name)
            isFourBit = try container.decodeIfPresent(Bool.self, forKey: .isFourBit)
            bits = try container.decodeIfPresent(Int.self, forKey: .bits)
            fineGrained = name == "fp8" ? try .init(from: decoder) : nil
            compressed = name == "compressed-tensors" ? try .init(from: decoder) : nil
        }
    }
}

/// MLX's object as it stands: settings for all modules and, by their paths, for single ones.
struct AffineFields: Decodable {
    /// What stands under the name of a module.
    enum Module {
        /// `true` is the same as nothing, `false` means not quantized.
        case flag(Bool)
        case settings(AffineFields)
    }

    private(set) var bits: Int?
    private(set) var groupSize: Int?
    private(set) var mode: String?
    private(set) var modules: [String: Module] = [:]

    init(from decoder: any Decoder) throws {
        try self.init(from: decoder, isModule: false)
    }

    private init(from decoder: any Decoder, isModule: Bool) throws {
        let container = try decoder.container(keyedBy: NamedKey.self)
        for key in container.allKeys {
            switch key.stringValue {
            case "bits": bits = try container.decode(Int.self, forKey: key)
            case "group_size": groupSize = try container.decode(Int.self, forKey: key)
            case "mode": mode = try container.decode(String.self, forKey: key)
            default:
                guard !isModule else { continue }
                // What is no flag is read as settings, which throws what is wrong with it.
                if let flag = try? container.decode(Bool.self, forKey: key) {
                    modules[key.stringValue] = .flag(flag)
                } else if try !container.decodeNil(forKey: key) {
                    modules[key.stringValue] = .settings(
                        try AffineFields(from: container.superDecoder(forKey: key), isModule: true))
                }
            }
        }
    }
}

/// MLX's settings, checked.
struct AffineSettings {
    private let general: AffineMatrix.Settings
    /// nil for a module that is not quantized.
    private var modules: [String: AffineMatrix.Settings?] = [:]

    /// - Parameters:
    ///   - fields: what config.json says.
    ///   - name: the object's name in it.
    ///   - check: for the errors.
    /// - Throws: `FormatError` for a mode, width or group size that is not MLX's affine one.
    init(_ fields: AffineFields, _ name: String, _ check: ConfigurationCheck) throws {
        general = try Self.settings(fields, name, check)
        for (module, value) in fields.modules {
            switch value {
            case .flag(true): break
            case .flag(false): modules[module] = .some(nil)
            case .settings(let own):
                modules[module] = try Self.settings(own, "\(name).\(module)", check)
            }
        }
    }

    /// nil: the module is not quantized.
    func settings(of module: String) -> AffineMatrix.Settings? {
        modules[module] ?? general
    }

    /// Modules with settings of their own, which must be quantized.
    var stated: [String] { modules.filter { $0.value != nil }.keys.sorted() }

    private static func settings(
        _ fields: AffineFields, _ name: String, _ check: ConfigurationCheck
    ) throws -> AffineMatrix.Settings {
        if let mode = fields.mode, mode != "affine" {
            throw check.unsupported(name + ".mode", mode, "affine")
        }
        func number(_ field: String, _ value: Int?, _ allowed: [Int]) throws -> Int {
            guard let value else {
                throw FormatError.missingField(path: check.path, field: "\(name).\(field)")
            }
            guard allowed.contains(value) else {
                throw check.unsupported(
                    "\(name).\(field)", String(value),
                    allowed.map(String.init).joined(separator: ", "))
            }
            return value
        }
        return AffineMatrix.Settings(
            bits: try number("bits", fields.bits, [2, 3, 4, 5, 6, 8]),
            groupSize: try number("group_size", fields.groupSize, [32, 64, 128]))
    }
}
