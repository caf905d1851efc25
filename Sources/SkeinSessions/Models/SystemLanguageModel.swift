import Foundation
import Observation
import SkeinBasics
import SkeinInference
import Synchronization

/// A language model of this machine, with or without an adapter.
///
/// ```swift
/// let model = SystemLanguageModel(model: URL(filePath: "SmolLM2-135M-Instruct.gguf"))
/// let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
/// print(try await session.respond(to: "What is a skein?").content)
/// ```
///
/// The weights are loaded at the first request, or by `LanguageModelSession.prewarm`, and are in memory
/// once, however many values, adapters and sessions use the same path with the same `Resources`.
/// `unload()` gives the memory back.
public final class SystemLanguageModel: Sendable, Observable {
    /// What a model is specialised in.
    public struct UseCase: Equatable, Sendable {
        enum Kind: Equatable, Sendable {
            case general, contentTagging
        }

        let kind: Kind

        /// Any task.
        public static let general = UseCase(kind: .general)
        /// Answers with tags, whatever the prompt asks for; topics if nothing else is said.
        public static let contentTagging = UseCase(kind: .contentTagging)
    }

    /// The configured model: `SKEIN_MODEL`, or else what `~/.config/skein/model` names or is.
    public static let `default` = SystemLanguageModel()

    let place: ModelPlace
    let useCase: UseCase
    let guardrails: Guardrails
    let adapter: Adapter?
    let resources: Resources
    let registrar = ObservationRegistrar()
    /// Answers in the place of a model; for tests.
    let script: (any ReplySource)?
    /// Keeps the model in memory as long as this value lives.
    private let slotBox = SlotBox()

    private init(
        place: ModelPlace, useCase: UseCase, guardrails: Guardrails, adapter: Adapter?,
        resources: Resources, script: (any ReplySource)? = nil
    ) {
        self.place = place
        self.useCase = useCase
        self.guardrails = guardrails
        self.adapter = adapter
        self.resources = resources
        self.script = script
        AvailabilityNews.shared.add(self)
    }

    /// The configured model for a use case.
    ///
    /// - Parameters:
    ///   - useCase: what it is for.
    ///   - guardrails: what is checked.
    public convenience init(useCase: UseCase = .general, guardrails: Guardrails = .default) {
        self.init(
            place: .configured, useCase: useCase, guardrails: guardrails, adapter: nil,
            resources: Resources())
    }

    /// The configured model with an adapter.
    ///
    /// - Parameters:
    ///   - adapter: made for it.
    ///   - guardrails: what is checked.
    public convenience init(adapter: Adapter, guardrails: Guardrails = .default) {
        self.init(
            place: .configured, useCase: .general, guardrails: guardrails, adapter: adapter,
            resources: Resources())
    }

    /// A model in a file or folder of its own. Nothing is read before it is needed.
    ///
    /// - Parameters:
    ///   - model: a GGUF file or a Hugging Face folder.
    ///   - adapter: made for it; nil: the base alone.
    ///   - useCase: what it is for.
    ///   - guardrails: what is checked.
    ///   - resources: what it may take of this machine.
    public convenience init(
        model: URL, adapter: Adapter? = nil, useCase: UseCase = .general,
        guardrails: Guardrails = .default, resources: Resources = Resources()
    ) {
        self.init(
            place: .path(FilePath.withoutEndingSlash(model.path(percentEncoded: false))),
            useCase: useCase,
            guardrails: guardrails, adapter: adapter, resources: resources)
    }

    /// The configured model with other limits.
    ///
    /// - Parameters:
    ///   - resources: what it may take of this machine.
    ///   - adapter: made for it; nil: the base alone.
    ///   - useCase: what it is for.
    ///   - guardrails: what is checked.
    public convenience init(
        resources: Resources, adapter: Adapter? = nil, useCase: UseCase = .general,
        guardrails: Guardrails = .default
    ) {
        self.init(
            place: .configured, useCase: useCase, guardrails: guardrails, adapter: adapter,
            resources: resources)
    }

