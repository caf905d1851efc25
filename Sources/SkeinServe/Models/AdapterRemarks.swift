import SkeinAnswers
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinText

/// Says in the log what may make an adapter's answers worse here than they were in training.
struct AdapterRemarks: Sendable {
    let model: ModelDirectory
    let chat: ChatTemplateSettings
    let log: Log

    /// Warns of another base model and of other text around what is said.
    ///
    /// - Parameter adapter: that will be served; one that fits in all has no remark.
    func say(of adapter: LoadedAdapter) {
        adapter.otherBaseName(than: model).map { log.warning($0) }
        do {
            let warnings = try TrainedText.warnings(
                adapter: adapter.path, adapter.configuration.origin, from: chat,
                usesTemplate: true, model: model.raw)
            for warning in warnings { log.warning(warning) }
        } catch {
            // The server has its template; the file may be gone since. That is no reason to answer less.
            let cause = (error as? any Explained)?.explanation.what ?? "\(error)"
            log.warning(
                "whether the adapter \(adapter.path) sees the text that it has learned is not known: "
                    + cause)
        }
    }
}
