import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinRows

extension TrainedRows {
    /// Says how many of the rows on which an adapter is measured it was trained on.
    ///
    /// Rows are compared if the run's directory is around the adapter and its data is where it was. If
    /// not, the adapter's record still tells whether it was trained on these very files.
    ///
    /// - Parameters:
    ///   - files: whose rows are measured.
    ///   - adapter: the adapter.
    ///   - model: its base model.
    /// - Returns: sentences; none if there is nothing to say.
    /// - Throws: `FileError`, if the files cannot be read.
    package static func warnings(
        of files: [WeightedFile], adapter: LoadedAdapter, model: ModelDirectory
    ) throws -> [String] {
        guard let data = adapter.configuration.origin?.data else { return [] }
        let base = adapter.configuration.origin?.base.sha256
        if let run = run(of: adapter.path, data: data.sha256), run.modelDigest == base {
            do {
                return try compared(files, with: run, model)
            } catch let error as any Explained {
                return ["\(unknown): \(error.explanation.located)"]
            }
        }
        guard try files.digest().description == data.sha256 else { return [] }
        return ["the adapter was trained on this very data; its figures will look too good"]
    }

    private static let unknown = "whether the adapter was trained on these rows is not known"

    /// What a run around an adapter was started with; nil if there is none, or another one.
    private static func run(of adapter: String, data: String) -> RunFile? {
        // OUT/adapter, or a checkpoint two levels below OUT.
        var directory = adapter
        for _ in 0..<2 {
            directory = FilePath.parent(of: directory)
            let path = FilePath.join(directory, RunDirectory.runFileName)
            // A file of this name may be any program's.
            if let found = try? RunFile(path: path), found.dataDigest == data { return found }
        }
        return nil
    }

    /// Encodes both as the run has it.
    private static func compared(
        _ files: [WeightedFile], with run: RunFile, _ model: ModelDirectory
    ) throws -> [String] {
        let configuration = run.configuration
        let encoder = try RowEncoder(
            encoder: TextEncoder(
                model: model, template: configuration.chat, allowingUnusedArguments: true),
            format: configuration.promptFormat, trainedTurns: configuration.trainOn,
            maximumLength: configuration.maxLength,
            comparesAnswers: configuration.preferenceLoss != nil,
            chunkLength: configuration.chunkLength)
        func rows(_ files: [WeightedFile], skippingBadLines: Bool) throws -> [ArraySlice<
            TokenizedRow
        >] {
            try encoder.encode(
                files: files, fields: configuration.rowFields, skippingBadLines: skippingBadLines
            ).rowGroups
        }
        let trained = try DataFiles(path: run.data, validation: configuration.validData)
        let bytes = try (trained.train + files).reduce(0) {
            try $0 + MappedFile(path: $1.path).count
        }
        guard bytes <= Limits.comparedBytes else {
            return ["\(unknown): the run's data is too large to look through here"]
        }
        guard try trained.train.digest().description == run.dataDigest else {
            return ["\(unknown): \(run.data) has other bytes than when the run was started"]
        }
        let all = try rows(trained.train, skippingBadLines: configuration.skipBadLines)
        let split =
            trained.validation == nil
            ? Split(
                rows: all, share: configuration.validationSplit, by: configuration.splitBy ?? .row,
                seed: configuration.addressedSplitSeed)
            : Split(allOf: all.count)
        return TrainedRows(split.training.map { all[$0] }).warnings(
            of: try rows(files, skippingBadLines: true), isTest: true
        ).map(\.text)
    }
}
