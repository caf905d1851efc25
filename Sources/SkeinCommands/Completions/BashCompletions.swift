import SkeinBasics

/// Completions for bash 4 and later, without the package bash-completion. Pure.
///
/// Names of files are left to readline, which knows tildes, blanks and open quotes.
enum BashCompletions {
    static func script(_ tables: [ArgumentTable]) -> String {
        let commands = words(tables.map(\.command))
        return """
            # Completions of skein for bash, made by: skein completions bash
            _skein() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev= word i
                local options=() words=() positional=() files= positional_files=
                COMPREPLY=()
                ((COMP_CWORD > 1)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
                # Bash splits --name=value at the sign.
                if [[ $cur == '=' ]]; then
                    cur=
                elif [[ $prev == '=' ]] && ((COMP_CWORD > 2)); then
                    prev=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                if ((COMP_CWORD == 1)); then
                    words=(\(commands) '--help' '--version')
                else
                    case ${COMP_WORDS[1]} in
                    'help') ((COMP_CWORD == 2)) && words=(\(commands)) ;;

            """ + tables.map(branch).joined() + """
                        *) return 0 ;;
                        esac
                        # After a lone -- there are no options.
                        for ((i = 2; i < COMP_CWORD; i++)); do
                            if [[ ${COMP_WORDS[i]} == '--' ]]; then
                                options=() words=() files= cur=${COMP_WORDS[COMP_CWORD]} prev=
                            fi
                        done
                        if [[ $files == none ]]; then
                            return 0
                        elif [[ -z $files ]] && ((${#words[@]} == 0)); then
                            if [[ $cur == -* ]]; then
                                words=("${options[@]}")
                            else
                                words=("${positional[@]}") files=$positional_files
                            fi
                        fi
                    fi
                    if [[ $files == any ]]; then
                        compopt -o default 2>/dev/null || :
                        return 0
                    fi
                    for word in "${words[@]}"; do
                        if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
                    done
                }
                complete -F _skein skein

                """
    }

    /// What a command line that begins with this command may have.
    private static func branch(_ table: ArgumentTable) -> String {
        let options = table.completedOptions
        var lines = ["        \(quoted(table.command)))"]
        lines.append("            options=(\(words(options.map { "--" + $0.name })))")
        switch table.positional?.completedValue {
        case .words(let choices): lines.append("            positional=(\(words(choices)))")
        case .files: lines.append("            positional_files=any")
        case .unknown, nil: break
        }
        var cases: [String] = []
        func add(_ value: CompletedValue, _ action: String) {
            let names = options.filter { $0.completedValue == value }.map { quoted("--" + $0.name) }
            guard !names.isEmpty else { return }
            cases.append("            \(names.joined(separator: " | "))) \(action) ;;")
        }
        var seen: [[String]] = []
        for option in options {
            guard case .words(let choices)? = option.completedValue, !seen.contains(choices)
            else { continue }
            seen.append(choices)
            add(.words(choices), "words=(\(words(choices)))")
        }
        add(.files, "files=any")
        add(.unknown, "files=none")
        if !cases.isEmpty { lines += ["            case $prev in"] + cases + ["            esac"] }
        lines.append("            ;;")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func words(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// A word that bash takes as it is.
    static func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''")
            + "'"
    }
}
