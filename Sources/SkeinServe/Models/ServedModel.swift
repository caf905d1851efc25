import SkeinInference
import SkeinModels

/// The base model, alone or with one adapter, as a request can name it.
struct ServedModel: Sendable {
    let id: String
    /// Where it was read from.
    let root: String
    /// The base model's name; nil: it is the base model.
    let parent: String?
    /// Seconds since 1970.
    let created: Int
    /// The step of the checkpoint, when it is one.
    let step: Int?
    let projections: GenerationProjections

    var isAdapter: Bool { parent != nil }

    /// What answers call it: with the step that made them, where the name alone does not tell.
    var answeringName: String { step.map { id.contains("@") ? id : "\(id)@\($0)" } ?? id }
}
