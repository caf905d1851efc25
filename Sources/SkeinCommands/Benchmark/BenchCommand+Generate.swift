import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinNodes

extension BenchCommand {
    /// A prompt and an answer of a model.
    func runGenerate(_ io: CommandIO, effort: Effort = .generate) throws {
        let machine = Machine.current()
        let bench = try GenerateBench(
            modelPath: options.model ?? "", promptTokens: options.promptTokens,
            tokens: options.answerTokens, threads: options.threads ?? machine.cores,
            compute: options.compute)
        var result = bench.run(effort)
        result.peakBytes = ProcessFigures.peakResidentBytes.map { Int(clamping: $0) }
        if options.json {
            return try io.print(
                json: [("machine", machine.json), ("model", .string(bench.model.path))]
                    + result.json)
        }
        try io.print(machine.text)
        try io.print(
            "\(bench.model.path); \(options.compute.rawValue), "
                + "\(Figures.count(result.threads, "thread")), median of "
                + "\(effort.repetitions)")
        try io.print(
            "loaded in \(Figures.seconds(result.load)); at most "
                + "\(result.peakBytes.map(Figures.bytes) ?? "?") in use, as much memory as a token "
                + "reads included\n")
        try io.write(TextTable.text(result.table))
    }
}
