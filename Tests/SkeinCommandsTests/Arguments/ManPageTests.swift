import Foundation
import SkeinBasics
import Testing

@testable import SkeinCommands

/// The manual page. `mandoc -T lint` and `man --warnings` were run on it.
@Suite struct ManPageTests {
    private static var page: String {
        let process = CapturedProcess()
        #expect(process.run("help", "--man") == 0)
        return process.output
    }

    @Test("the manual page has every command and every option")
    func complete() {
        let page = Self.page
        for command in CommandLineTool.skein.commands {
            let table = command.table
            #expect(page.contains(".SS \"skein \(ManPage.escaped(table.command))\"\n"))
            for option in table.options where !option.isRetired {
                #expect(page.contains("\n.B \\-\\-\(ManPage.escaped(option.name))"))
            }
        }
    }

    @Test("its lines are text or known macros, and all its characters are ASCII")
    func lines() {
        let macros: Set = [
            ".\\\"", ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".nf", ".fi",
        ]
        for line in Self.page.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            #expect(!line.isEmpty)
            #expect(line.first != "'" && line.allSatisfy { $0.isASCII }, "\(line)")
            guard line.first == "." else { continue }
            #expect(macros.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }

    @Test("text that would be a request or an escape stays text")
    func escapes() {
        #expect(ManPage.escaped(".SH a\\b -x 'y'") == "\\&.SH a\\eb \\-x \\(aqy\\(aq")
    }
}
