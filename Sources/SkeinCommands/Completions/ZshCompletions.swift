import SkeinBasics

/// Completions for zsh's own system (compinit), with explanations. Pure.
enum ZshCompletions {
    static func script(_ tables: [ArgumentTable]) -> String {
        let commands = tables.map {
            "            \(quoted("\(escaped($0.command, ":")):\(escaped($0.summary, ""))"))\n"
        }.joined()
        return """
            #compdef skein
            # Completions of skein for zsh, made by: skein completions zsh
            _skein() {
                local curcontext="$curcontext" command=${words[2]}
                if (( CURRENT == 2 )) || [[ $command == help && $CURRENT == 3 ]]; then
                    local -a commands
                    commands=(

            """ + commands + """
                        )
                        _describe -t commands 'command' commands
                        (( CURRENT == 2 )) && _arguments '--help[list the commands]' '--version[print the version]'
                        return
                    fi
                    shift words
                    (( CURRENT -= 1 ))
                    case $command in

                """ + tables.map(branch).joined() + """
                        esac
                    }
                    # Read by compinit, this file is the function's body; read by source or eval, it is not.
                    if [[ $funcstack[1] == _skein ]]; then
                        _skein "$@"
                    else
                        compdef _skein skein
                    fi

                    """
    }

    private static func branch(_ table: ArgumentTable) -> String {
        var specs = table.completedOptions.map(spec)
        if let positional = table.positional {
            let place = positional.count == .oneOrMore ? "*" : "1"
            specs.append(
                quoted(
                    "\(place):\(escaped(positional.placeholder, ":")):"
                        + action(positional.completedValue)))
        }
        return "    \(quoted(table.command)))\n        _arguments \\\n"
            + specs.map { "            " + $0 }.joined(separator: " \\\n") + "\n        ;;\n"
    }

    /// An option as `_arguments` wants it: `--name=[explanation]:placeholder:action`.
    private static func spec(_ option: OptionDescription) -> String {
        let help = "[" + escaped(option.help, "[]") + "]"
        guard let value = option.completedValue else { return quoted("--\(option.name)\(help)") }
        let repeats = option.join == nil ? "" : "*"
        return quoted(
            "\(repeats)--\(option.name)=\(help):\(escaped(option.placeholder, ":")):"
                + action(value))
    }

    private static func action(_ value: CompletedValue) -> String {
        switch value {
        case .words(let words): "(" + words.map { escaped($0, " ():") }.joined(separator: " ") + ")"
        case .files: "_files"
        // A blank: there is nothing to offer.
        case .unknown: " "
        }
    }

    /// `text` with a backslash before backslashes and `special` characters.
    private static func escaped(_ text: String, _ special: String) -> String {
        text.reduce(into: "") { escaped, letter in
            if letter == "\\" || special.contains(letter) { escaped.append("\\") }
            escaped.append(letter)
        }
    }

    private static func quoted(_ text: String) -> String { BashCompletions.quoted(text) }
}
