import SkeinBasics

/// Why there is no model to answer with.
enum ModelFlaw: Error, Equatable {
    /// Neither `SKEIN_MODEL` nor the configuration's file names one.
    case notConfigured(place: String)
    /// The file that should name a model names none.
    case badConfiguration(place: String)
    /// The system does not let the file that should name a model be read.
    case unreadable(FileError)
    /// The model is not there, or not whole.
    case missing(path: String)
    /// It does not fit into this machine's memory; `hasCopy`: prompts in int8 hold a second copy of it.
    case memory(path: String, needed: Int, available: Int, hasCopy: Bool)
    /// Its files are others than those that were loaded.
    case replaced(path: String)
    /// `unload()` was called while it was answering.
    case unloaded(path: String)
    /// The system refuses another thread.
    case noThread
    /// It has no chat template.
    case noTemplate(path: String)
    /// A value of `SystemLanguageModel.Resources` that is not allowed.
    case badResources(String)
    /// `SKEIN_SIMULATE_UNAVAILABLE` says so.
    case simulated(reason: String)
}

extension ModelFlaw: Explained {
    package var explanation: Explanation {
        switch self {
        case .notConfigured(let place):
            Explanation(
                what: "no model is configured", place: place,
                remedy: "set SKEIN_MODEL to a GGUF file or a Hugging Face folder, write its path "
                    + "into that file, or use SystemLanguageModel(model:)", status: .usage)
        case .badConfiguration(let place):
            Explanation(
                what: "the file that names the model has no path in its first line", place: place,
                remedy: "write the path of a GGUF file or a Hugging Face folder into it",
                status: .usage)
        case .unreadable(let error):
            Explanation(
                what: "the file that names the model cannot be read: \(error.explanation.what)",
                place: error.explanation.place,
                remedy: error.explanation.remedy
                    + ", or set SKEIN_MODEL to a GGUF file or a Hugging Face folder",
                status: error.explanation.status)
        case .missing(let path):
            Explanation(
                what: "the model is not there", place: path,
                remedy: "fetch it (skein pull), or mend the path", status: .badData)
        case .memory(let path, let needed, let available, let hasCopy):
            Explanation(
                what: "the model and one conversation take \(Figures.bytes(needed)), and "
                    + "\(Figures.bytes(available)) of memory can be used", place: path,
                remedy: "use a smaller model or contextSize, or free memory"
                    + (hasCopy ? ", or compute .fp32, which holds no second copy" : ""),
                status: .inputOutput)
        case .replaced(let path):
            Explanation(
                what: "the model's files were replaced since it was loaded", place: path,
                remedy: "call unload() and begin a new session", status: .badData)
        case .unloaded(let path):
            Explanation(
                what: "the model was unloaded", place: path,
                remedy: "ask again, which loads it again", status: .usage)
        case .noThread:
            Explanation(
                what: "the system refuses another thread",
                remedy: "raise the limit on processes (ulimit -u, or the container's)",
                status: .inputOutput)
        case .noTemplate(let path):
            Explanation(
                what: "the model has no chat template", place: path,
                remedy: "set chatTemplate in SystemLanguageModel.Resources", status: .badData)
        case .badResources(let rule):
            Explanation(
                what: "a value of SystemLanguageModel.Resources is not allowed: \(rule)",
                remedy: "give another value", status: .usage)
        case .simulated(let reason):
            Explanation(
                what: "the model counts as unavailable (\(reason))",
                place: "SKEIN_SIMULATE_UNAVAILABLE", remedy: "unset it", status: .usage)
        }
    }
}
