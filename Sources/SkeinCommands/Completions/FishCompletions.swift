import SkeinBasics

/// Completions for fish 3 and later, with explanations. Pure.
enum FishCompletions {
    static func script(_ tables: [ArgumentTable]) -> String {
        """
        # Completions of skein for fish, made by: skein completions fish
        # Whether the command is to be written next.
        function __skein_begins
            test (count (commandline -opc)) -eq 1
        end
        # Whether the command is the given one; its name may also be the value of an option.
        function __skein_is
            set -l words (commandline -opc)
            test (count $words) -ge 2; and test $words[2] = $argv[1]
        end
        complete -c skein -f
        complete -c skein -n __skein_begins -l help -d 'list the commands'
        complete -c skein -n __skein_begins -l version -d 'print the version'

        """ + tables.map(lines).joined()
    }

    private static func lines(_ table: ArgumentTable) -> String {
        let (name, summary) = (quoted(table.command), quoted(table.summary))
        var lines = ["complete -c skein -n __skein_begins -a \(name) -d \(summary)"]
        lines.append("complete -c skein -n '__skein_is help' -a \(name) -d \(summary)")
        let here = "complete -c skein -n \(quoted("__skein_is " + table.command))"
        switch table.positional?.completedValue {
        case .words(let words): lines.append("\(here) -a \(list(words))")
        case .files: lines.append("\(here) -F")
        case .unknown, nil: break
        }
        for option in table.completedOptions {
            var line = "\(here) -l \(quoted(option.name))"
            switch option.completedValue {
            case .words(let words): line += " -x -a \(list(words))"
            case .files: line += " -r -F"
            case .unknown: line += " -x"
            case nil: break
            }
            lines.append(line + " -d \(quoted(option.help))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Words for -a, which fish reads as a part of a command line.
    private static func list(_ words: [String]) -> String {
        quoted(words.map(quoted).joined(separator: " "))
    }

    /// A word that fish takes as it is.
    static func quoted(_ text: String) -> String {
        let escaped = text.reduce(into: "") { escaped, letter in
            if letter == "\\" || letter == "'" { escaped.append("\\") }
            escaped.append(letter)
        }
        return "'" + escaped + "'"
    }
}
