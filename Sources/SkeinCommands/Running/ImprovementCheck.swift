import SkeinBasics
import SkeinTraining

extension CommandError {
    /// Says of a complete run whose adapter is no better than what it began with that this is so.
    ///
    /// - Parameters:
    ///   - improvement: of the run; nil: nothing is known of its beginning.
    ///   - place: of its result.
    ///   - isRequired: whether the command fails then (`--require-improvement`).
    ///   - log: where a warning is written if it does not.
    /// - Throws: `CommandError.runNotImproved`.
    static func check(
        _ improvement: Improvement?, place: String, isRequired: Bool, _ log: Log
    ) throws(CommandError) {
        if improvement?.isBetter == true { return }
        if isRequired { throw .runNotImproved(improvement, place: place) }
        guard let improvement else { return }
        log.warning(
            improvement.sentence + "; --require-improvement makes that an exit status")
    }
}
