import Foundation
import SkeinBasics
import Testing

@testable import SkeinMacroKit

/// What declarations expand to. A change of an expansion shows in the diff of
/// Tests/Fixtures/macros/expansions.txt.
///
/// `SKEIN_UPDATE_SNAPSHOTS=1 swift test --filter ExpansionTests` rewrites that file.
@Suite struct ExpansionTests {
    @Test("expansions equal their snapshot")
    func snapshot() throws {
        var goldens = Golden.all
        #expect(goldens.count >= 150)
        for index in goldens.indices {
            let now = try goldens[index].answersNow()
            #expect(now == goldens[index].answers, "\(goldens[index].title)")
            goldens[index].answers = now
        }
        if ProcessInfo.processInfo.environment["SKEIN_UPDATE_SNAPSHOTS"] == "1" {
            try AtomicFile.write(goldens.map(\.text).joined(), to: Golden.path)
        }
    }
}
