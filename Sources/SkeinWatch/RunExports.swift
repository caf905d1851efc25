import SkeinBasics
import SkeinTraining

/// A run's figures for other tools, written beside the run: none of them can hold it up.
package final class RunExports: Sendable {
    /// What is asked for on the command line.
    package struct Options: Sendable, Equatable {
        /// Where event files for TensorBoard go.
        package var tensorBoard: String?
        /// A server that shows runs.
        package var mlflow: MLflowTarget?
        /// A shell command to run after each checkpoint.
        package var onCheckpoint: String?

        package init(
            tensorBoard: String? = nil, mlflow: MLflowTarget? = nil, onCheckpoint: String? = nil
        ) {
            self.tensorBoard = tensorBoard
            self.mlflow = mlflow
            self.onCheckpoint = onCheckpoint
        }
    }

    /// How a run ended.
    package enum Outcome: Sendable, Equatable {
        /// With SHA-256 of the adapter's weights.
        case finished(adapter: String)
        /// It can be resumed.
        case interrupted
        case failed
        /// Another process goes on with it, and tells the rest.
        case takenOver
    }

    private let tensorBoard: TensorBoardExport?
    private let mlflow: MLflowExport?
    private let hook: CheckpointHook?

    /// Begins to take events.
    ///
    /// - Parameters:
    ///   - options: which exports.
    ///   - output: the run's directory.
    ///   - log: told what fails.
    package init(_ options: Options, output: String, log: Log) {
        tensorBoard = options.tensorBoard.map {
            TensorBoardExport(directory: $0, run: output, log: log)
        }
        mlflow = options.mlflow.map { MLflowExport($0, run: output, log: log) }
        hook = options.onCheckpoint.map { CheckpointHook(command: $0, output: output, log: log) }
    }

    /// Takes what the training loop reports; returns at once.
    package func note(_ event: TrainingLoop.Event) {
        tensorBoard?.note(event)
        mlflow?.note(event)
        if case .checkpoint(let step, let path) = event { hook?.run(step: step, path: path) }
    }

    /// Waits for what is still to be written, for a bounded time.
    ///
    /// - Parameter outcome: how the run ended.
    package func finish(_ outcome: Outcome) {
        tensorBoard?.finish()
        mlflow?.finish(outcome)
        hook?.finish()
    }
}
