import Foundation
import SkeinCoordination
import Synchronization

/// A process that listens where a coordinator should be, and does not know the token.
final class Impostor: Sendable {
    enum Lie: Sendable, Equatable {
        /// Lets every dialler in and makes an offer, with keys of its own.
        case wrongKey
        /// Speaks another major version, in the five bytes that say so.
        case majorVersion
        /// Chooses a minor version that was not on offer.
        case minorVersion
        /// Refuses every dialler, with the most terrible code.
        case rejection(RejectCode)
        /// Speaks another protocol.
        case garbage
        case silence
    }

    let address: String
    private let descriptor: Int32
    private let count = Mutex(0)
    private let isOver = Mutex(false)

    /// Whether the port is free again.
    var hasEnded: Bool { isOver.withLock { $0 } }

    /// Connections so far.
    var connections: Int { count.withLock { $0 } }

    /// - Parameters:
    ///   - lie: what it says.
    ///   - place: `HOST:PORT` of a coordinator that has died; nil: a port that the system picks.
    /// - Throws: if the port cannot be had.
    init(_ lie: Lie, at place: String? = nil) throws {
        let port = place.flatMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
        (descriptor, address) = try LoopbackPort.listen(port: port ?? 0)
        Thread { [self] in
            while true {
                let peer = accept(descriptor, nil, nil)
                if peer < 0 {
                    close(descriptor)
                    isOver.withLock { $0 = true }
                    return
                }
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                count.withLock { $0 += 1 }
                serve(peer, lie)
                close(peer)
            }
        }.start()
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func serve(_ peer: Int32, _ lie: Lie) {
        var sealer = FrameSealer()
        var inbound = InboundQueue(bounds: MessageBounds(from: .dialler, in: .greeting))
        func say(_ message: Message, term: UInt32 = 0) -> [UInt8] {
            let payload = message.encoded()
            return payload.withUnsafeBytes {
                sealer.seal(
                    type: message.type.rawValue, term: term, messageLength: payload.count,
                    payload: $0)
            }
        }
        func send(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes {
                Foundation.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            buffer.withUnsafeBytes {
                inbound.append(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            let message: Message?
            do {
                message = try inbound.next()?.message
            } catch {
                return
            }
            let challenge = Message.challenge(
                Challenge(
                    minor: ProtocolVersion.minors.upperBound + (lie == .minorVersion ? 1 : 0),
                    nonce: [UInt8](repeating: 7, count: 32)))
            switch (message, lie) {
            case (.hello, .majorVersion):
                send(Array("SKNF".utf8) + [ProtocolVersion.major + 1])
            case (.hello, .minorVersion): send(say(challenge))
            case (.hello, .rejection(let code)):
                let reason = "go away"
                send(
                    say(.rejection(Rejection(code: code, reason: reason, retryMilliseconds: .max))))
            case (.hello, .garbage): send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            case (.hello, .wrongKey):
                inbound.bounds = MessageBounds(from: .dialler, in: .proof)
                send(say(challenge))
            case (.authentication, .wrongKey):
                let zeros = [UInt8](repeating: 0, count: 32)
                sealer.authenticate(with: FrameKey(bytes: zeros))
                send(
                    say(
                        .offer(
                            Offer(
                                proof: zeros, term: 1, start: Array(zeros.prefix(16)),
                                modelDigest: zeros, dataDigest: zeros,
                                configurationDigest: zeros, recipeDigest: zeros,
                                answerDigest: zeros,
                                fingerprint: "goose",
                                configuration: Array("{}".utf8), longestRow: 1, modelFiles: [])),
                        term: 1))
            default: break
            }
        }
    }
}
