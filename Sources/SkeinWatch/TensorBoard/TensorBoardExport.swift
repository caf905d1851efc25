import Foundation
import SkeinBasics
import SkeinTraining

/// Writes a run's figures and texts as event files for TensorBoard (`--tensorboard`).
///
/// Every process of a run writes a file of its own into the directory. A resumed run voids what the
/// process before it had recorded of later steps, and fills in from metrics.jsonl what that one did
/// not get to write, so that the files always say what metrics.jsonl says. Where they hold tensors,
/// as Skein wrote them before, it voids everything and writes the run anew from metrics.jsonl.
final class TensorBoardExport: Sendable {
    /// What is handed to the thread that writes.
    private enum Item: Sendable {
        case resume(step: Int)
        case records([EventRecord])
    }

    private let queue: ExportQueue<Item>
    private let log: Log

    /// - Parameters:
    ///   - directory: for the event files; created with the first one.
    ///   - run: the run's directory, whose run.json is shown as a text.
    ///   - log: told what fails.
    init(directory: String, run: String, log: Log) {
        self.log = log
        let writer = Writer(directory: directory, run: run)
        queue = ExportQueue("TensorBoard", log: log) { item in
            switch item {
            case .resume(let step): try writer.resume(after: step)
            case .records(let records): try writer.write(records)
            }
        }
    }

    func note(_ event: TrainingLoop.Event) {
        let now = Date().timeIntervalSince1970
        switch event {
        case .resumed(let step, _): queue.give(.resume(step: step))
        case .step(let metrics, _): queue.give(.records([Self.record(metrics, at: now)]))
        case .validation(let metrics, _): queue.give(.records(Self.records(metrics, at: now)))
        case .sample(let sample): queue.give(.records([Self.record(sample, at: now)]))
        case .rowsNotRecorded, .otherEngines, .ledgerDoubted, .adapterRestored, .checkpoint,
            .stoppedEarly, .noticed:
            break
        }
    }

    func finish() {
        let missing = queue.finish(within: Limits.ending)
        guard missing > 0 else { return }
        log.warning(
            "TensorBoard: \(Figures.count(missing, "item")) of this run could not be written; "
                + "metrics.jsonl has all of them")
    }

    /// The scalars of a step.
    static func record(_ metrics: StepMetrics, at time: Double) -> EventRecord {
        EventRecord(
            wallTime: time, step: metrics.step, content: .scalars(RunScalars.of(metrics)))
    }

    /// The scalars of a validation; none for one without rows.
    static func records(_ metrics: ValidationMetrics, at time: Double) -> [EventRecord] {
        let scalars = RunScalars.of(metrics)
        guard !scalars.isEmpty else { return [] }
        return [EventRecord(wallTime: time, step: metrics.step, content: .scalars(scalars))]
    }

    /// A sample as Markdown; the prompt names the series.
    static func record(_ sample: SampleMetrics, at time: Double) -> EventRecord {
        EventRecord(
            wallTime: time, step: sample.step,
            content: .text(
                tag: tag(ofPrompt: sample.prompt), markdown: block(sample.text ?? "nothing")
            ))
    }

    /// The name of a prompt's series: the prompt, or its beginning and a mark of the rest.
    static func tag(ofPrompt prompt: String) -> String {
        guard prompt.count > 80 else { return "sample/\(prompt)" }
        return "sample/\(prompt.prefix(68))... \(SHA256.digest(of: prompt).description.prefix(8))"
    }

    /// A text that Markdown shows as it is: indented by four.
    static func block(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
            .joined(separator: "\n")
    }
}

/// What the export's thread does. Used by that thread alone.
private final class Writer: @unchecked Sendable {
    // Sendable: the queue calls `perform`, and so these methods, on its one thread.
    private let directory: String
    private let run: String
    private var file: EventFile?
    private var files = 0
    /// Whether the next file voids what those of earlier processes hold.
    private var begins = true

