import SkeinBasics

/// The manual page of a program, in man(7)'s macros, made of the tables that the parser reads.
enum ManPage {
    /// Such as skein(1), for all commands.
    static func text(
        of tables: [ArgumentTable], by program: Program, version: String
    ) -> String {
        let name = escaped(program.name)
        var lines = [
            ".\\\" Made by `\(program.name) help --man`.",
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"",
            ".SH NAME", "\(name) \\- \(escaped(program.purpose))",
            ".SH SYNOPSIS", ".B \(name)", ".I COMMAND", "[options]",
            ".SH DESCRIPTION",
            escaped(
                "Results go to standard output, progress and errors to standard error. Any option may "
                    + "stand in the JSON file of --config; the command line overrides it."),
            ".SH COMMANDS",
        ]
        for table in tables { lines += section(of: table, by: program) }
        lines.append(".SH EXIT STATUS")
        for (status, meaning) in HelpText.exitStatuses {
            lines += [".TP", ".B \(status)", escaped(meaning)]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(of table: ArgumentTable, by program: Program) -> [String] {
        var lines = [
            ".SS \"\(escaped(program.name)) \(escaped(table.command))\"",
            escaped("It \(table.summary)."),
            ".PP", ".nf", escaped(HelpText.usage(of: table, by: program)),
            escaped(table.example), ".fi",
        ]
        if let positional = table.positional {
            lines += [".TP", ".I \(escaped(positional.placeholder))", escaped(positional.help)]
        }
        for option in table.options where !option.isRetired {
            lines += [
                ".TP",
                (".B \\-\\-\(escaped(option.name)) " + quoted(HelpText.value(of: option)))
                    .trimmingBlanks,
                escaped(HelpText.explanation(of: option, in: table, isWhole: true)),
            ]
        }
        return lines
    }

    /// As one argument of a macro.
    private static func quoted(_ text: String) -> String {
        text.isEmpty ? "" : "\"\(escaped(text).replacing("\"", with: "\\(dq"))\""
    }

    /// Text as it is: a backslash, a dash that is no hyphen, and a line that would be a request.
    static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .replacing("~", with: "\\(ti").replacing("^", with: "\\(ha")
            .replacing("`", with: "\\(ga").replacing("'", with: "\\(aq")
        return plain.hasPrefix(".") ? "\\&" + plain : plain
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
