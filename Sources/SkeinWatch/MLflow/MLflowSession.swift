import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTraining

/// Brings a run to an MLflow server: what its metrics.jsonl has and the server has not.
///
/// metrics.jsonl is the queue and the spool. The server is asked how far it is at the beginning and
/// after each failure, so that every number is there once: a run that is resumed computes the same
/// numbers again, and they are not sent again. Used by one thread.
final class MLflowSession {
    private let server: MLflowServer
    private let experiment: String
    private let name: String
    private let directory: String
    private let isRunning: Bool
    private let tail: MetricsTail
    private var hasEnded = false
    private var state: MLflowState?
    /// The run there, once it was found or made by this process.
    private(set) var run: String?
    private var experimentID: String?
    /// The last steps there, and how far metrics.jsonl was read; forgotten after a failure.
    private var position: Position?
    private(set) var sentPoints = 0
    private(set) var damagedLines = 0
    /// How far damaged lines are counted.
    private var furthest = 0

    private struct Position {
        var steps: [String: Int]
        var offset = 0
        /// Seconds of the steps before it.
        var elapsed = 0.0
    }

    /// - Parameters:
    ///   - server: where to.
    ///   - experiment: its name there.
    ///   - name: the run's name there.
    ///   - directory: the run's.
    ///   - isRunning: whether the run goes on, and so has no ending yet.
    init(
        server: MLflowServer, experiment: String, name: String, directory: String, isRunning: Bool
    ) {
        self.server = server
        self.experiment = experiment
        self.name = name
        self.directory = directory
        self.isRunning = isRunning
        tail = MetricsTail(path: FilePath.join(directory, "metrics.jsonl"))
    }

    private var statePath: String { FilePath.join(directory, MLflowState.fileName) }

    /// Where a browser shows the run.
    var page: String? {
        guard let run, let experimentID else { return nil }
        return "\(server.url)/#/experiments/\(experimentID)/runs/\(run)"
    }

    /// Finds or makes the run there, once; later calls do nothing.
    ///
    /// - Throws: `MLflowError`, `FileError`, `TrainingError` for run.json.
    func connect() throws {
        guard run == nil else { return }
        var state = try known()
        // Before a run is made there, which would stay without parameters and without an end.
        let parameters =
            state.isDescribed
            ? [] : try MLflowParameters.of(RunFile(path: FilePath.join(directory, "run.json")))
        let experimentID = try server.experiment(named: state.experiment)
        let tag = (key: "skein.key", value: state.key)
        if state.run == nil {
            state.run = try server.run(experiment: experimentID, tag: tag)
        } else if let run = state.run, isRunning {
            // The process before this one may have ended it there.
            try server.set(.running, run: run)
        }
        let identifier =
            try state.run
            ?? server.makeRun(
                experiment: experimentID, name: name, time: Self.now,
                tags: [
                    tag, ("mlflow.source.name", "skein"), ("mlflow.source.type", "LOCAL"),
                    ("skein.version", Version.text),
                ])
        state.run = identifier
        if isRunning, !hasEnded { state.ending = nil }
        try keep(state)
        if !state.isDescribed {
            for start in stride(from: 0, to: parameters.count, by: Limits.parametersAtOnce) {
                let some = parameters[start...].prefix(Limits.parametersAtOnce)
                try server.log(run: identifier, parameters: Array(some))
            }
            state.isDescribed = true
            try keep(state)
        }
        (run, self.experimentID) = (identifier, experimentID)
    }

    /// What mlflow.json says of this server, or a beginning.
    private func known() throws -> MLflowState {
        if let state, state.url == server.url { return state }
        let found = try MLflowState.read(statePath)
        if let found, found.url == server.url {
            state = found
            return found
        }
        // With the key of another URL, which may be another name of the same server: the run is found.
        let made = MLflowState(
            url: server.url, experiment: found?.experiment ?? experiment,
            key: found?.key ?? UUID().uuidString, ending: found?.ending)
        try keep(made)
        return made
    }

    private func keep(_ new: MLflowState) throws {
        guard new != state else { return }
        try new.write(to: statePath)
        state = new
    }