    init(directory: String, run: String) {
        self.directory = directory
        self.run = run
    }

    func write(_ records: [EventRecord]) throws {
        guard !records.isEmpty else { return }
        do {
            try opened().append(records)
        } catch {
            // It may end with a torn record: the next ones go into another file.
            file = nil
            throw error
        }
    }

    /// Voids the steps after `step`, and writes those up to it that are in no file.
    func resume(after step: Int) throws {
        guard step > 0 else { return }
        let now = Date().timeIntervalSince1970
        // A kill may have cut off the validation of the last known step: that step is written again,
        // and everything, also the validation before the first step, where none is known.
        let first = try lastStep(upTo: step) ?? 0
        if first > 0 {
            begins = false
            try write([EventRecord(wallTime: now, step: first, content: .start)])
        }
        let tail = MetricsTail(path: FilePath.join(run, "metrics.jsonl"))
        var offset = 0
        while true {
            let piece = try tail.piece(from: offset, most: Limits.waiting)
            try write(
                piece.records.flatMap { Self.records($0, in: first...step, at: now) })
            guard piece.end > offset else { return }
            offset = piece.end
        }
    }

    private static func records(
        _ record: Metrics.Record, in steps: ClosedRange<Int>, at now: Double
    ) -> [EventRecord] {
        switch record {
        case .step(let metrics) where steps.contains(metrics.step):
            [TensorBoardExport.record(metrics, at: now)]
        case .validation(let metrics) where steps.contains(metrics.step):
            TensorBoardExport.records(metrics, at: now)
        case .sample(let sample) where steps.contains(sample.step):
            [TensorBoardExport.record(sample, at: now)]
        default: []
        }
    }

    /// The last step in the files of earlier processes.
    private func lastStep(upTo step: Int) throws -> Int? {
        let manager = FileManager.default
        guard manager.fileExists(atPath: directory) else { return nil }
        return try manager.contentsOfDirectory(atPath: directory)
            .filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(Self.suffix) }
            .compactMap { try EventFile.lastStep(of: FilePath.join(directory, $0), upTo: step) }
            .max()
    }

    private static let prefix = "events.out.tfevents."
    /// Files that end with `.skein` alone have scalars as tensors, which scripts do not find: they
    /// do not count, so that their steps are written again.
    private static let suffix = ".v2.skein"

    /// The file that is being written. TensorBoard reads the files of a directory in the order of
    /// their names, which begin with the time.
    private func opened() throws -> EventFile {
        if let file { return file }
        try AtomicFile.makeDirectory(directory)
        let now = Date().timeIntervalSince1970
        let host = ProcessInfo.processInfo.hostName.filter { $0.isLetter || $0.isNumber }
        let name =
            Self.prefix + String(format: "%.6f", now) + ".\(host)."
            + "\(ProcessInfo.processInfo.processIdentifier).\(files)\(Self.suffix)"
        files += 1
        let made = try EventFile(path: FilePath.join(directory, name))
        var records = [EventRecord(wallTime: now, step: 0, content: .fileVersion)]
        // TensorBoard takes the first start in a directory for the beginning, and each later one for
        // the end of what was recorded from its step on.
        if begins {
            records.append(EventRecord(wallTime: now, step: 0, content: .start))
        }
        if let text = try configuration() {
            records.append(
                EventRecord(
                    wallTime: now, step: 0,
                    content: .text(
                        tag: "run/configuration", markdown: TensorBoardExport.block(text))))
        }
        do {
            try made.append(records)
        } catch {
            // A full disk: not one more empty file for each item.
            unlink(made.path)
            throw error
        }
        begins = false
        file = made
        return made
    }

    private func configuration() throws -> String? {
        let path = FilePath.join(run, "run.json")
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try MappedFile(copying: path).withBytes { bytes in
            bytes.count > Limits.recordBytes / 2 ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }
}
