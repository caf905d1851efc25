import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinMacroKit

/// Declarations that were not written for these tests: those of this package.
@Suite struct SourceScanTests {
    static let sources = TestPaths.fixture("../../Sources")

    @Test("the reader finds the members of each type of this package")
    func members() throws {
        let found = FoundDeclaration.below(Self.sources)
        #expect(found.count > 300)
        #expect(found.map(\.members.count).reduce(0, +) > 2000)
        for declaration in found {
            let read = try DeclarationReader.read(declaration.source)
            #expect(read.keyword == declaration.keyword, "\(declaration.file)")
            #expect(read.name.plain == declaration.name, "\(declaration.file)")
            let names = Set(
                read.properties.map(\.name.plain) + read.cases.map(\.name.plain))
            let missing = declaration.members.filter { !names.contains($0) }
            #expect(missing.isEmpty, "\(declaration.file): \(declaration.name)")
        }
    }

    @Test("each type of this package is expanded or refused at a place inside of it")
    func expansions() throws {
        var expanded = 0
        for declaration in FoundDeclaration.below(Self.sources) {
            let reply = try PluginReply(
                PluginQuestion(role: "member", declaration: declaration.source).answer)
            #expect(reply.source.isEmpty == !reply.refusals.isEmpty)
            for refusal in reply.refusals {
                #expect((0...declaration.source.utf8.count).contains(refusal.offset))
            }
            expanded += reply.refusals.isEmpty ? 1 : 0
        }
        #expect(expanded > 100)
    }
}
