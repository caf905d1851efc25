/// Bytes from a socket in, messages out: a `FrameOpener` and a `MessageAssembler`.
package struct InboundQueue: Sendable {
    private var opener = FrameOpener()
    private var assembler: MessageAssembler

    package init(bounds: MessageBounds) {
        assembler = MessageAssembler(bounds: bounds)
    }

    /// What the peer may say now. Set it after each message that changes the phase and before the
    /// next one is taken.
    package var bounds: MessageBounds {
        get { assembler.bounds }
        set { assembler.bounds = newValue }
    }

    /// Appends bytes as they come; see `FrameOpener`.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        opener.append(bytes)
    }

    /// Bytes that `fill` takes; see `FrameOpener`.
    package var missingPayload: Int { opener.missingPayload }

    /// Lets `read` put bytes into their final place; see `FrameOpener`.
    package mutating func fill(_ count: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) {
        opener.fill(count, read)
    }

    /// Bytes of messages that have not come whole.
    package var heldBytes: Int { opener.heldBytes + assembler.heldBytes }

    /// Demands tags from the next frame on.
    package mutating func authenticate(with key: FrameKey) {
        opener.authenticate(with: key)
    }

    /// The next whole message, or nil when more bytes are needed.
    ///
    /// - Throws: `WireError`; the connection is useless then.
    package mutating func next() throws(WireError) -> ReceivedMessage? {
        while let frame = try opener.next() {
            if let message = try assembler.add(frame) { return message }
            if let begun = assembler.lend() { opener.resume(begun) }
        }
        return nil
    }
}
