import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// Times and random numbers come from the program that starts the server.
@Suite struct SourcesTests {
    @Test("ids, times and seeds of requests are those that were handed in")
    func fixed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let drawn = Mutex<UInt64>(0)
            var sources = ServeSources()
            sources.date = { 1_700_000_000 }
            // The first one names the server, the others are seeds.
            sources.random = {
                drawn.withLock { count in
                    defer { count += 1 }
                    return count == 0 ? 0xABC : 2 * 41
                }
            }
            let server = try ServeCase(in: directory, sources: sources)
            let ask = #""prompt":"the in","max_tokens":20,"ignore_eos":true,"temperature":1"#
            let first = try server.complete(ask)
            let second = try server.complete(ask)
            #expect(
                first.json["id"] as? String == "cmpl-0000000000000abc0000000000000000")
            #expect(
                second.json["id"] as? String == "cmpl-0000000000000abc0000000000000001")
            #expect(first.json["created"] as? Int == 1_700_000_000)
            #expect(
                try server.ask("GET", "/v1/models/tiny").json["created"] as? Int == 1_700_000_000)
            #expect(first.texts == second.texts)
            #expect(first.texts == (try server.complete(ask + #","seed":41"#).texts))
            #expect(first.texts != (try server.complete(ask + #","seed":42"#).texts))
        }
    }
}
