import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import Synchronization

/// What a model's files say without its weights being read.
struct ModelFacts: Sendable {
    var contextLength: Int
    /// As the files name them, such as "en".
    var languages: [String]
    private let bytes: [ComputeType: Int]

    /// Bytes that weights and one conversation of the usual length take.
    ///
    /// - Parameter compute: of prompts; int8 needs a second copy of the weights.
    /// - Returns: bytes.
    func bytes(computing compute: ComputeType) -> Int { bytes[compute] ?? 0 }

    private struct Known {
        var identity: FileIdentity
        /// The model card, which names languages and is no part of the model; nil: there is none.
        var card: FileIdentity?
        var facts: ModelFacts
    }

    /// The models that were asked for last.
    private static let known = Mutex([(path: String, known: Known)]())
    private static let most = 8

    /// Reads a model's headers, once as long as its files stay the same.
    ///
    /// - Throws: what opening it throws.
    static func of(_ path: String) throws -> ModelFacts {
        let identity = try FileIdentity(of: path)
        // Without one the model names no language.
        let card = try? FileIdentity(of: FilePath.join(path, ModelFiles.card))
        if let found = known.withLock({ $0.first { $0.path == path } }),
            found.known.identity == identity, found.known.card == card
        {
            return found.known.facts
        }
        let model = try ModelDirectory.open(path)
        let facts = ModelFacts(
            contextLength: model.configuration.contextLength,
            languages: model.raw.languages,
            bytes: Dictionary(
                uniqueKeysWithValues: ComputeType.allCases.map { ($0, bytes(of: model, $0)) }))
        known.withLock { known in
            known.removeAll { $0.path == path }
            known.append((path, Known(identity: identity, card: card, facts: facts)))
            if known.count > most { known.removeFirst() }
        }
        return facts
    }

    private static func bytes(of model: ModelDirectory, _ compute: ComputeType) -> Int {
        var options = SystemLanguageModel.Resources().options
        options.compute = compute
        let plan: HostPlan
        do {
            plan = try HostPlan(model, options, for: .program, usable: nil)
        } catch {
            // What cannot be hosted takes the memory of its weights at least; loading it says why.
            return model.weightBytes
        }
        return plan.weightBytes + plan.otherBytes
            + plan.batch.sequenceBytes(plan.batch.context, of: model.configuration)
    }
}
