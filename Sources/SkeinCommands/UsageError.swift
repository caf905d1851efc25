import SkeinBasics
import SkeinTraining

/// A command line or configuration file that does not fit its command. Exit status 64.
package enum UsageError: Error, Equatable {
    case unknownCommand(String, suggestion: String?, known: [String])
    /// Another tool's name for what is said otherwise here.
    case foreignCommand(String, advice: String)
    /// `name` is as typed, with its dashes.
    case unknownOption(_ name: String, command: String, suggestion: String?)
    /// Another tool's name, with its dashes, for what is said otherwise here.
    case foreignOption(_ name: String, command: String, advice: String)
    case missingValue(option: String, accepted: String)
    /// A flag was given a value.
    case unexpectedValue(option: String, value: String)
    case badValue(option: String, value: String, accepted: String, suggestion: String?)
    /// An option that may be repeated names something twice.
    case repeatedName(option: String, value: String)
    /// What an option names `name` cannot be joined with its other occurrences.
    case notRepeatable(name: String, option: String)
    /// `option` was given more than `most` times.
    case tooMany(option: String, most: Int)
    /// Options with their placeholders, and the placeholders of arguments: all that must be given and
    /// was not.
    case missing([String], command: String)
    /// `--resume`, and there is no run in the folder; `needed`: what a new one lacks.
    case noRun(output: String, needed: [String], command: String)
    case unexpectedPositional(_ word: String, command: String)
    /// Values after the one that `option` takes: what may be meant as one `value`, such as A,B.
    case severalValues(option: String, second: String, value: String, command: String)
    /// Arguments beyond the `most` that a command takes.
    case tooManyPositionals(_ placeholder: String, most: Int, command: String)
    case badPositional(_ word: String, command: String, accepted: String, suggestion: String?)
    /// `option` needs `other`.
    case needs(option: String, other: String, command: String)
    /// `option` and `other` contradict each other.
    case excludes(option: String, other: String, command: String)
    /// The same may be given as an option or as an argument, and was given as both.
    case excludesPositional(option: String, placeholder: String, command: String)
    /// One of these options, named without dashes, must be given.
    case needsOne(of: [String], command: String)
    /// An address other than loopback needs a token.
    case tokenNeeded(option: String, address: String, command: String)
    /// The patience would end before a silent peer counts as lost.
    case patienceTooShort(Duration)
    /// Workers on other hosts cannot dial this address.
    case notDiallable(address: String, command: String)
    /// An environment variable has a value that skein does not accept.
    case badEnvironment(variable: String, value: String, accepted: [String])
    /// The file of `--config` is not an object; `detail` says what it is, or where it is no JSON.
    case configurationIsNoObject(path: String, detail: String)
    /// A path that a run's record has for `option` leads nowhere from here.
    case recordedPath(option: String, path: String, record: String)
    /// `--extend` names a run that has steps left; `of`: how many it shall have, if that is known.
    case incompletePart(run: String, step: Int, of: Int?, isRunning: Bool)
    /// `--extend` names a run whose loss compares with the adapter that it began with.
    case referenceOfPart(record: String)
    case unknownKey(_ key: String, path: String, suggestion: String?)
    /// An option is given twice, with dashes and in camelCase.
    case repeatedKey(_ name: String, path: String)
    case badKeyValue(_ key: String, path: String, value: String, accepted: String)
}

extension UsageError {
    /// One option is missing.
    package static func missingOption(
        _ name: String, placeholder: String, command: String
    ) -> UsageError {
        .missing(["--\(name) \(placeholder)"], command: command)
    }

    /// One argument is missing.
    package static func missingPositional(_ placeholder: String, command: String) -> UsageError {
        .missing([placeholder], command: command)
    }
}

/// What can go wrong in the commands themselves.
enum CommandError: Error, Equatable {
    /// Stopped by a signal; the run can resume from the checkpoint of `step`.
    case interrupted(step: Int, directory: String)
    /// Stopped by a signal before there was a result.
    case nothingWritten(output: String)
    /// A worker that was asked to stop, where a status of 0 would say that the run is complete.
    case leftRun(place: String)
    /// `--require-improvement` was given, and there was no improvement.
    case noImprovement(base: Double, adapter: Double)
    /// The same of a run, whose adapter is at `place`; nil: there was nothing to compare.
    case runNotImproved(Improvement?, place: String)
    /// `--check` was given, and something in the data would silently hurt.
    case dataHurts(path: String, findings: Int, first: String)
    /// The exported adapter does not compute what the original does.
    case exportDiffers(difference: Float, limit: Float, output: String)
    case inputTooLong(name: String, limit: Int)
    /// The input at `place` (a path, an argument, standard input) cannot be used.
    case badInput(InputProblem, place: String)
    /// The reader of standard output went away, as `head` does.
    case outputClosed
}
