import Foundation
import SkeinBasics
import SkeinCoordination

/// How far a training run is, and what is needed to estimate its remaining time.
struct TrainingProgress: Sendable, Equatable {
    var run: RunSnapshot.Progress
    var epoch: Int
    /// When this process began to train, and after which step: a resumed run begins in the middle.
    var began: ContinuousClock.Instant
    var firstStep: Int = 0
}

/// Progress as text. Pure.
enum ProgressLine {
    /// `step 12/170  epoch 1  loss 2.3140  385 tokens/s  ETA 5m 12s`.
    static func text(_ progress: TrainingProgress, now: ContinuousClock.Instant) -> String {
        var parts = [
            "step \(progress.run.step)/\(progress.run.stepCount)", "epoch \(progress.epoch)",
        ]
        if let loss = progress.run.loss { parts.append("loss \(text(ofLoss: loss))") }
        if let pace = progress.run.tokensPerSecond { parts.append("\(rate(pace)) tokens/s") }
        if progress.run.step < progress.run.stepCount, let rest = remaining(progress, now: now) {
            parts.append("ETA \(duration(rest))")
        }
        return parts.joined(separator: "  ")
    }

    /// Time for the remaining steps at this process's pace; nil before its first step is done.
    static func remaining(
        _ progress: TrainingProgress, now: ContinuousClock.Instant
    ) -> Duration? {
        let done = progress.run.step - progress.firstStep
        guard done > 0 else { return nil }
        let pace = (now - progress.began) / Double(done)
        return pace * Double(progress.run.stepCount - progress.run.step)
    }

    /// Two units at most: `48s`, `5m 12s`, `3h 07m`, `2d 03h`.
    static func duration(_ duration: Duration) -> String {
        let seconds = Int((duration / .seconds(1)).rounded())
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400)
        if seconds < 60 { return "\(max(0, seconds))s" }
        if minutes < 60 { return "\(minutes)m \(padded(seconds % 60))s" }
        if hours < 24 { return "\(hours)h \(padded(minutes % 60))m" }
        return "\(days)d \(padded(hours % 24))h"
    }

    /// Four decimals; `nan` or `inf` for a run that diverged.
    private static func text(ofLoss loss: Double) -> String {
        loss.isFinite ? String(format: "%.4f", loss) : "\(loss)"
    }

    private static func rate(_ rate: Double) -> String {
        String(format: rate < 100 ? "%.1f" : "%.0f", rate)
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
