import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors

/// The log-probabilities of a group of answers under the reference, and who has computed them.
package struct ReferencePiece: Sendable, Equatable {
    /// One for each row of the group.
    package var values: [Double]
    package var worker: String
    /// How often the group had been leased, from 1.
    package var attempt: Int

    package init(values: [Double], worker: String, attempt: Int) {
        self.values = values
        self.worker = worker
        self.attempt = attempt
    }

    /// Whether a number can be the logarithm of a probability.
    static func isPossible(_ value: Double) -> Bool { value.isFinite && value <= 0 }

    /// SHA-256 of the log-probabilities as they are sent.
    var digest: SHA256.Digest { SHA256.digest(of: LogProbabilityPayload.bytes(of: values)) }
}

/// What DPO compares with: the log-probability of each answer under the base model, without the adapter or,
/// with `--reference init`, with the one that the run starts from.
///
/// It is computed once, group by group, and kept on disk with the names of those who computed it. Its
/// bits are a function of the rows, the model, that adapter and the engine, so a run that is resumed, or another
/// one on the same rows, has the same whether it was kept or not. Who computed what is in the ledger, and
/// run.json names all of it by one digest.
package enum References {
    /// Computes the log-probabilities of groups of rows.
    ///
    /// It gets what the run has recorded of each group, which may decide whom to believe. It calls
    /// `deliver` once for each group with its place, in any order, and may throw `StepSpoiled` if
    /// something that was delivered has turned out wrong.
    package typealias Compute = (
        _ groups: [[TokenizedRow]], _ recorded: [GroupEntry?],
        _ deliver: (Int, ReferencePiece) throws -> Void
    ) throws -> Void

    /// What the user is told while references are computed.
    package struct Reports {
        /// Called with the number of answers before anything is computed.
        let announce: (_ answers: Int) throws -> Void
        /// Called with what does not change the run, once for each sentence.
        let warn: (_ sentence: String) throws -> Void

        package init(
            announce: @escaping (Int) throws -> Void, warn: @escaping (String) throws -> Void
        ) {
            self.announce = announce
            self.warn = warn
        }
    }

    /// Gives `job` its references.
    ///
    /// What was computed is kept after each round of groups, and when `compute` is stopped in the
    /// middle of one: the next start goes on from there.
    ///
    /// - Parameters:
    ///   - job: of any loss; nothing happens unless it reads references.
    ///   - cache: where they are looked up and kept; nil: they are computed.
    ///   - recorded: what the run that is resumed has recorded of them.
    ///   - reports: to people.
    ///   - compute: the log-probabilities of a round of groups.
    /// - Returns: the lines of the ledger that say who has computed them.
    /// - Throws: what `reports` and `compute` throw; `TrainingError.referencesNotFinite`,
    ///   `.referencesDiffer`, `.referencesOfOtherSteps`, `.takenOver`.
    package static func attach(
        to job: inout TrainingJob, cache: ReferenceCache?, recorded: RecordedReferences,
        reports: Reports, compute: @escaping Compute
    ) throws -> [GroupEntry] {
        guard job.configuration.preferenceLoss?.kind == .dpo else { return [] }
        var maker = Maker(
            job: job, cache: cache, recorded: recorded, reports: reports, compute: compute)
        do {
            // Each by itself: what is tested must not decide which rows are computed together.
            try maker.attach(.training, to: &job.training)
            try maker.attach(.validation, to: &job.validation)
            try maker.attach(.test, to: &job.test)
        } catch TrainingError.referencesNotFinite {
            throw TrainingError.referencesNotFinite.traced(to: job.model)
        }
        let digest = Digest.of(maker.entries)
        try recorded.compareWithSteps(
            of: job, Set(maker.entries.map(\.worker)).sorted(), folder: cache?.directory)
        if recorded.isWithoutLines, recorded.digest ?? digest == digest { try maker.keepAll() }
        job.runFile.referencesDigest = digest
        return maker.entries
    }

    /// SHA-256 over the references of a run, from the lines of its ledger: the lines must name the same.
    struct Digest {
        private var fields = DigestFields("skein references of a run 1")

        /// The digest of lines in order, as run.json has it.
        static func of(_ entries: [GroupEntry]) -> String {
            var digest = Digest()
            for entry in entries { digest.append(entry) }
            return digest.finish().description
        }

        /// Appends the next line. Other lines than those of references are left out.
        mutating func append(_ entry: GroupEntry) {
            guard case .reference(let rows) = entry.subject else { return }
            fields.append(rows.rawValue)
            fields.append(entry.group)
            fields.append(entry.valuesDigest ?? "")
        }

        func finish() -> SHA256.Digest {
            let copy = fields
            return copy.finish()
        }
    }

    /// What is being done, for people.
    package static func sentence(rows count: Int) -> String {
        "references: computing the log-probabilities of \(count) answers under the reference model"
    }

    private struct Content: Hashable {
        let ids: [Int32]
        let targets: [Range<Int>]
    }

    private struct Maker {
        let job: TrainingJob
        let cache: ReferenceCache?
        let recorded: RecordedReferences
        let reports: Reports
        let compute: Compute
        private var warned: Set<String> = []
        /// What is kept if all of it turns out to be what run.json names.
        private var unproven: [(pieces: [ReferencePiece?], key: SHA256.Digest)] = []
        private(set) var entries: [GroupEntry] = []

        init(
            job: TrainingJob, cache: ReferenceCache?, recorded: RecordedReferences,
            reports: Reports, compute: @escaping Compute
        ) {
            self.job = job
            self.cache = cache
            self.recorded = recorded
            self.reports = reports
            self.compute = compute
        }

        mutating func attach(_ kind: GroupEntry.RowKind, to rows: inout [TokenizedRow]) throws {
            guard !rows.isEmpty else { return }
            // Rows that stand several times in an epoch, under other numbers.
            var places: [Content: Int] = [:]
            var distinct: [TokenizedRow] = []
            let indices = rows.map { row in
                let content = Content(ids: row.ids, targets: row.targets)
                if let place = places[content] { return place }
                places[content] = distinct.count
                distinct.append(row)
                return distinct.count - 1
            }
            let groups = RowEvaluation.groups(
                of: distinct, microBatchTokens: job.configuration.microBatchTokens)
            let pieces = try pieces(of: groups, kind, key(of: distinct))
            let values = pieces.flatMap(\.values)
            for (row, index) in indices.enumerated() { rows[row].reference = values[index] }
            let recipe = job.workRecipe
            let parameters = job.referenceParameters.map { GradientCodec.digest(of: $0) }
            for (index, piece) in pieces.enumerated() {
                let group = groups[index]
                entries.append(
                    GroupEntry(
                        .reference(of: kind), step: 0, group: index, worker: piece.worker,
                        attempt: piece.attempt, tokens: group.reduce(0) { $0 + $1.ids.count },
                        lossTokens: group.reduce(0) { $0 + $1.lossTokenCount },
                        lossSum: -piece.values.reduce(0, +),
                        valuesDigest: piece.digest.description,
                        inputsDigest: WorkInputs(
                            recipe, parameters: parameters, referencesOf: group
                        ).digest.description))
            }
        }

        /// The pieces of all groups: those that are kept, and the others computed in rounds.
        private mutating func pieces(
            of groups: [[TokenizedRow]], _ kind: GroupEntry.RowKind, _ key: SHA256.Digest
        ) throws -> [ReferencePiece] {
            var pieces =
                try kept(key, groups) ?? Array(repeating: nil, count: groups.count)
            // Another run, or another life of this one, may have kept what this one did not compute with.
            for index in pieces.indices
            where pieces[index].map({ recorded.refutes($0, kind, index) }) ?? false {
                pieces[index] = nil
            }
            let missing = pieces.indices.filter { pieces[$0] == nil }
            if !missing.isEmpty {
                try reports.announce(missing.reduce(0) { $0 + groups[$1].count })
            }
            for start in stride(from: 0, to: missing.count, by: Limits.referenceGroups) {
                let round = missing[start..<min(start + Limits.referenceGroups, missing.count)]
                do {
                    try compute(Array(round), of: groups, kind, into: &pieces)
                } catch {
                    if !Self.leavesTruth(error) {
                        for index in round { pieces[index] = nil }
                    }
                    // An error of keeping is a warning, unless another process has taken over: then that
                    // is what people need to see.
                    try keep(pieces, groups, kind, key)
                    throw error
                }
                try keep(pieces, groups, kind, key)
            }
            return pieces.compactMap(\.self)
        }

        /// Whether what was delivered before an error may be kept: the work was stopped, and no two
        /// workers have given different numbers of which none was chosen yet.
        private static func leavesTruth(_ error: any Error) -> Bool {
            switch error {
            case let stopped as SourceStopped: !stopped.isDisputed
            // All other pieces of the round agree with the ledger, or are not in it.
            case TrainingError.referencesDiffer: true
            default: false
            }
        }

        private func compute(
            _ round: [Int], of groups: [[TokenizedRow]], _ kind: GroupEntry.RowKind,
            into pieces: inout [ReferencePiece?]
        ) throws {
            try StepSpoiled.repeating("the log-probabilities under the reference model") {
                do {
                    try compute(
                        round.map { groups[$0] }, round.map { recorded.entry(kind, $0) }
                    ) { place, piece in
                        guard piece.values.allSatisfy(ReferencePiece.isPossible) else {
                            throw TrainingError.referencesNotFinite
                        }
                        let index = round[place]
                        if let then = recorded.entry(kind, index),
                            recorded.refutes(piece, kind, index)
                        {
                            throw TrainingError.referencesDiffer(
                                rows: kind.rawValue, group: index, then: then.worker,
                                now: piece.worker)
                        }
                        pieces[index] = piece
                    }
                } catch let spoiled as StepSpoiled {
                    for index in round { pieces[index] = nil }
                    throw spoiled
                }
            }
        }

        /// What is kept of a key.
        private mutating func kept(
            _ key: SHA256.Digest, _ groups: [[TokenizedRow]]
        ) throws -> [ReferencePiece?]? {
            var warnings: [ReferenceCache.Warning] = []
            let pieces = cache?.read(key, rows: groups.map(\.count), &warnings)
            try warn(warnings)
            return pieces
        }

        private mutating func keep(
            _ pieces: [ReferencePiece?], _ groups: [[TokenizedRow]], _ kind: GroupEntry.RowKind,
            _ key: SHA256.Digest
        ) throws {
            // Without lines to compare with, what is computed again is known to be right at the end only.
            if recorded.isWithoutLines {
                if !pieces.contains(nil) { unproven.append((pieces, key)) }
                return
            }
            guard pieces.contains(where: { $0 != nil }) else { return }
            var pieces = pieces
            if pieces.contains(where: { $0 == nil }), let others = try kept(key, groups) {
                // Another process with the same rows may be ahead.
                for (index, other) in others.enumerated() where pieces[index] == nil {
                    pieces[index] = other.flatMap {
                        recorded.refutes($0, kind, index) ? nil : $0
                    }
                }
            }
            var warnings: [ReferenceCache.Warning] = []
            try cache?.write(pieces, key, &warnings)
            try warn(warnings)
        }

        /// Keeps what has waited for its proof.
        mutating func keepAll() throws {
            var warnings: [ReferenceCache.Warning] = []
            for (pieces, key) in unproven { try cache?.write(pieces, key, &warnings) }
            try warn(warnings)
        }

        private mutating func warn(_ warnings: [ReferenceCache.Warning]) throws {
            for warning in warnings where warned.insert(warning.text).inserted {
                try reports.warn(warning.text)
            }
        }

        private func key(of rows: [TokenizedRow]) -> SHA256.Digest {
            var fields = DigestFields("skein references 2")
            fields.append(job.runFile.modelDigest)
            fields.append(job.runFile.fingerprint)
            // Where a library multiplies, bits depend on which rows are computed together.
            fields.append(job.configuration.microBatchTokens)
            if let parameters = job.referenceParameters {
                fields.append("init")
                fields.append(GradientCodec.digest(of: parameters))
                fields.append(job.shape)
            }
            fields.append(rows.count)
            for row in rows {
                fields.append(row.ids)
                fields.append(row.targets.count)
                for range in row.targets {
                    fields.append(range.lowerBound)
                    fields.append(range.upperBound)
                }
            }
            return fields.finish()
        }
    }
}

