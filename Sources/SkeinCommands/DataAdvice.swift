import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTraining

/// What `skein data` says a run with the defaults would be on this machine: steps, memory, time.
struct DataAdvice {
    /// nil: `problem` says why there would be none.
    private let job: TrainingJob?
    /// nil: the machine has too little memory, as `problem` says.
    let forecast: RunForecast?
    /// Why a run would end before its first step, and what to do about it.
    private let problem: String?
    /// nil: it was not measured.
    var seconds: Double?

    /// - Parameter job: makes the run as `skein train` would begin it. Its errors, which explain themselves,
    ///   become the advice: what there is to say of the rows does not depend on them.
    /// - Throws: other errors of `job`.
    init(_ job: () throws -> TrainingJob) throws {
        var (found, forecast): (TrainingJob?, RunForecast?) = (nil, nil)
        var problem: String?
        do {
            let made = try job()
            found = made
            forecast = try RunForecast(made)
        } catch let error as any Explained {
            let explanation = error.explanation
            problem = "\(explanation.located); \(explanation.remedy)"
        }
        (self.job, self.forecast, self.problem) = (found, forecast, problem)
    }

    /// With fewer rows held out than this, their loss is mostly chance.
    private static let fewHeldOut = 20
    /// With fewer rows than this, one more row teaches more than any option.
    private static let fewRows = 50

    var lines: [PanelLine] {
        var lines = [PanelLine("a run with the defaults:", .bold)]
        if let job {
            let (plan, batch) = (job.plan, job.configuration.batchSize)
            let options = ["--batch-size \(batch)"] + job.resolved.map { "--\($0.name) \($0.text)" }
            lines.append(
                PanelLine(
                    "  \(Figures.count(plan.stepCount, "step")), "
                        + "\(Figures.count(plan.epochCount, "epoch")) of \(plan.stepsPerEpoch): "
                        + options.joined(separator: " ")))
        }
        if let forecast {
            let size = MemoryError.gibibytes
            let free = forecast.available.map { " of \(size($0)) that it may use" } ?? ""
            lines.append(PanelLine("  memory: about \(size(forecast.memory.total))\(free)"))
            if let seconds {
                lines.append(
                    PanelLine(
                        "  time: about \(ProgressLine.duration(.seconds(seconds))) with "
                            + "\(Figures.count(forecast.threads, "thread")) of this machine, by one "
                            + "step"))
            }
        }
        if let problem { lines.append(PanelLine("  it would not begin: \(problem)", .bad)) }
        return lines + hints.map { PanelLine("  \($0)") }
    }

    /// What other rows, or another split of them, would do.
    var hints: [String] {
        guard let job else { return [] }
        var hints: [String] = []
        let (trained, held) = (job.plan.rowsPerEpoch, job.report.validationRows)
        if trained < Self.fewRows {
            hints.append(
                "\(Figures.count(trained, "training row")): more rows, or each in several wordings, "
                    + "help more than any option")
        }
        if held > 0, held < Self.fewHeldOut {
            hints.append(
                "\(Figures.count(held, "validation row")): the loss over so few is mostly chance; give "
                    + "others with --valid-data")
        }
        return hints
    }

    var fields: [(String, JSONValue)] {
        let configuration = job?.configuration
        func count(_ number: Int?) -> JSONValue { number.map { .integer($0) } ?? .null }
        func number(_ number: Double?) -> JSONValue { number.map { .decimal($0) } ?? .null }
        return [
            ("steps", count(job?.plan.stepCount)), ("epochs", count(job?.plan.epochCount)),
            ("batch_size", count(configuration?.batchSize)),
            ("learning_rate", number(configuration?.learningRate)),
            ("warmup_steps", count(configuration?.warmupSteps)),
            ("memory_bytes", count(forecast?.memory.total)), ("seconds", number(seconds)),
            ("problem", problem.map { .text($0) } ?? .null),
            ("hints", .list(hints.map { .text($0) })),
        ]
    }
}
