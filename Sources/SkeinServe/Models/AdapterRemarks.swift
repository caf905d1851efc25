import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinText
import Synchronization

/// Says in the log what may make an adapter's answers worse here than they were in training.
final class AdapterRemarks: Sendable {
    private let model: ModelDirectory
    private let chat: ChatTemplateSettings
    private let log: Log
    /// What was said: an adapter that requests have read again and again is no news.
    private let said = Mutex<Set<String>>([])

    init(model: ModelDirectory, chat: ChatTemplateSettings, log: Log) {
        self.model = model
        self.chat = chat
        self.log = log
    }

    /// Warns of another base model and of other text around what is said.
    ///
    /// - Parameter adapter: that will be served; one that fits in all has no remark.
    func say(of adapter: LoadedAdapter) {
        adapter.otherBaseName(than: model).map(warn)
        do {
            let warnings = try TrainedText.warnings(
                adapter: adapter.path, adapter.configuration.origin, from: chat,
                usesTemplate: true, model: model.raw)
            warnings.forEach(warn)
        } catch {
            // The server has its template; the file may be gone since. That is no reason to answer less.
            let cause = (error as? any Explained)?.explanation.what ?? "\(error)"
            warn(
                "whether the adapter \(adapter.path) sees the text that it has learned is not known: "
                    + cause)
        }
    }

    private func warn(_ text: String) {
        let isNews = said.withLock { said in
            // Forgotten at some time, so that it has a limit.
            if said.count >= Limits.remarks { said.removeAll() }
            return said.insert(text).inserted
        }
        if isNews { log.warning(text) }
    }
}