    /// Sends up to `Limits.recordsAtOnce` records.
    ///
    /// - Parameter time: of a step, in milliseconds since 1970, from its number and the seconds of
    ///   all steps up to it.
    /// - Returns: whether there may be more.
    /// - Throws: `MLflowError`, `FileError`, `TrainingError`. What was not sent is sent by a later call.
    func sendSome(time: (_ step: Int, _ elapsed: Double) -> Int) throws -> Bool {
        try connect()
        guard let run else { return false }
        var here = try position ?? Position(steps: server.lastSteps(ofRun: run))
        // Forgotten unless all goes well: the server may or may not have taken what failed.
        position = nil
        let piece = try tail.piece(from: here.offset, most: Limits.recordsAtOnce)
        var metrics: [MLflowServer.Metric] = []
        for record in piece.records {
            let (step, mark, scalars): (Int, String, [RunScalars.Scalar])
            switch record {
            case .step(let found):
                here.elapsed += max(0, found.seconds)
                (step, mark, scalars) = (found.step, RunScalars.trainingLoss, RunScalars.of(found))
            case .validation(let found):
                (step, mark, scalars) = (
                    found.step, RunScalars.validationLoss, RunScalars.of(found)
                )
            case .sample: continue
            }
            // A validation may stand before the first step.
            guard !scalars.isEmpty, step > here.steps[mark] ?? -1 else { continue }
            here.steps[mark] = step
            let moment = time(step, here.elapsed)
            // The mark last: where it is, a server that writes one by one has the others, too.
            for scalar in scalars.filter({ $0.tag != mark }) + scalars.filter({ $0.tag == mark }) {
                metrics.append(
                    MLflowServer.Metric(
                        key: scalar.tag, value: scalar.value, time: moment, step: step))
            }
        }
        if !metrics.isEmpty { try server.log(run: run, metrics: metrics) }
        sentPoints += metrics.count
        if piece.end > furthest {
            (damagedLines, furthest) = (damagedLines + piece.damaged, piece.end)
        }
        let isMore = piece.end > here.offset
        here.offset = piece.end
        position = here
        return isMore
    }

    /// Seconds of all steps that metrics.jsonl has, and the last of them.
    ///
    /// - Throws: `FileError`, `TrainingError`.
    func recorded() throws -> (seconds: Double, lastStep: Int) {
        var (sum, last, offset) = (0.0, 0, 0)
        while true {
            let piece = try tail.piece(from: offset, most: Limits.waiting)
            for case .step(let metrics) in piece.records {
                sum += max(0, metrics.seconds)
                last = metrics.step
            }
            guard piece.end > offset else { return (sum, last) }
            offset = piece.end
        }
    }

    /// Remembers how the run ended, so that it can be told later, too.
    ///
    /// - Throws: `FileError`, `MLflowError.badState`.
    func remember(_ ending: MLflowState.Ending) throws {
        hasEnded = true
        var state = try known()
        state.ending = ending
        try keep(state)
    }

    /// The ending that was remembered.
    func rememberedEnding() throws -> MLflowState.Ending? { try known().ending }

    /// Tells how the run ended; call after everything was sent.
    ///
    /// - Throws: `MLflowError`.
    func end(_ ending: MLflowState.Ending) throws {
        guard let run else { return }
        if let adapter = ending.adapter {
            try server.log(run: run, tags: [("skein.adapter_sha256", adapter)])
        }
        try server.set(ending.status, run: run, time: ending.time)
    }

    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }
}

/// A run's configuration as parameters of MLflow.
enum MLflowParameters {
    /// Names of options without dashes before them, and what the run was made of.
    static func of(_ run: RunFile) -> [MLflowServer.Pair] {
        func shown(_ value: JSONValue) -> String? {
            switch value {
            case .null: nil
            case .text(let text): text
            default: value.written
            }
        }
        let origin: [MLflowServer.Pair] = [
            ("model", run.model), ("model_sha256", run.modelDigest), ("data", run.data),
            ("data_sha256", run.dataDigest), ("engine", run.fingerprint),
            ("configuration_sha256", run.configuration.digest.description),
        ]
        let options = run.configuration.fields.compactMap { name, value in
            shown(value).map { (key: name, value: $0) }
        }
        let engines = run.otherEnginesFrom.map { [(RunFile.otherEnginesField, "\($0)")] } ?? []
        return (origin + engines + options).map { ($0.key, cut($0.value)) }
    }

    /// The beginning of a text that is too long for a server.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > Limits.parameterBytes else { return text }
        var cut = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= Limits.parameterBytes - 3 else { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut + "..."
    }
}
