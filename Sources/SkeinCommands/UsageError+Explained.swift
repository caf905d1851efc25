import Foundation
import SkeinBasics
import SkeinTraining

extension UsageError: Explained {
    package var explanation: Explanation { explanation(by: .skein) }

    /// The same of the program whose command line it is.
    func explanation(by program: Program) -> Explanation {
        let (what, place, remedy) = sentences(program.name)
        return Explanation(what: what, place: place, remedy: remedy, status: .usage)
    }

    private func sentences(
        _ program: String
    ) -> (what: String, place: String, remedy: String) {
        switch self {
        case .unknownCommand(let word, let suggestion, let known):
            (
                "there is no command \"\(word)\"", program,
                suggestion.map { "did you mean \(program) \($0)?" }
                    ?? "give one of: \(known.joined(separator: ", "))"
            )
        case .foreignCommand(let word, let advice):
            ("there is no command \"\(word)\"", program, advice)
        case .unknownOption(let name, let command, let suggestion):
            (
                "there is no option \(name)", "\(program) \(command)",
                suggestion.map { "did you mean \($0)?" }
                    ?? "`\(program) \(command) --help` lists them all"
            )
        case .foreignOption(let name, let command, let advice):
            ("there is no option \(name)", "\(program) \(command)", advice)
        case .missingValue(let option, let accepted):
            ("--\(option) needs a value", "--\(option)", "give it \(accepted)")
        case .unexpectedValue(let option, let value):
            (
                "--\(option) takes no value, but \"\(value)\" was given", "--\(option)",
                "write --\(option) alone"
            )
        case .badValue(let option, let value, let accepted, let suggestion):
            (
                "--\(option) takes \(accepted), not \"\(value)\"", "--\(option)",
                suggestion.map { "did you mean \($0)?" } ?? "give it \(accepted)"
            )
        case .repeatedName(let option, let value):
            (
                "--\(option) was given a name of \"\(value)\" before", "--\(option)",
                "give each name once"
            )
        case .notRepeatable(let name, let option):
            (
                "the value of \"\(name)\" would change when it is joined with the other "
                    + "--\(option): a number such as 2.0 or 1e999 is written as 2 or null, or "
                    + "there are too many nested lists and objects",
                "--\(option)", "give one --\(option) with all names in a JSON object"
            )
        case .tooMany(let option, let most):
            ("--\(option) is given more than \(most) times", "--\(option)", "leave some out")
        case .missing(let words, let command): Self.missing(words, "\(program) \(command)")
        case .excludesPositional(let option, let placeholder, let command):
            (
                "--\(option) and \(placeholder) are two ways to say one thing",
                "\(program) \(command)",
                "give one of them"
            )
        case .noRun(let output, let needed, let command):
            (
                "there is no run at \(output)", "\(program) \(command)",
                "check --output; to begin a run there, add \(needed.joined(separator: " "))"
            )
        case .unexpectedPositional(let word, let command):
            (
                "unexpected argument \"\(word)\"", "\(program) \(command)",
                "options begin with --; quote a value that contains blanks"
            )
        case .severalValues(let option, let second, let value, let command):
            (
                "--\(option) takes one value, and \"\(second)\" is a second one",
                "\(program) \(command)",
                "write several with commas: --\(option) \(ShellWords.quoted(value))"
            )
        case .tooManyPositionals(let placeholder, let most, let command):
            (
                "more than \(most) arguments \(placeholder)", "\(program) \(command)",
                "give at most \(most) at once"
            )
        case .badPositional(let word, let command, let accepted, let suggestion):
            (
                "\(program) \(command) takes \(accepted), not \"\(word)\"", "\(program) \(command)",
                suggestion.map { "did you mean \($0)?" } ?? "give it \(accepted)"
            )
        case .needs(let option, let other, let command):
            (
                "--\(option) needs --\(other)", "\(program) \(command)",
                "add --\(other), or leave out --\(option)"
            )
        case .excludes(let option, let other, let command):
            (
                "--\(option) and --\(other) cannot be combined", "\(program) \(command)",
                "remove one of them"
            )
        case .needsOne(let names, let command):
            (
                "\(Words.either(names.map { "--" + $0 })) is missing", "\(program) \(command)",
                "add one of them"
            )
        case .tokenNeeded(let option, let address, let command):
            (
                "--\(option) \(address) is not a loopback address and needs --token-file",
                "\(program) \(command)",
                "create a token file (docs/OPERATING.md), or use 127.0.0.1"
            )
        case .patienceTooShort(let patience):
            (
                "--patience \(DurationText.text(of: patience)) is not longer than the "
                    + "\(DurationText.text(of: PeerTimeouts.lost)) after which a peer counts as lost",
                "--patience", "give a longer time, such as 60s"
            )
        case .notDiallable(let address, let command):
            (
                "workers on other hosts cannot connect to \(address)", "\(program) \(command)",
                "give --listen an address of this machine that the hosts can reach"
            )
        case .configurationIsNoObject(let path, let detail):
            (
                "the configuration is not a JSON object (\(detail))", path,
                "write { \"option\": value, ... }; --print-config prints an example"
            )
        case .recordedPath(let option, let path, let record):
            (
                "the run was begun with --\(option) \(path), and there is no such file or folder "
                    + "from here", record, "give --\(option): its bytes must be the same"
            )
        case .incompletePart(let run, let step, let count, let isRunning):
            (
                "a second part begins with the adapter of a complete run, and this one "
                    + (isRunning ? "still runs" : "has steps left")
                    + ": it is at step \(step)" + (count.map { " of \($0)" } ?? ""), run,
                isRunning
                    ? "wait for its end"
                    : "finish it with skein train --resume --output \(ShellWords.quoted(run))"
            )
        case .referenceOfPart(let record):
            (
                "with --reference init the run's loss compares with the adapter that it began with, and "
                    + "a second part begins with another one", record,
                "give --reference: init compares with the first part's result, base with the base model"
            )
        case .unknownKey(let key, let path, let suggestion):
            (
                "there is no option \"\(key)\"", path,
                suggestion.map { "did you mean \"\($0)\"?" }
                    ?? "--print-config prints all options"
            )
        case .repeatedKey(let name, let path):
            ("\"\(name)\" is given twice", path, "remove one of them")
        case .badEnvironment(let variable, let value, let accepted):
            (
                "the environment variable \(variable) takes \(Words.either(accepted)), not "
                    + "\"\(value)\"", "environment", "set it to one of these, or unset it"
            )
        case .badKeyValue(let key, let path, let value, let accepted):
            ("\"\(key)\" takes \(accepted), not \(value)", path, "give it \(accepted)")
        }
    }
}

