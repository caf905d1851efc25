import Foundation
import SkeinBasics

/// How a model's makers want its tokens picked, as far as its files say: `generation_config.json` of a
/// Hugging Face folder, or `general.sampling.*` of a GGUF file, which gguf-py copies from there.
///
/// A model computes without it, so what is wrong with it is kept as `flaw` and is no error, as in
/// transformers, which then goes on as if the file were not there. (StatedSamplingTests)
package struct StatedSampling: Sendable {
    package internal(set) var temperature: Double?
    /// 0: all tokens.
    package internal(set) var topK: Int?
    package internal(set) var topP: Double?
    package internal(set) var minP: Double?
    package internal(set) var repetitionPenalty: Double?
    /// Why nothing of what the file says is used.
    package internal(set) var flaw: (any Error)?

    init() {}

    /// A sentence on `flaw`; nil: there is none.
    package var warning: String? {
        flaw.map { flaw in
            let explanation = (flaw as? any Explained)?.explanation
            let (what, place) = (explanation?.what ?? "\(flaw)", explanation?.place ?? "")
            return "how the model's makers sample is not used: \(what)"
                + (place.isEmpty ? "" : " (\(place))")
        }
    }

    /// What a folder says; empty if it has no such file.
    init(folder: String) {
        self.init()
        let path = FilePath.join(folder, Self.fileName)
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            let fields = try JSONFile.decode(
                Fields.self, path: path, limit: Limits.configurationBytes)
            self = try StatedSampling(fields, path: path) { $0.rawValue }
        } catch {
            flaw = error
        }
    }

    /// What a GGUF file's metadata says.
    init(_ metadata: [String: GGUFValue], path: String) {
        self.init()
        func number(_ key: Fields.CodingKeys) throws -> Double? {
            guard let value = metadata[key.ggufName] else { return nil }
            switch value {
            case .unsigned(let number): return Double(number)
            case .integer(let number): return Double(number)
            case .float(let number): return number
            default:
                throw FormatError.badField(
                    path: path, field: key.ggufName, expected: "a number",
                    found: value.kind)
            }
        }
        do {
            self = try StatedSampling(
                Fields(
                    samples: nil, temperature: number(.temperature), topK: number(.topK),
                    topP: number(.topP), minP: number(.minP),
                    repetitionPenalty: number(.repetitionPenalty)),
                path: path
            ) { $0.ggufName }
        } catch {
            flaw = error
        }
    }

    private static let fileName = "generation_config.json"

    private init(
        _ fields: Fields, path: String, name: (Fields.CodingKeys) -> String
    ) throws {
        func check(
            _ key: Fields.CodingKeys, _ value: Double?, _ accepted: String,
            _ isRight: (Double) -> Bool
        ) throws -> Double? {
            guard let value else { return nil }
            guard isRight(value) else {
                throw FormatError.badField(
                    path: path, field: name(key), expected: accepted, found: "\(value)")
            }
            return value
        }
        func check(
            _ key: Fields.CodingKeys, _ value: Double?, _ range: NumberRange
        ) throws -> Double? {
            let from = range.excludesFirst ? "" : "from "
            return try check(key, value, "a number \(from)\(range.text)", range.contains)
        }
        temperature = try check(.temperature, fields.temperature, SamplingRange.temperature)
        // -1 is vLLM's word for all.
        let most = SamplingRange.topK.upperBound
        topK = try check(.topK, fields.topK, "a whole number from -1 to \(most)") {
            $0 == $0.rounded() && (-1...Double(most)).contains($0)
        }.map { max(0, Int($0)) }
        topP = try check(.topP, fields.topP, SamplingRange.topP)
        minP = try check(.minP, fields.minP, SamplingRange.minP)
        repetitionPenalty = try check(
            .repetitionPenalty, fields.repetitionPenalty, SamplingRange.repetitionPenalty)
        switch fields.samples {
        case true?: temperature = temperature ?? 1
        case false?: temperature = 0
        case nil: break
        }
    }

    /// transformers' names. Where `do_sample` is left out, a temperature says enough, as it does to vLLM.
    private struct Fields: Decodable {
        var samples: Bool?
        var temperature: Double?
        var topK: Double?
        var topP: Double?
        var minP: Double?
        var repetitionPenalty: Double?

        enum CodingKeys: String, CodingKey {
            case samples = "do_sample"
            case temperature
            case topK = "top_k"
            case topP = "top_p"
            case minP = "min_p"
            case repetitionPenalty = "repetition_penalty"

            /// gguf-py's name, of its `Keys.General`.
            var ggufName: String {
                switch self {
                case .temperature: "general.sampling.temp"
                case .repetitionPenalty: "general.sampling.penalty_repeat"
                default: "general.sampling." + rawValue
                }
            }
        }
    }
}
