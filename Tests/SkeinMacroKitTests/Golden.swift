import Foundation
import SkeinTestSupport

@testable import SkeinMacroKit

/// A declaration of Tests/Fixtures/macros/expansions.txt and what the file says becomes of it.
///
/// The file is a row of these, each as `=== title`, the declaration, `--- in` and what stands around
/// it, the nearest first and with ` ; ` between (if anything), and its answers: `--- members` and `--- extension`, or `--- refused OFFSET` for
/// each refusal.
struct Golden: Sendable {
    var title = ""
    var declaration = ""
    var surrounding: String?
    /// As the file has it.
    var answers = ""

    static let path = TestPaths.fixture("macros/expansions.txt")

    static let all: [Golden] = {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return ("\n" + text).components(separatedBy: "\n=== ").dropFirst().map(Golden.init(text:))
    }()

    init(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        title = String(lines.popFirst() ?? "")
        while let line = lines.first, !line.hasPrefix("--- ") {
            declaration += line + "\n"
            lines.removeFirst()
        }
        while declaration.last == "\n" { declaration.removeLast() }
        if let line = lines.first, line.hasPrefix("--- in ") {
            surrounding = String(line.dropFirst(7))
            lines.removeFirst()
        }
        answers = lines.joined(separator: "\n")
        while answers.last == "\n" { answers.removeLast() }
    }

    /// What stands in the file.
    var text: String {
        let around = surrounding.map { "--- in \($0)\n" } ?? ""
        return "=== \(title)\n\(declaration)\n\(around)\(answers)\n"
    }

    /// The attribute as the compiler hands it over.
    var attribute: String {
        guard let start = declaration.range(of: "Generable") else { return "" }
        var end = declaration[start.upperBound...]
        var depth = 0
        if end.first == "(" {
            end = end.drop { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth > 0
            }.dropFirst()
        }
        let line = declaration[..<start.lowerBound].lastIndex(of: "@") ?? start.lowerBound
        return String(declaration[line..<end.startIndex])
    }

    /// The answers that the plugin gives now, as the file has them.
    func answersNow() throws -> String {
        let members = try answer(role: "member")
        let conformance = try answer(role: "extension")
        if !members.refusals.isEmpty {
            return (members.refusals + conformance.refusals).map { refusal in
                "--- refused \(refusal.offset)\n\(refusal.message)"
            }.joined(separator: "\n")
        }
        let refusals = conformance.refusals.map { "\n--- refused twice \($0)" }.joined()
        return "--- members\n\(members.source)--- extension\n\(conformance.source)\(refusals)"
            .trimmingCharacters(in: .newlines)
    }

    /// Asks the plugin as the compiler does.
    func answer(role: String) throws -> PluginReply {
        let declared = try? DeclarationReader.read(declaration)
        let conforms = declared?.inherited.contains("Generable") == true
        return try PluginReply(
            PluginQuestion(
                macro: "GenerableMacro", role: role, attribute: attribute,
                declaration: declaration, extendedType: declared?.name.written ?? "",
                conformance: conforms ? nil : "Generable",
                surroundings: surrounding?.components(separatedBy: " ; ") ?? []
            ).answer)
    }
}