extension UsageError {
    private static func missing(
        _ words: [String], _ place: String
    ) -> (what: String, place: String, remedy: String) {
        let names = words.map { $0.split(separator: " ").first.map(String.init) ?? $0 }
        if words.count == 1, let name = names.first, !name.hasPrefix("--") {
            return ("\(name) is missing", place, "add it; `\(place) --help` shows an example")
        }
        return (
            "\(Words.all(names)) \(names.count == 1 ? "is" : "are") missing", place,
            "add \(words.joined(separator: " "))"
        )
    }
}

extension CommandError: Explained {
    var explanation: Explanation {
        switch self {
        case .interrupted(let step, let directory):
            Explanation(
                what: step == 0
                    ? "interrupted before the first step" : "interrupted after step \(step)",
                place: directory,
                remedy: "continue with the same command and --resume", status: .interrupted)
        case .nothingWritten(let output):
            Explanation(
                what: "interrupted; nothing was written", place: output,
                remedy: "run the same command again", status: .interrupted)
        case .leftRun(let place):
            Explanation(
                what: "left the run, as asked", place: place,
                remedy: "run the same command again to take part again", status: .interrupted)
        case .dataHurts(let path, let findings, let first):
            Explanation(
                what:
                    "\(Figures.count(findings, "thing")) in the data would silently hurt, the first: "
                    + first,
                place: path, remedy: "mend or remove the rows that are listed above",
                status: .badData)
        case .noImprovement(let base, let adapter):
            Explanation(
                what: "the adapter's loss \(adapter) is not below the base's \(base)",
                remedy: "train longer, with another learning rate or with more rows",
                status: .badData)
        case .runNotImproved(let improvement?, let place):
            Explanation(
                what: improvement.sentence, place: place,
                remedy:
                    "lower --learning-rate if the loss rose; else train longer or with more rows",
                status: .badData)
        case .runNotImproved(nil, let place):
            Explanation(
                what: "there are no validation rows to say whether the adapter is an improvement",
                place: place, remedy: "give a --validation-split above 0, or a file of such rows",
                status: .badData)
        case .exportDiffers(let difference, let limit, let output):
            Explanation(
                what: "the exported adapter's logits differ from the original's by \(difference), "
                    + "more than \(limit); nothing was written", place: output,
                remedy: "report this with the adapter; --no-verify writes it all the same",
                status: .internalError)
        case .inputTooLong(let name, let limit):
            Explanation(
                what: "the input is longer than \(limit) bytes", place: name,
                remedy: "split it into smaller parts", status: .badData)
        case .badInput(let problem, let place):
            Explanation(
                what: problem.what, place: place, remedy: problem.remedy, status: .badData)
        case .outputClosed:
            Explanation(
                what: "standard output was closed by its reader", place: "standard output",
                remedy: "keep the reader running until the end", status: .inputOutput)
        }
    }
}