extension RowEvaluation {
    /// Gives rows what the engine's loss reads of the base model, if it reads anything.
    ///
    /// - Parameters:
    ///   - rows: encoded rows.
    ///   - engine: the model.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    ///   - reference: parameters of the adapter that is the reference; nil: the base model alone.
    ///   - checkCancellation: called between groups; what it throws ends the work.
    /// - Throws: what `checkCancellation` throws.
    package static func addReferences(
        to rows: inout [TokenizedRow], engine: MicroBatchEngine, microBatchTokens: Int,
        threads: DecoderThreads, reference: [Float]? = nil,
        checkCancellation: () throws -> Void = {}
    ) throws {
        guard engine.preference?.kind == .dpo else { return }
        let groups = groups(of: rows, microBatchTokens: microBatchTokens)
        var values = [[Double]](repeating: [], count: groups.count)
        try logProbabilities(
            of: groups, parameters: reference, engine: engine, threads: threads
        ) { index, piece in
            values[index] = piece.values
            try checkCancellation()
        }
        for (index, value) in values.joined().enumerated() { rows[index].reference = value }
    }

    /// The log-probability of each row's loss tokens. It does not depend on the number of threads.
    ///
    /// - Parameters:
    ///   - groups: of encoded rows, each computed together.
    ///   - parameters: of the adapter; nil: the base model alone.
    ///   - engine: the model.
    ///   - threads: that compute.
    ///   - receive: gets each group's place and numbers, in any order; what it throws ends the work.
    /// - Throws: what `receive` throws.
    package static func logProbabilities(
        of groups: [[TokenizedRow]], parameters: [Float]?, engine: MicroBatchEngine,
        threads: DecoderThreads, receive: (Int, ReferencePiece) throws -> Void
    ) throws {
        try threads.forEach(groups.count) { index, workspace, place in
            engine.logProbabilities(
                of: groups[index], parameters: parameters, workspace: workspace, place: place)
        } receive: { index, found in
            guard let found else {
                preconditionFailure("a pass without a progress cannot be abandoned")
            }
            try receive(
                index, ReferencePiece(values: found, worker: WorkerName.own, attempt: 1))
        }
    }
}
