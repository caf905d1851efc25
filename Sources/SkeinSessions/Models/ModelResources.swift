import SkeinBasics
import SkeinInference
import SkeinModels

extension SystemLanguageModel {
    /// What a model may take of this machine. All sessions of one loaded model share it.
    ///
    /// Models at one path with equal resources are in memory once; with other resources they are
    /// loaded again. More parallel replies and longer contexts take memory for keys and values.
    public struct Resources: Sendable, Hashable {
        /// Tokens of a prompt and its reply together; never more than the model was made for.
        public var contextSize = 4096
        /// Replies that are made at once, 1 to 256; others wait.
        public var parallelReplies = 4
        /// Requests that wait for their turn, beyond which `rateLimited` is thrown.
        public var waitingRequests = 256
        /// Bytes of the beginnings of prompts that stay in memory, so that a conversation's next turn
        /// need not read the turns before; nil: 512 MiB, at most an eighth of what is free.
        public var prefixCacheBytes: Int?
        /// Bytes of compiled schemas; nil: 256 MiB, at most an eighth of what is free.
        public var schemaBytes: Int?
        /// Bytes of all adapters that are in use; nil: what four of the largest rank take, at most a
        /// quarter of what is free.
        public var adapterBytes: Int?
        /// The largest rank of an adapter.
        public var maximumRank = 64
        /// Compute threads; nil: as many as processors that may be used.
        public var threads: Int?
        /// Precision of multiplying prompts by the weights.
        public var compute = Compute.fp32
        /// The chat template: the name of a built-in one or of one of the model's, or the path of a
        /// file; nil: the model's.
        public var chatTemplate: String?

        /// The defaults.
        public init() {}

        /// Precision of multiplying prompts by the weights. Replies are always computed in fp32.
        public enum Compute: String, Sendable, CaseIterable {
            case fp32
            /// Weights and inputs are rounded to bfloat16. Takes about half the time on AMD Zen 4 and 5,
            /// and more time than `fp32` on some Intel Xeons.
            case bf16
            /// Weights and inputs are quantized to 8-bit integers: the fastest where a processor has VNNI.
            /// A second copy of the weights is held for it, a byte for each.
            case int8

            /// The engine's name of it.
            var type: ComputeType {
                switch self {
                case .fp32: .fp32
                case .bf16: .bf16
                case .int8: .int8
                }
            }
        }

        /// As a host takes them; bytes are not cut to MiB, as they are in the texts of these options.
        var options: OptionValues<HostOptions> {
            var options = OptionValues<HostOptions>()
            options.context = contextSize
            options.parallel = parallelReplies
            options.maximumRank = maximumRank
            options.prefixBytes = prefixCacheBytes
            options.grammarBytes = schemaBytes
            options.adapterBytes = adapterBytes
            options.threads = threads
            options.compute = compute.type
            return options
        }

        /// The first value that is not allowed; nil if there is none.
        var flaw: String? {
            func rule(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) -> (Bool, String) {
                (
                    value.map(range.contains) ?? true,
                    "\(name) is \(range.lowerBound) to \(range.upperBound)"
                )
            }
            let schemas = HostOptions.leastGrammarMebibytes
            let rules: [(Bool, String)] = [
                // More than the flags of a server take, which have their limits for mistyped numbers.
                rule(
                    "contextSize", contextSize,
                    HostOptions.contexts.lowerBound...BatchPlan.mostContext),
                rule("parallelReplies", parallelReplies, HostOptions.answers),
                rule("waitingRequests", waitingRequests, HostOptions.waiting),
                (prefixCacheBytes ?? 0 >= 0, "prefixCacheBytes is not negative"),
                (
                    schemaBytes ?? .max >= schemas << 20,
                    "schemaBytes is at least \(schemas) MiB"
                ),
                (adapterBytes ?? 0 >= 0, "adapterBytes is not negative"),
                rule("maximumRank", maximumRank, HostOptions.ranks.lowerBound...4096),
                rule("threads", threads, SystemProcessors.threads),
            ]
            return rules.first { !$0.0 }?.1
        }
    }
}