    /// A model whose replies come from elsewhere.
    package convenience init(
        script: any ReplySource, useCase: UseCase = .general, guardrails: Guardrails = .default
    ) {
        self.init(
            place: .configured, useCase: useCase, guardrails: guardrails, adapter: nil,
            resources: Resources(), script: script)
    }

    /// The same model with other checks.
    func with(_ guardrails: Guardrails) -> SystemLanguageModel {
        SystemLanguageModel(
            place: place, useCase: useCase, guardrails: guardrails, adapter: adapter,
            resources: resources, script: script)
    }

    /// Names of the base model and of the adapter, for transcripts: files without what lies around them.
    var assetIDs: [String] {
        // A reply came from a configured model; what is no longer configured has no name.
        guard script == nil, let path = try? place.path() else { return [] }
        return [path, adapter?.path].compactMap { $0.map { FilePath.name(of: $0) } }
    }

    /// Where the model and its adapter are.
    ///
    /// - Throws: `ModelFlaw` when no model is configured.
    package func paths() throws -> (model: String, adapter: String?) {
        (try place.path(), adapter?.path)
    }

    /// The place of the model in memory.
    ///
    /// - Throws: `ModelFlaw` when none is configured, or the file that names it cannot be read.
    func slot() throws(ModelFlaw) -> ModelSlot {
        let path = try place.path()
        return slotBox.slot(at: path, resources)
    }

    /// What makes the replies, loaded if need be.
    func source() async throws -> any ReplySource {
        if let script { return script }
        if let reason = Self.simulatedReason {
            throw ModelFlaw.simulated(reason: "\(reason)")
        }
        let model = self
        // Naming it may take a look into a file.
        let slot =
            place == .configured ? try await Aside.run { try model.slot() } : try model.slot()
        return try await slot.model()
    }

    /// Gives the memory of the model back, for all sessions of this process. Replies under way end with
    /// `assetsUnavailable`; the next request loads it again.
    public func unload() {
        if script != nil { return }
        // Where no model is configured any more, the one that was is still in memory.
        let slot = (try? slot()) ?? slotBox.held
        slot?.unload()
    }

    // MARK: Facts

    /// What its files say; nil: they cannot be read now.
    private var facts: ModelFacts? {
        // `availability` tells that, and a request why.
        try? ModelFacts.of(place.path())
    }

    /// Tokens of one session at once, prompts and replies together: 4,096 unless `resources` says
    /// otherwise, and never more than the model was made for, once its file has been looked at.
    public var contextSize: Int {
        registrar.access(self, keyPath: \.contextSize)
        return noted.contextSize
    }

    var currentContextSize: Int {
        if let script { return script.contextSize }
        guard let facts else { return resources.contextSize }
        return min(resources.contextSize, facts.contextLength)
    }

    /// The languages that the model's files name; English if they name none.
    public var supportedLanguages: Set<Locale.Language> {
        registrar.access(self, keyPath: \.supportedLanguages)
        return noted.languages
    }

    var currentLanguages: Set<Locale.Language> {
        let names = facts?.languages ?? []
        return Set((names.isEmpty ? ["en"] : names).map { Locale.Language(identifier: $0) })
    }

    /// Whether the model's files say nothing of languages.
    var namesNoLanguage: Bool { facts?.languages.isEmpty ?? true }

    /// Whether the language of a locale is among the model's.
    ///
    /// - Parameter locale: any; its region does not matter.
    /// - Returns: whether it is.
    public func supportsLocale(_ locale: Locale = .current) -> Bool {
        let wanted = locale.language.languageCode
        return supportedLanguages.contains { $0.languageCode == wanted }
    }
}

extension FilePath {
    /// A folder's URL may end with a slash: one name for one model.
    static func withoutEndingSlash(_ path: String) -> String {
        path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

/// Holds the places that a model used, so that they stay in memory.
private final class SlotBox: Sendable {
    private let known = Mutex<ModelSlot?>(nil)

    /// The one that was used last.
    var held: ModelSlot? { known.withLock { $0 } }

    func slot(at path: String, _ resources: SystemLanguageModel.Resources) -> ModelSlot {
        known.withLock { known in
            if let known, known.path == path { return known }
            let found = ModelSlot.at(path, resources)
            known = found
            return found
        }
    }
}
