import Foundation
import SkeinBasics
import SkeinRows
import SkeinTraining
import Synchronization

extension TrainingSession {
    /// Options besides the data that tokens depend on.
    private static let features: Set = [
        "prompt-format", "train-on", "max-length", "chat-template", "template-argument",
        "template-date", "field", "text-chunks",
    ]

    /// Takes the tokens of another session's rows, so that this one tokenizes none; and, if both keep them
    /// (`Machine.reusesFeatures`), what the frozen blocks made of them. Hashes this session's data on the
    /// calling thread.
    ///
    /// - Parameter session: One whose rows are extracted: it trains, or has.
    /// - Throws: `SkeinError` if this session has a checkpoint or is being trained, if the other one
    ///   has no tokens, or if they are of other data (with both SHA-256) or of other settings. If
    ///   they are of another model, the next task's `result` throws; the task after that uses tokens
    ///   of its own.
    public func reuseExtractedFeatures(from session: TrainingSession) throws {
        try SkeinError.wrapping {
            let place = try BusyDirectories.enter(directory.path)
            defer { BusyDirectories.leave(place) }
            try checkCanReuse()
            let files = try session.tokenFiles()
            try checkData(against: session)
            try checkSettings(against: session)
            try AtomicFile.makeDirectory(directory.tokens, access: .own)
            // A second name for the same bytes: a run that changes the file replaces it.
            for file in files { try take(file, into: directory.tokens) }
            if parameters.machine.reusesFeatures {
                try AtomicFile.makeDirectory(directory.features, access: .own)
                // Here both append to the same file, as two processes do.
                for file in try session.featureFiles() {
                    try take(file, into: directory.features)
                }
            }
            state.withLock { $0.reusedDirectory = session.directory.path }
        }
    }

    private func take(_ file: String, into place: String) throws {
        let own = FilePath.join(place, FilePath.name(of: file))
        guard link(file, own) != 0, errno != EEXIST else { return }
        try FileManager.default.copyItem(atPath: file, toPath: own)
    }

    /// The files with what frozen blocks made of this session's rows, in its own directory.
    private func featureFiles() throws -> [String] {
        guard DiskStore().exists(directory.features) else { return [] }
        return try DiskStore().names(in: directory.features)
            .filter { $0.hasSuffix(FeatureStore.suffix) }
            .map { FilePath.join(directory.features, $0) }
    }

    private func checkCanReuse() throws {
        if let checkpoint = try Checkpoint.all(in: directory).last {
            throw SkeinError(
                code: .usage,
                what: "the session already has a checkpoint, so its rows are extracted",
                place: checkpoint.url.path,
                remedy: "reuse features in a new session, before its first job")
        }
        guard parameters.machine.keepsTokens else {
            throw SkeinError(
                code: .usage, what: "the session keeps no tokens", place: directory.path,
                remedy: "leave `Machine.keepsTokens` true")
        }
    }

    /// The files with this session's tokens.
    private func tokenFiles() throws -> [String] {
        let names = try DiskStore().names(in: directory.tokens).filter { $0.hasSuffix(".tokens") }
        guard !names.isEmpty, DiskStore().exists(directory.run) else {
            throw SkeinError(
                code: .usage, what: "the other session has no extracted features yet",
                place: directory.path,
                remedy: "wait until it is in phase `training`; a run of skein train has none here")
        }
        return names.map { FilePath.join(directory.tokens, $0) }
    }

    private func checkData(against other: TrainingSession) throws {
        let recorded = try RunFile(path: other.directory.run)
        let files = try DataFiles(
            path: dataset.path, validation: dataset.validation, test: dataset.test)
        func check(_ files: [WeightedFile]?, _ then: String?) throws {
            let now = try files?.digest().description
            guard now != then else { return }
            throw SkeinError(
                code: .badData,
                what: "the other session's features are of other data: SHA-256 "
                    + "\(then ?? "none (no file)"), and now \(now ?? "none (no file)")",
                place: files?.first?.path ?? dataset.path,
                remedy: "restore the file, or leave out reuseExtractedFeatures")
        }
        try check(files.train, recorded.dataDigest)
        try check(files.validation, recorded.validationDigest)
    }

    private func checkSettings(against other: TrainingSession) throws {
        let mine = try request().configuration
        let theirs = try other.request().configuration
        var differences = mine.differences(from: theirs).filter { Self.features.contains($0.field) }
        if mine.inputs.skipBadLines != theirs.inputs.skipBadLines {
            differences.append(
                Difference(
                    field: "skip-bad-lines", recorded: "\(theirs.inputs.skipBadLines)",
                    requested: "\(mine.inputs.skipBadLines)"))
        }
        guard let first = differences.first else { return }
        throw SkeinError(
            code: .badData,
            what: "the other session's features were extracted with "
                + "\(OptionNames.inCode("--" + first.field)) \(first.recorded), not "
                + first.requested,
            place: other.directory.path,
            remedy: "use the same settings, or leave out reuseExtractedFeatures")
    }
}
