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
    /// Bytes that weights and one conversation of the usual length take.
    var bytes: Int

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
        let plan: HostPlan?
        do {
            plan = try HostPlan(
                model, SystemLanguageModel.Resources().options, for: .program, usable: nil)
        } catch {
            // What cannot be hosted takes the memory of its weights at least; loading it says why.
            plan = nil
        }
        let facts = ModelFacts(
            contextLength: model.configuration.contextLength,
            languages: model.raw.languages,
            bytes: plan.map {
                $0.weightBytes + $0.otherBytes
                    + $0.batch.sequenceBytes($0.batch.context, of: model.configuration)
            } ?? model.weightBytes)
        known.withLock { known in
            known.removeAll { $0.path == path }
            known.append((path, Known(identity: identity, card: card, facts: facts)))
            if known.count > most { known.removeFirst() }
        }
        return facts
    }
}
