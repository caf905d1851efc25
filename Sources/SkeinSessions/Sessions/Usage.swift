extension LanguageModelSession {
    /// Tokens of requests, and how long they took. A reply has its own, and a session the sum of
    /// its requests.
    public struct Usage: Sendable, Equatable {
        /// What the model read.
        public struct Input: Sendable, Equatable {
            /// Tokens of prompts: instructions, tools, all turns before.
            public var totalTokenCount = 0
            /// Those of them that were in the prefix cache and were not computed again.
            public var cachedTokenCount = 0
        }

        /// What the model wrote.
        public struct Output: Sendable, Equatable {
            /// Tokens of replies and calls.
            public var totalTokenCount = 0
        }

        /// When it came. Not part of what a reply is: two equal requests have other times.
        public struct Metadata: Sendable, Equatable {
            /// From the request to its first text; nil: none came.
            public var timeToFirstToken: Duration?
            /// From the request to each piece of text that came, mostly one a token.
            public var tokenTimes: [Duration] = []
            /// From the request to its end.
            public var duration = Duration.zero
        }

        /// What the model read.
        public var input = Input()
        /// What the model wrote.
        public var output = Output()
        /// When it came.
        public var metadata = Metadata()

        /// Nothing.
        public init() {}

        mutating func add(_ end: ReplyEnd) {
            input.totalTokenCount += end.promptTokens
            input.cachedTokenCount += end.cachedTokens
            output.totalTokenCount += end.replyTokens
        }

        /// Adds a request to a session's sum, which has no times of single tokens: there is no end of
        /// them.
        mutating func add(_ request: Usage) {
            input.totalTokenCount += request.input.totalTokenCount
            input.cachedTokenCount += request.input.cachedTokenCount
            output.totalTokenCount += request.output.totalTokenCount
            metadata.duration += request.metadata.duration
        }
    }
}
