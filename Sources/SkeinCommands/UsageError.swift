import SkeinBasics

/// A command line or configuration file that does not fit its command. Exit status 64.
enum UsageError: Error, Equatable {
    case missingCommand(known: [String])
    case unknownCommand(String, suggestion: String?, known: [String])
    /// `name` with its dashes, as it was typed.
    case unknownOption(_ name: String, command: String, suggestion: String?)
    case missingValue(option: String, accepted: String)
    /// A flag was given a value.
    case unexpectedValue(option: String, value: String)
    case badValue(option: String, value: String, accepted: String, suggestion: String?)
    case missingOption(_ name: String, placeholder: String, command: String)
    case missingPositional(_ placeholder: String, command: String)
    case unexpectedPositional(_ word: String, command: String)
    case badPositional(_ word: String, command: String, accepted: String, suggestion: String?)
    /// `option` needs `other`.
    case needs(option: String, other: String, command: String)
    /// `option` and `other` ask for different things.
    case excludes(option: String, other: String, command: String)
    /// One of several options must be given; without dashes.
    case needsOne(of: [String], command: String)
    /// Only loopback is served and dialled without a token.
    case tokenNeeded(option: String, address: String, command: String)
    /// A patience that ends before a silent peer counts as lost.
    case patienceTooShort(Duration)
    /// Workers elsewhere cannot dial this address.
    case notDiallable(address: String, command: String)
    /// An environment variable that skein reads.
    case badEnvironment(variable: String, value: String, accepted: [String])
    case configurationIsNoObject(path: String)
    case unknownKey(_ key: String, path: String, suggestion: String?)
    /// An option is given twice, in dashes and in camelCase.
    case repeatedKey(_ name: String, path: String)
    case badKeyValue(_ key: String, path: String, value: String, accepted: String)
}

/// What can go wrong between the command line and the rooms that do the work.
enum CommandError: Error, Equatable {
    /// Ctrl-C; the checkpoint of `step` holds everything.
    case interrupted(step: Int, directory: String)
    /// `--require-improvement`, and there was none.
    case noImprovement(base: Double, adapter: Double)
    case inputTooLong(name: String, limit: Int)
    /// What was given at `place` (a path, an argument, standard input) cannot be used.
    case badInput(InputProblem, place: String)
    /// The reader of standard output went away, as `head` does.
    case outputClosed
}
