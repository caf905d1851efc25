import Foundation
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinMacroKit

/// Damaged declarations and messages, drawn by a seed: each is answered, and nothing ends the
/// plugin. `SKEIN_TEST_MUTATIONS` sets how many; SKEIN_TEST_DECLARATIONS names a folder of
/// `.swiftinterface` files to draw from as well.
@Suite struct MacroMutationTests {
    static let declarations: [String] = {
        let toolchain = ProcessInfo.processInfo.environment["SKEIN_TEST_DECLARATIONS"]
        let found =
            FoundDeclaration.below(SourceScanTests.sources)
            + (toolchain.map { FoundDeclaration.below($0, ending: ".swiftinterface") } ?? [])
        return Golden.all.map(\.declaration)
            + found.map(\.source).filter { $0.utf8.count < 1 << 14 }
    }()

    @Test("damaged declarations are expanded or refused")
    func declarations() throws {
        for number in 0..<Damage.count(1000) {
            var damage = Damage(number: number)
            let source = Self.damaged(&damage)
            let place = "SKEIN_TEST_SEED=\(Damage.seed), number \(number)"
            for role in ["member", "extension"] {
                let reply = try PluginReply(
                    PluginQuestion(
                        role: role, attribute: String(source.prefix(60)), declaration: source,
                        extendedType: "T", conformance: "Generable",
                        surroundings: [String(source.suffix(80))]
                    ).answer)
                #expect(reply.refusals.isEmpty || reply.source.isEmpty, "\(place)")
                for refusal in reply.refusals {
                    #expect((0...source.utf8.count).contains(refusal.offset), "\(place)")
                }
            }
        }
    }

    @Test("damaged messages are answered")
    func messages() throws {
        for number in 0..<Damage.count(1000) {
            var damage = Damage(number: number)
            let declarations = Self.declarations
            let declaration = declarations[damage.below(min(150, declarations.count))]
            var message = PluginQuestion(role: "member", declaration: declaration).message.utf8
            damage.change(&message, within: message.indices)
            let answer = PluginAnswer.to(message)
            #expect(throws: Never.self, "SKEIN_TEST_SEED=\(Damage.seed), number \(number)") {
                try JSONReader.read(answer, JSONRules(depth: 8))
            }
        }
    }

    /// A declaration with other bytes, pieces of other declarations, marks, or without its end.
    private static func damaged(_ damage: inout Damage) -> String {
        var bytes = Array(declarations[damage.below(declarations.count)].utf8)
        for _ in 0...damage.below(3) {
            let place = damage.below(bytes.count + 1)
            switch damage.below(5) {
            case 0: damage.change(&bytes, within: bytes.indices)
            case 1: bytes.removeSubrange(place...)
            case 2:
                let end = min(bytes.count, place + damage.below(40))
                bytes.removeSubrange(place..<end)
            case 3:
                let other = Array(declarations[damage.below(declarations.count)].utf8)
                let start = damage.below(other.count + 1)
                bytes.insert(contentsOf: other[start...].prefix(damage.below(60)), at: place)
            default:
                bytes.insert(contentsOf: marks[damage.below(marks.count)].utf8, at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let marks = [
        "{", "}", "(", ")", "[", "]", "<", ">", "\"", "\"\"\"", "#\"", "\"#", "\\(", "/", "#/",
        "/#", "/*", "*/", "//", "`", "@", "@Guide", "@Guide(", ":", "?", "!", "->", ",", ";", "=",
        "#", "#if ", "\n", " ", "&", ".", "case ", "var ", "let ", "enum ", "static ", "lazy ",
        "Self", "\u{0}", "\u{FEFF}", "é", "Optional<", "indirect ",
    ]
}
