import Synchronization

/// What others may know of the engine; its thread writes it after each step.
final class FiguresBox: Sendable {
    let value = Mutex(AnswerEngine.Figures())
}
