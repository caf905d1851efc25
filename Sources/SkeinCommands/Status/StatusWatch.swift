import SkeinBasics
import SkeinCoordination
import SkeinJSON

/// One look at a run, however it was had, in the forms in which it is shown.
struct StatusView: Sendable {
    /// Several lines.
    var table: String
    /// One line.
    var line: String
    var why: String
    var json: [UInt8]
    /// The run is over.
    var isOver: Bool
    /// All its steps are done, though something may still follow.
    var isAtEnd: Bool
    /// What of it is news: two looks with equal marks are told once.
    var mark: String

    init(_ snapshot: RunSnapshot, json: [UInt8]) {
        table = StatusText.table(of: snapshot)
        line = StatusText.line(of: snapshot)
        why = StatusText.why(of: snapshot)
        self.json = json
        isOver = snapshot.waiting.reason == .ended
        let run = snapshot.run
        isAtEnd = run.stepCount > 0 && run.step >= run.stepCount
        mark =
            "\(run.step) \(snapshot.phase) \(snapshot.workerCount) \(snapshot.round?.accepted ?? 0)"
    }

    init(_ folder: RunFolder) {
        table = folder.text
        (line, why, json) = (folder.line, folder.why, Array(folder.json.utf8))
        isOver = folder.state != .running
        isAtEnd = isOver
        mark = folder.line
    }
}

/// `--watch`: shows a run again and again until it ends.
struct StatusWatch {
    /// Between two looks.
    static let pause = Duration.seconds(2)
    /// To the first column of the first line, and erase all that follows (ECMA-48, CUP and ED).
    static let home = "\u{1b}[H\u{1b}[J"

    /// Whether standard output is a terminal, where the table is drawn anew; elsewhere there is a line
    /// for each change.
    let redraws: Bool
    let form: StatusCommand.Form

    /// - Parameters:
    ///   - ask: looks at the run.
    ///   - wait: is called between two looks.
    ///   - write: takes what is shown.
    /// - Throws: what `ask` throws, unless the run had taken its last step when it was last seen.
    func run(
        ask: () throws -> StatusView, wait: () -> Void, write: (String) throws -> Void
    ) throws {
        var last: StatusView?
        while true {
            let view: StatusView
            do {
                view = try ask()
            } catch {
                // A run that ends takes its page and its port along.
                guard let last, last.isAtEnd else { throw error }
                return try write("the run has ended\n")
            }
            try show(view, after: last, write)
            last = view
            if view.isOver { return }
            wait()
        }
    }

    private func show(
        _ view: StatusView, after last: StatusView?, _ write: (String) throws -> Void
    ) throws {
        switch form {
        case .json: try write(String(decoding: view.json, as: UTF8.self) + "\n")
        case .table where redraws: try write(Self.home + view.table)
        case .why where redraws: try write(Self.home + view.line + "\n" + view.why + "\n")
        case .table where last?.mark != view.mark: try write(view.line + "\n")
        case .why where last?.mark != view.mark: try write(view.why + "\n")
        case .table, .why: break
        }
    }
}
