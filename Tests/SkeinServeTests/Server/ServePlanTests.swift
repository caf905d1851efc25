import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What a server says that it will hold.
@Suite struct ServePlanTests {
    @Test("the plan counts the one answer with most log-probabilities that may be written")
    func writing() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.threads = 2
            let plan = try ServePlan(model, options)
            let decoding =
                plan.batch.memoryBytes(of: model.configuration, threads: 2) - plan.batch.cacheBytes
            #expect(plan.otherBytes - decoding >= Limits.logprobEntries * 2048)
            #expect(plan.totalBytes > plan.otherBytes + plan.batch.cacheBytes)
        }
    }
}
