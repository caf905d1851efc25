import SkeinBasics

/// Renders tables as text of at most 100 columns. Frozen by snapshots under Tests/Fixtures/help.
enum HelpText {
    static let columns = 100
    /// The column where explanations begin; after a longer option they begin on the next line.
    private static let margin = 30

    /// What exit statuses mean, in the order in which they are told.
    static let exitStatuses: [(status: Int, meaning: String)] = [
        (0, "done"), (64, "usage"), (65, "bad data"), (69, "peer gone"), (74, "I/O"),
        (1, "our bug"), (130, "interrupted"),
    ]

    /// A command's `--help`: of one with many options those that matter first.
    ///
    /// - Parameters:
    ///   - table: of the command.
    ///   - program: the one that has the command.
    ///   - isWhole: whether all options are shown (`--help all`).
    /// - Returns: the page.
    static func text(
        of table: ArgumentTable, by program: Program, isWhole: Bool = false
    ) -> String {
        var lines = wrapped("\(program.name) \(table.command): \(table.summary)", indent: 0)
        lines += [""] + wrapped("usage: " + usage(of: table, by: program), indent: 7)
        if let positional = table.positional {
            lines += ["", "arguments"] + entry(positional.placeholder, positional.help)
        }
        for group in table.groups {
            let shown = group.options.filter {
                !$0.isRetired && (isWhole || table.isFirst($0))
            }
            if shown.isEmpty { continue }
            lines += ["", group.title]
            lines += shown.flatMap { entry($0, in: table, isWhole: isWhole) }
        }
        lines += ["", "example", "  " + table.example]
        if !isWhole, !table.first.isEmpty {
            let count = table.options.count { !$0.isRetired }
            lines += [
                "", "`\(program.name) \(table.command) --help all` shows all \(count) options.",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The `--help` of a whole program.
    static func overview(
        of tables: [ArgumentTable], by program: Program, version: String
    ) -> String {
        var lines = ["\(program.name) \(version): \(program.summary)", ""]
        lines += ["usage: \(program.name) COMMAND [options]", "", "commands"]
        lines += tables.flatMap { entry($0.command, $0.summary) }
        lines += ["", "general"]
        lines += entry(
            "COMMAND --help [all]", "print the options of a command and an example")
        lines += entry("help --man", "print the manual page")
        lines += entry(
            "--version [--json]",
            "print the version; as JSON also what this machine has, and its engine's fingerprint")
        lines += [
            "", "Results go to standard output, progress and errors to standard error.",
            "Exit status: "
                + exitStatuses.map { "\($0.status) \($0.meaning)" }.joined(separator: ", ") + ".",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The command line in short.
    static func usage(of table: ArgumentTable, by program: Program) -> String {
        let required = table.options.filter(\.isRequired).map { "--\($0.name) \($0.placeholder)" }
        let positional = table.positional.map {
            switch $0.count {
            case .optional: "[\($0.placeholder)]"
            case .one: $0.placeholder
            case .oneOrMore: "\($0.placeholder)..."
            }
        }
        return
            ([program.name, table.command] + required + ["[options]"]
            + (positional.map { [$0] } ?? []))
            .joined(separator: " ")
    }

    /// What an option does, and what happens without it.
    ///
    /// - Parameters:
    ///   - option: of the table.
    ///   - table: of the command.
    ///   - isWhole: whether names that other tools have for it are told.
    /// - Returns: one or several clauses.
    static func explanation(
        of option: OptionDescription, in table: ArgumentTable, isWhole: Bool
    ) -> String {
        var help = option.help
        if option.isRequired {
            help += " (required)"
        } else if let rule = option.rule {
            help += " (default: \(OptionDescription.automatic), \(rule))"
        } else if let fallback = option.fallback ?? option.absent {
            help += " (default: \(fallback))"
        }
        let names = isWhole ? ForeignNames.names(of: option.name, in: table) : []
        return names.isEmpty ? help : help + "; also \(names.joined(separator: ", "))"
    }

    /// What stands after an option's name.
    static func value(of option: OptionDescription) -> String {
        option.bare == nil ? option.placeholder : "[\(option.placeholder)]"
    }

    private static func entry(
        _ option: OptionDescription, in table: ArgumentTable, isWhole: Bool
    ) -> [String] {
        entry(
            "--\(option.name) \(value(of: option))",
            explanation(of: option, in: table, isWhole: isWhole))
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
