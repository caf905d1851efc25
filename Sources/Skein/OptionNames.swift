import SkeinBasics
import SkeinTraining

/// Translates the flags in messages to names in this library: the modules below name options as the
/// command line does, which a program does not see.
enum OptionNames {
    /// `text` with `maxLength` where it has --max-length.
    static func inCode(_ text: String) -> String {
        text.replacing(/--([a-z][a-z0-9-]*[a-z0-9])/) { match in
            let name = String(match.1)
            return names[name].map { "`\($0)`" } ?? String(match.0)
        }
    }

    /// Names by flag without its dashes. Flags of other programs are not among them.
    private static let names: [String: String] = {
        var names: [String: String] = [:]
        for option in TrainingConfiguration.options.map(\.description) {
            names[option.name] = camelCase(option.name)
        }
        return names.merging([
            "valid-data": "validation", "test-data": "test", "skip-bad-lines": "skipsBadLines",
            "init-adapter": "startingFrom", "min-workers": "minimumWorkers",
            "no-token-cache": "keepsTokens", "sample-prompt": "samplePrompts", "resume": "resume()",
            "reuse-features": "reusesFeatures", "feature-dir": "featureDirectory",
            "feature-disk": "featureMebibytes",
            "validate-at-start": "validatesAtStart",
            "output": "output",
            "model": "model", "data": "data", "prompt": "prompt", "system": "system",
            "token-file": "token", "name": "name", "local-workers": "localThreads",
        ]) { $1 }
    }()

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "-")
        return words.dropFirst().reduce(String(words.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}
