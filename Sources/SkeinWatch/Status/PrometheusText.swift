import SkeinBasics
import SkeinCoordination
import SkeinNetwork

/// The snapshot as Prometheus reads it (text exposition format 0.0.4). Pure.
///
/// Base units, `_total` for what only grows, a fixed set of names; labels are states and workers.
enum PrometheusText {
    static func text(of snapshot: RunSnapshot, version: String) -> String {
        var page = MetricsText()
        page.family("skein_build_info", "gauge", "The version of skein; always 1.")
        page.sample("skein_build_info", ["version": version], 1)
        run(snapshot, &page)
        workers(snapshot, &page)
        counters(snapshot.totals, &page)
        process(snapshot.process, &page)
        return page.text
    }

    private static func run(_ snapshot: RunSnapshot, _ page: inout MetricsText) {
        let run = snapshot.run
        page.family("skein_run_info", "gauge", "The run's output directory; always 1.")
        page.sample("skein_run_info", ["output": run.output], 1)
        let gauges: [(String, String, Double?)] = [
            ("skein_step", "Committed optimizer steps of the run.", Double(run.step)),
            ("skein_planned_steps", "Optimizer steps of the plan.", Double(run.stepCount)),
            ("skein_epoch", "Epoch of the last committed step.", run.epoch.map(Double.init)),
            ("skein_loss", "Mean loss per token of the last committed step, in nats.", run.loss),
            (
                "skein_validation_loss", "Mean loss per token of the last validation, in nats.",
                run.validationLoss
            ),
            (
                "skein_best_validation_loss",
                "The validation loss of the best adapter so far, in nats.",
                run.bestValidationLoss
            ),
            (
                "skein_start_validation_loss",
                "Mean loss per token of the validation before the first step, in nats.",
                run.startValidationLoss
            ),
            ("skein_learning_rate", "Learning rate of the last step.", run.learningRate),
            (
                "skein_gradient_norm", "Norm of the last step's mean gradient before clipping.",
                run.gradientNorm
            ),
            (
                "skein_tokens_per_second", "Tokens per second of the last step.",
                run.tokensPerSecond
            ),
            (
                "skein_remaining_seconds", "Estimated time until the last step.",
                run.etaSeconds
            ),
            (
                "skein_other_engines_from_step",
                "The first step for which workers with other engines were admitted: the one hash was "
                    + "given up.", run.otherEnginesFromStep.map(Double.init)
            ),
            (
                "skein_waiting_seconds",
                "How long the run has waited for what it waits for now.", snapshot.waiting.seconds
            ),
        ]
        for (name, help, value) in gauges { page.single(name, "gauge", help, value) }
        page.single(
            "skein_tokens_total", "counter", "Tokens of all committed steps of the run.",
            Double(run.tokens))
        page.single(
            "skein_loss_tokens_total", "counter", "Tokens with loss of all committed steps.",
            Double(run.lossTokens))
        page.single(
            "skein_ledger_micro_batches_total", "counter",
            "Micro-batches of all committed steps: lines of the ledger with micro_batch.",
            Double(run.microBatches))
    }

    private static func workers(_ snapshot: RunSnapshot, _ page: inout MetricsText) {
        guard snapshot.run.term != nil else { return }
        page.single(
            "skein_connected_workers", "gauge", "Workers that are connected.",
            Double(snapshot.workerCount))
        page.family("skein_workers", "gauge", "Workers by state, of those that are listed.")
        var states: [String: Int] = [:]
        for worker in snapshot.workers { states[worker.state.rawValue, default: 0] += 1 }
        for absent in snapshot.absent { states[absent.isLost ? "lost" : "left", default: 0] += 1 }
        let all = RunSnapshot.Worker.State.allCases.map(\.rawValue) + ["lost", "left"]
        for state in all {
            page.sample("skein_workers", ["state": state], Double(states[state] ?? 0))
        }
        func each(
            _ name: String, _ type: String, _ help: String,
            _ value: (RunSnapshot.Worker) -> Double?
        ) {
            let samples = snapshot.workers.compactMap { worker in
                value(worker).map { (worker.name, $0) }
            }
            guard !samples.isEmpty else { return }
            page.family(name, type, help)
            for (worker, value) in samples { page.sample(name, ["worker": worker], value) }
        }
        each("skein_worker_last_heard_seconds", "gauge", "Since the worker's last message.") {
            $0.lastHeardSeconds
        }
        each("skein_worker_tokens_per_second", "gauge", "The worker's pace, over its threads.") {
            $0.work?.tokensPerSecond
        }
        each("skein_worker_leases", "gauge", "Micro-batches that the worker holds.") {
            $0.work.map { Double($0.leaseCount) }
        }
        each("skein_worker_accepted_results_total", "counter", "Good results, in this term.") {
            $0.work.map { Double($0.accepted) }
        }
        each("skein_worker_refused_results_total", "counter", "Refused results, in this term.") {
            $0.work.map { Double($0.refused) }
        }
        each("skein_worker_losses_total", "counter", "Lost connections of this name.") {
            $0.work.map { Double($0.losses) }
        }
    }

    private static func counters(_ totals: RoundCounters, _ page: inout MetricsText) {
        let counters: [(String, String, Int)] = [
            ("skein_leases_total", "Leases granted in this term.", totals.leases),
            ("skein_repeated_leases_total", "Leases of work leased before.", totals.again),
            (
                "skein_speculative_leases_total", "Second leases of work that another still had.",
                totals.speculative
            ),
            ("skein_duplicate_results_total", "Results that came second.", totals.duplicates),
            ("skein_refused_results_total", "Results that were wrong.", totals.refused),
            ("skein_stale_results_total", "Results of rounds that were over.", totals.stale),
        ]
        for (name, help, value) in counters { page.single(name, "counter", help, Double(value)) }
    }

    private static func process(_ process: RunSnapshot.Process?, _ page: inout MetricsText) {
        page.single(
            "process_cpu_seconds_total", "counter", "Processor time of this process.",
            process?.processorSeconds)
        page.single(
            "process_resident_memory_bytes", "gauge", "Resident memory of this process.",
            process?.residentBytes.map(Double.init))
        page.single(
            "skein_peak_resident_memory_bytes", "gauge", "The most resident memory so far.",
            process?.peakResidentBytes.map(Double.init))
    }
}
