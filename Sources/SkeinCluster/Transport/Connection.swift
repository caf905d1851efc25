import Foundation
import SkeinCoordination
import SkeinNetwork

/// A link that carries messages.
///
/// It belongs to its loop's thread. It lives until its owner closes it or something else does; of
/// the latter `onClose` tells the owner, once.
///
/// Until the peer is known (`authenticate`), 4 KiB are read at a time, and no frame longer than a
/// greeting is accepted.
package final class Connection {
    /// How long a last message may take to be sent.
    package static let flushPatience = Limits.flush
    /// The most that is read at once.
    package static let readBytes = Limits.readBytes

    let link: any Link
    private let loop: any Clock

    /// Called with each message.
    package var onMessage: (ReceivedMessage) -> Void = { _ in }

    /// Called once, when the connection has closed for another reason than `close()`.
    package var onClose: (CloseReason) -> Void = { _ in }

    /// Called when the peer has broken the protocol, before the connection closes: the time to send
    /// a REJECTION and call `closeAfterFlush()`.
    var onViolation: (WireError) -> Void = { _ in }

    /// Called when the system has taken some of what waited for the peer.
    var onTaken: () -> Void = {}

    /// Called when the system has taken all that waited for the peer.
    var onDrained: () -> Void = {}

    /// The term in every frame sent; 0 until the coordinator's is known.
    package var term: UInt32 = 0

    /// Bytes that may wait for a peer that takes nothing for `pendingTime`: `Limits.pendingBytes`
    /// plus the run's largest message. Four times as many may never wait.
    package var pendingLimit = Limits.pendingBytes
    var pendingTime = Limits.pendingTime

    /// Bytes read per second at most, for benchmarks of slow lines; nil: no limit.
    package var readRate: Int?

    /// When any bytes of the peer last came; at first, when it was connected.
    private(set) var lastHeard: ContinuousClock.Instant
    /// When bytes were last handed to the system.
    private(set) var lastSent: ContinuousClock.Instant
    private(set) var bytesReceived: UInt64 = 0
    private(set) var bytesSent: UInt64 = 0

    private var inbound: InboundQueue
    /// Received bytes of messages that have not come whole.
    package var receivedBytes: Int { inbound.heldBytes }
    private var outbound = OutboundQueue()
    /// The frame being written, and how many of its bytes have been.
    private var frame: OutboundFrame?
    private var written = 0

    private var phase = Phase.open
    private var isKnown = false
    private var flushAlarm: Alarm?
    private var pendingAlarm: Alarm?
    private var readAlarm: Alarm?

    private enum Phase {
        case open
        /// Sends what waits; what it reads is dropped.
        case flushing
        /// Has ended its own side, and waits for the peer to close.
        case draining
        case closed
    }

    /// Takes over a connected link; `bounds` says what the peer may send first.
    init(_ link: any Link, bounds: MessageBounds, loop: any Clock) {
        loop.preconditionOnLoop()
        self.link = link
        self.loop = loop
        inbound = InboundQueue(bounds: bounds)
        lastHeard = loop.now
        lastSent = loop.now
        link.start { self.handle($0) }
    }

    /// Takes over a connected socket.
    package convenience init(_ socket: Socket, bounds: MessageBounds, loop: EventLoop) {
        self.init(SocketLink(socket, loop: loop), bounds: bounds, loop: loop)
    }

    var isOpen: Bool { phase == .open }

    /// What the peer may send now; see `InboundQueue.bounds`.
    package var bounds: MessageBounds {
        get { inbound.bounds }
        set { inbound.bounds = newValue }
    }

    /// Bytes for the peer that the system has not taken yet.
    package var pendingBytes: Int { outbound.pendingBytes + (frame?.count ?? 0) - written }

    /// Bytes of memory for the peer that no other connection shares.
    var ownPendingBytes: Int { outbound.ownBytes + (frame?.ownBytes ?? 0) }

    /// Bytes of messages on their way to the peer that other connections may share; each is kept
    /// whole until its last frame has left.
    var sharedPendingBytes: Int { outbound.sharedBytes + (frame?.sharedBytes ?? 0) }

    /// Demands tags on all frames from the next one on, and tags all frames sent from now on.
    package func authenticate(receiving: FrameKey, sending: FrameKey) {
        guard isOpen else { return }
        inbound.authenticate(with: receiving)
        outbound.authenticate(with: sending)
        isKnown = true
    }

    /// Sends a message behind waiting ones of its kind; does nothing once the connection ends.
    package func send(_ message: Message) {
        send(EncodedMessage(message), isShared: false)
    }

    /// Sends a message whose bytes other connections share.
    package func send(shared message: EncodedMessage) {
        send(message, isShared: true)
    }

    /// Sends a sign of life, unless an urgent message waits, which is one: a peer that does not
    /// read must not pile them up.
    func sendSign(_ message: EncodedMessage) {
        if !outbound.hasUrgent { send(message, isShared: true) }
    }

    private func send(_ message: EncodedMessage, isShared: Bool) {
        loop.preconditionOnLoop()
        guard isOpen else { return }
        outbound.add(message, term: term, isShared: isShared)
        updateInterest()
        limitPending()
    }

    /// Sends a last, urgent message behind waiting urgent ones (one may say why), drops the bulky
    /// ones, which would come after it, and closes as `closeAfterFlush` does.
    func close(saying message: Message, within patience: Duration = Limits.flush) {
        guard isOpen else { return }
        outbound.dropBulky()
        send(message)
        closeAfterFlush(within: patience)
    }

    /// Sends what waits, lets the peer read it, and closes; `onClose` is called at the end.
    ///
    /// Closing at once would make the system drop a last message under way if bytes of the peer
    /// were still unread.
    package func closeAfterFlush(within patience: Duration = Limits.flush) {
        loop.preconditionOnLoop()
        guard isOpen else { return }
        phase = .flushing
        flushAlarm = loop.setAlarm(after: patience) { self.close(.notFlushed) }
        updateInterest()
    }

    /// Closes at once, without calling `onClose`.
    func close() {
        loop.preconditionOnLoop()
        guard phase != .closed else { return }
        phase = .closed
        for alarm in [flushAlarm, pendingAlarm, readAlarm].compactMap({ $0 }) { loop.cancel(alarm) }
        link.close()
        outbound = OutboundQueue()
        frame = nil
        written = 0
        // The owner holds this, and these may hold the owner.
        onMessage = { _ in }
        onClose = { _ in }
        onViolation = { _ in }
        onTaken = {}
        onDrained = {}
    }

    private func close(_ reason: CloseReason) {
        guard phase != .closed else { return }
        let tell = onClose
        close()
        tell(reason)
    }

    // MARK: Readiness

    private func handle(_ readiness: Readiness) {
        // Reading goes first: the last message of a peer that is gone may still be there.
        if readiness.contains(.read) || readiness.contains(.broken) { _ = receive() }
        if readiness.contains(.write), phase == .open || phase == .flushing { flush() }
    }

    private func updateInterest() {
        guard phase != .closed else { return }
        let hasMore = frame != nil || !outbound.isEmpty || phase == .flushing
        var interest: Readiness = readAlarm == nil ? .read : []
        if hasMore, phase != .draining { interest.insert(.write) }
        link.wait(for: interest)
    }

    /// Reads once.
    ///
    /// - Returns: whether there may be more.
    private func receive() -> Bool {
        switch readOnce() {
        case .wouldBlock: return false
        case .ended:
            close(phase == .draining ? .flushed : .ended)
        case .failed(let code):
            close(phase == .draining ? .flushed : .failed(code))
        case .bytes(let count):
            bytesReceived += UInt64(count)
            lastHeard = loop.now
            if let readRate { pauseReading(.seconds(Double(count) / Double(readRate))) }
            if isOpen { takeMessages() }
        }
        return phase != .closed
    }

    /// Reads the middle of a payload straight to its final place, and little at a time elsewhere.
    private func readOnce() -> Transfer {
        let missing = inbound.missingPayload
        var transfer = Transfer.wouldBlock
        if isOpen, missing >= Limits.headerReadBytes {
            inbound.fill(min(missing, Limits.readBytes)) { room in
                transfer = link.read(into: room)
                guard case .bytes(let count) = transfer else { return 0 }
                return count
            }
        } else {
            // After the last message, nothing that is read is kept.
            let known = isOpen ? Limits.headerReadBytes : link.scratch.count
            let size = isKnown ? known : Limits.strangerReadBytes
            let buffer = UnsafeMutableRawBufferPointer(rebasing: link.scratch[..<size])
            transfer = link.read(into: buffer)
            if isOpen, case .bytes(let count) = transfer {
                inbound.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        return transfer
    }

    private func pauseReading(_ pause: Duration) {
        guard readAlarm == nil else { return }
        readAlarm = loop.setAlarm(after: pause) {
            self.readAlarm = nil
            self.updateInterest()
        }
        updateInterest()
    }

    private func takeMessages() {
        do throws(WireError) {
            // The owner may close this, or send a last message, in answer to any message.
            while isOpen, let message = try inbound.next() { onMessage(message) }
        } catch {
            // A peer with an older version should understand why it is rejected.
            if case .majorVersion(let found) = error, 1..<ProtocolVersion.major ~= found {
                outbound.speak(major: found)
            }
            onViolation(error)
            if isOpen { close(.violation(error)) }
        }
    }

    // MARK: Sending

    private func flush() {
        var budget = Limits.writesPerTurn
        while budget > 0, let next = frame ?? outbound.nextFrame() {
            frame = next
            let result = next.withPieces(after: written) { link.write($0) }
            guard case .bytes(let count) = result else {
                if case .failed(let code) = result { return fail(code) }
                break
            }
            written += count
            budget -= count
            bytesSent += UInt64(count)
            lastSent = loop.now
            if written == next.count {
                frame = nil
                written = 0
            }
        }
        if phase == .flushing, pendingBytes == 0 {
            phase = .draining
            link.endWriting()
        }
        updateInterest()
        limitPending()
        if isOpen { onTaken() }
        if isOpen, pendingBytes == 0 { onDrained() }
    }

    /// A socket that can no longer be written may still hold the reason.
    private func fail(_ code: Int32) {
        let before = bytesReceived
        while bytesReceived - before < Limits.lastWordsBytes, receive() {}
        close(.failed(code))
    }

    /// Bytes that the peer's system has acknowledged.
    var bytesTaken: UInt64 {
        bytesSent - min(bytesSent, UInt64(link.unacknowledgedBytes))
    }

    private func limitPending() {
        let pending = pendingBytes
        if pending <= pendingLimit {
            if let pendingAlarm { loop.cancel(pendingAlarm) }
            pendingAlarm = nil
        } else if pending / Limits.pendingBurst > pendingLimit {
            // Later: a caller of `send` does not expect `onClose` inside of it.
            phase = .draining
            outbound = OutboundQueue()
            updateInterest()
            loop.setAlarm(after: .zero) { self.close(.notReading(pendingBytes: pending)) }
        } else if pendingAlarm == nil {
            let before = bytesTaken
            pendingAlarm = loop.setAlarm(after: pendingTime) {
                self.pendingAlarm = nil
                // A slow line is not a dead peer: look again later.
                if self.bytesTaken > before { return self.limitPending() }
                self.close(.notReading(pendingBytes: self.pendingBytes))
            }
        }
    }
}
