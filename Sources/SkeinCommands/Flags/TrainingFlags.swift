import Foundation
import SkeinBasics
import SkeinTraining
import SkeinWatch

/// The options of `train`: those of a run, and those that only the command line has.
package enum TrainingFlags {
    static let data = Option.required(
        "data", .path(),
        "rows: a .jsonl, .json, .csv, .tsv, .parquet or .txt file, several with weights such as "
            + "A.jsonl:2,B.csv:0.5, or a folder with train.jsonl (and valid.jsonl, test.jsonl)")
    static let output = Option.required("output", .path("DIR"), "run directory; created if missing")
    static let resume = Option.flag(
        "resume",
        "continue from the newest valid checkpoint in --output; what is not given is as the run has it, "
            + "and with --schedule constant it may get more --epochs or --iterations"
    )
    static let extend = Option.optional(
        "extend", .path("RUN"), absent: "begin anew",
        "begin a second part of this complete run: from its adapter, with its options but those given, "
            + "a schedule of its own, the next --seed, and the same rows held out"
    )
    static let noTokenCache = Option.flag(
        "no-token-cache", "encode all rows again and do not cache their tokens")

    static let recipe = Option.optional(
        "recipe", ValueFormat<NamedRecipe>.choice, absent: "the defaults",
        "options that go together, which others override (--print-config shows them): "
            + NamedRecipe.allCases.map { "\($0.rawValue) for \($0.purpose)" }
            .joined(separator: ", ")
            + "; with --resume the run has its own")

    static let sweep = Option.optional(
        "sweep", .path("FILE"), absent: "one recipe",
        "train several recipes at once, each in a directory of its own in --output: JSON objects of "
            + "options, one a line, or one object of lists that are combined, such as "
            + "{\"rank\": [8, 16], \"learning-rate\": [1e-4, 2e-4]}")

    static let noAdvice = Option.flag(
        "no-advice",
        "do not measure the kept adapter on rows of both kinds and say what follows; without this it "
            + "takes up to 500 training rows and as many held-out ones")

    package static let status = Option.optional(
        "status", .endpoint("127.0.0.1", 7535), absent: "off",
        "show the run at this address: a page for a browser, /metrics for Prometheus, /status.json; "
            + "port 0: a free port; the default port is 7535")
    static let statusTokenFile = Option.optional(
        "status-token-file", .path("FILE"), absent: "none, which only loopback allows",
        "file with the secret of those who may look, other than --token-file's; the page is opened as "
            + "http://HOST:PORT/#token=SECRET")

    static let tensorBoard = Option.optional(
        "tensorboard", .path("DIR"), absent: "off",
        "write event files for TensorBoard into this directory")
    static let mlflow = Option.optional(
        "mlflow", .text("URL"), absent: "off",
        "send the run to the MLflow server at this URL; MLFLOW_EXPERIMENT_NAME, MLFLOW_RUN_NAME and "
            + "MLFLOW_TRACKING_USERNAME, _PASSWORD or _TOKEN are read")
    static let onCheckpoint = Option.optional(
        "on-checkpoint", .text("CMD"), absent: "nothing",
        "shell command to run after each checkpoint, beside the run; it sees SKEIN_STEP, "
            + "SKEIN_CHECKPOINT and SKEIN_OUTPUT")

    static let groups =
        [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, data.description, output.description,
                    resume.description, extend.description, recipe.description,
                ])
        ]
        + [
            OptionHeading.data, .adapter, .optimizer, .run, .localSteps, .reports, .machine,
            .cluster,
        ].map { heading in
            OptionGroup(
                title: heading.title,
                options: TrainingConfiguration.options.under(heading) + own(heading))
        }

    /// Options of the command line alone that stand under a heading of the run's.
    private static func own(_ heading: OptionHeading) -> [OptionDescription] {
        switch heading {
        case .data: [noTokenCache.description]
        case .reports:
            [
                status.description, statusTokenFile.description, tensorBoard.description,
                mlflow.description, onCheckpoint.description,
            ]
        default: []
        }
    }
}

extension ParsedArguments {
    /// What else is written beside a run.
    ///
    /// - Throws: `MLflowError.badURL`; `HubError.noFetcher`.
    var exports: RunExports.Options {
        get throws {
            RunExports.Options(
                tensorBoard: self[TrainingFlags.tensorBoard],
                mlflow: try self[TrainingFlags.mlflow].map {
                    try MLflowTarget(url: $0, environment: ProcessInfo.processInfo.environment)
                },
                onCheckpoint: self[TrainingFlags.onCheckpoint])
        }
    }

    /// The options of a run; those that are left to the run have a value that does not count.
    var configuration: TrainingConfiguration {
        get throws {
            var configuration = TrainingConfiguration()
            for option in TrainingConfiguration.options.map(\.description)
            where !isAutomatic(option) {
                if let text = text(of: option) { try configuration.set(option.name, to: text) }
            }
            return configuration
        }
    }

    /// The measured options that have no value of their own.
    var unnamed: Set<MeasuredOption> {
        Set(
            MeasuredOption.allCases.filter { option in
                text(of: option.option.description).map(option.option.description.isAutomatic)
                    ?? true
            })
    }
}
