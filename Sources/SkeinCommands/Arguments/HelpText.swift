import SkeinBasics

/// Renders tables as text of at most 100 columns. Frozen by snapshots under Tests/Fixtures/help.
enum HelpText {
    static let columns = 100
    /// The column where explanations begin; after a longer option they begin on the next line.
    private static let margin = 30

    /// `skein <command> --help`.
    static func text(of table: ArgumentTable) -> String {
        var lines = wrapped("skein \(table.command): \(table.summary)", indent: 0)
        lines += [""] + wrapped("usage: " + usage(of: table), indent: 7)
        if let positional = table.positional {
            lines += ["", "arguments"] + entry(positional.placeholder, positional.help)
        }
        for group in table.groups {
            lines += ["", group.title] + group.options.filter { !$0.isRetired }.flatMap(entry)
        }
        lines += ["", "example", "  " + table.example]
        return lines.joined(separator: "\n") + "\n"
    }

    /// `skein --help`.
    static func overview(of tables: [ArgumentTable], version: String) -> String {
        var lines = ["skein \(version): fine-tunes language models with LoRA on CPUs", ""]
        lines += ["usage: skein COMMAND [options]", "", "commands"]
        lines += tables.flatMap { entry($0.command, $0.summary) }
        lines += ["", "general"]
        lines += entry("COMMAND --help", "print the options of a command and an example")
        lines += entry(
            "--version [--json]",
            "print the version; as JSON also what this machine has, and its engine's fingerprint")
        lines += [
            "", "Results go to standard output, progress and errors to standard error.",
            "Exit status: 0 done, 64 usage, 65 bad data, 69 peer gone, 74 I/O, 1 our bug, "
                + "130 interrupted.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(of table: ArgumentTable) -> String {
        let required = table.options.filter(\.isRequired).map { "--\($0.name) \($0.placeholder)" }
        let positional = table.positional.map {
            switch $0.count {
            case .optional: "[\($0.placeholder)]"
            case .one: $0.placeholder
            case .oneOrMore: "\($0.placeholder)..."
            }
        }
        return
            (["skein", table.command] + required + ["[options]"] + (positional.map { [$0] } ?? []))
            .joined(separator: " ")
    }

    private static func entry(_ option: OptionDescription) -> [String] {
        var help = option.help
        if option.isRequired {
            help += " (required)"
        } else if let fallback = option.fallback ?? option.absent {
            help += " (default: \(fallback))"
        }
        let value = option.bare == nil ? option.placeholder : "[\(option.placeholder)]"
        return entry("--\(option.name) \(value)", help)
    }

    private static func entry(_ name: String, _ help: String) -> [String] {
        let label = "  " + name.trimmingSuffix(while: { $0 == " " })
        var lines = wrapped(String(repeating: " ", count: margin) + help, indent: margin)
        guard label.count <= margin - 2 else { return [label] + lines }
        lines[0] = label + lines[0].dropFirst(label.count)
        return lines
    }

    /// `text` in lines of at most `columns`, all but the first indented; keeps leading blanks.
    static func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        var line = String(text.prefix { $0 == " " })
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > columns {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }
}

extension String {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
