extension LanguageModelSession {
    /// A reply while it is written.
    ///
    /// The elements are all that there is so far, not what is new. Work begins at once. A consumer that is
    /// slower than the model misses snapshots, never the last one. Ending an iteration before its end, or
    /// letting go of the stream, cancels the request.
    public struct ResponseStream<Content: Generable>: AsyncSequence, Sendable {
        /// All that there is at a moment.
        public struct Snapshot {
            /// The value so far: properties that have not begun are nil, texts may be unfinished.
            public var content: Content.PartiallyGenerated
            /// The same before it became a value.
            public var rawContent: GeneratedContent
        }

        /// What iterating gives.
        public typealias Element = Snapshot

        let handle: StreamHandle

        /// Waits for the end.
        ///
        /// - Returns: the whole reply; at once if it has ended.
        /// - Throws: what ended the request.
        nonisolated(nonsending)
            public func collect() async throws -> Response<Content>
        {
            // A task that stops waiting wants it no longer.
            let turn = try await withTaskCancellationHandler {
                try await handle.feed.end()
            } onCancel: { [handle] in
                handle.cancel()
            }
            return Response(turn, try SessionFailure.converting(turn.content))
        }

        /// The snapshots from now on, the latest one first.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(handle: handle, token: IterationToken(handle))
        }

        /// Iterates over snapshots.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let handle: StreamHandle
            let token: IterationToken
            var seen = 0

            init(handle: StreamHandle, token: IterationToken) {
                self.handle = handle
                self.token = token
            }

            /// The next snapshot; nil after the last one.
            ///
            /// - Throws: what ended the request; `CancellationError`.
            public mutating func next() async throws -> Snapshot? {
                try await next(isolation: #isolation)
            }

            /// The next snapshot; nil after the last one.
            ///
            /// - Parameter actor: of the caller.
            /// - Returns: the snapshot.
            /// - Throws: what ended the request; `CancellationError`.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws -> Snapshot? {
                while let (content, version) = try await nextContent(isolation: actor) {
                    seen = version
                    // No value can be made of some beginnings, such as of an enum's.
                    guard
                        let value: Content.PartiallyGenerated = try SessionFailure.convertingSoFar(
                            content)
                    else { continue }
                    return Snapshot(content: value, rawContent: content)
                }
                token.finish()
                return nil
            }

            /// The latest content. A task that is cancelled while it waits wants the reply no longer, and
            /// the request knows that at once, before the loop has been left.
            private func nextContent(
                isolation actor: isolated (any Actor)?
            ) async throws -> (GeneratedContent, Int)? {
                try await withTaskCancellationHandler {
                    try await handle.feed.next(after: seen)
                } onCancel: { [handle] in
                    handle.cancel()
                }
            }
        }
    }
}

extension LanguageModelSession.ResponseStream.Snapshot: Sendable
where Content.PartiallyGenerated: Sendable {}
