import SkeinBasics

/// Why an input cannot be used.
enum InputProblem: Error, Equatable {
    // tokenize
    /// The bytes from `offset` on are not UTF-8.
    case notUTF8(offset: Int)
    case notAnID(word: String)
    /// Ids are 0 ..< `vocabularySize`.
    case idOutOfRange(id: String, vocabularySize: Int)
    case noChatTemplate
    /// A conversation without a message.
    case noMessages
    /// A field of a conversation that is missing or of another type than `expected`.
    case badField(_ path: String, expected: String)

    // inspect
    /// None of `lookedFor` was found.
    case unknownKind(lookedFor: [String])
    /// A file or folder of rows.
    case rows(path: String)
    /// The path whose ledger should be verified is not a run.
    case noRun

    // export
    /// Something is where the result would be written.
    case outputExists
    /// The base model's family has no models with vision, whose weights have other names.
    case noOtherPrefix

    // status
    /// The answer is not a snapshot of a run.
    case noStatus
}

extension InputProblem {
    var what: String {
        switch self {
        case .notUTF8(let offset): "the text is not UTF-8 from byte \(offset) on"
        case .notAnID(let word): "\"\(word)\" is not a token id"
        case .idOutOfRange(let id, let size):
            "the token id \(id) is outside the vocabulary, 0 to \(size - 1)"
        case .noChatTemplate: "the model has no chat template"
        case .noMessages: "the conversation has no messages"
        case .badField(let path, let expected): "\"\(path)\" is missing or not \(expected)"
        case .unknownKind, .rows:
            "this is not a model, adapter, checkpoint, run or safetensors file"
        case .noRun: "this is not a run directory, so it has no ledger"
        case .outputExists: "there is something at --output already"
        case .noOtherPrefix:
            "models of this family have no vision, so their weights have no other names"
        case .noStatus: "this version of skein cannot read the coordinator's status"
        }
    }

    var remedy: String {
        switch self {
        case .notUTF8: "convert it to UTF-8 (iconv -f latin1 -t utf-8)"
        case .notAnID: "give whole numbers, separated by blanks or commas"
        case .idOutOfRange: "check that the ids were made with this model"
        case .noChatTemplate: "leave out --chat, or use an instruction-tuned model"
        case .noMessages, .badField:
            "write [{\"role\": \"user\", \"content\": \"...\"}, ...], or "
                + "{\"messages\": [...], \"add_generation_prompt\": true}"
        case .unknownKind(let lookedFor): "give a path that has " + Words.either(lookedFor)
        case .rows(let path):
            "this is a data file: `skein data \(ShellWords.quoted(path)) --model MODEL` shows its rows"
        case .noRun: "give the --output folder of a training run"
        case .outputExists: "give another --output, or remove it"
        case .noOtherPrefix: "leave out --key-prefix"
        case .noStatus: "use the version of skein that runs the coordinator"
        }
    }
}
