import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// `skein report` of real runs.
@Suite("reports of runs", .ownThreads)
struct ReportRunTests {
    @Test("two runs are reported as HTML and as Markdown, and stay as they are")
    func runs() throws {
        try Workbench.with { bench in
            let flags = ["--epochs", "2", "--sample-prompt", "<b>goose"]
            try bench.train("a", flags)
            try bench.train("b", flags + ["--rank", "4"])
            let before = try bench.result(of: "a")
            let words = ["report", bench.path("a"), bench.path("b")]
            let file = bench.path("report.html")
            let ending = try SkeinProcess.run(words + ["--output", file])
            #expect(ending.status == 0 && ending.output.isEmpty, "\(ending.error)")
            let html = try String(contentsOfFile: file, encoding: .utf8)
            let adapter = try RegularFile.digest(
                of: bench.path("a/adapter/adapter_model.safetensors"))
            #expect(html.contains(adapter.digest.description))
            #expect(html.contains("&lt;b&gt;goose") && !html.contains("<b>goose"))
            #expect(
                !html.contains("http:") && !html.contains("https:") && !html.contains("<script"))
            #expect(html.contains("<th scope=\"row\">--rank</th><td>8</td><td>4</td>"))
            let printed = try SkeinProcess.run(words)
            #expect(printed.output == html)
            let markdown = try SkeinProcess.run(words + ["--format", "markdown"])
            #expect(markdown.output.contains("| --rank | 8 | 4 |"))
            #expect(markdown.output.contains("| adapter SHA-256 | \(adapter.digest) |"))
            #expect(try bench.result(of: "a") == before)
        }
    }

    @Test("what is no run is refused")
    func refused() throws {
        try Workbench.with { bench in
            Complaint(65, "none", "--output folder").check(
                try SkeinProcess.run(["report", bench.path("none")]))
            Complaint(64, "more than 16").check(
                try SkeinProcess.run(["report"] + (0..<17).map { "run\($0)" }))
            Complaint(64, "RUN").check(try SkeinProcess.run(["report"]))
        }
    }
}
