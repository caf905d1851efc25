import SkeinBasics

/// A question to a peer, asked by a thread that waits for the answer.
package enum Question {
    /// Dials, has `speak` talk, and hangs up once there is an answer or no time is left; blocks.
    ///
    /// - Parameters:
    ///   - name: the peer's.
    ///   - patience: how long each of its addresses may take to be reached.
    ///   - timeout: from dialling to the answer.
    ///   - speak: called on the loop's thread with the connected socket; calls `keep` there once the answer
    ///     is known, and returns what hangs up.
    /// - Returns: the answer; nil: none in time.
    /// - Throws: `SocketError`; what is kept in place of an answer.
    package static func ask<Answer: Sendable>(
        _ name: NetworkAddress, patience: Duration, timeout: Duration,
        _ speak:
            @escaping @Sendable (
                Socket, EventLoop, _ keep: @escaping @Sendable (Result<Answer, any Error>) -> Void
            ) -> () -> Void
    ) throws -> Answer? {
        let addresses = try name.resolved(for: .dialling)
        let loop = try EventLoop(name: "skein-network")
        defer { loop.stop() }
        let answer = Promise<Result<Answer, any Error>>()
        let call = try Confined(to: loop) { Call() }
        call.post { call in
            call.dial = Dial(addresses, name: name, patience: patience, loop: loop) { [weak call] in
                switch $0 {
                case .success(let socket):
                    call?.hangUp = speak(socket, loop) { answer.keep($0) }
                case .failure(let error): answer.keep(.failure(error))
                }
            }
        }
        guard let result = answer.value(within: timeout / .seconds(1)) else { return nil }
        try call.call {
            $0.dial?.cancel()
            $0.hangUp?()
        }
        return try result.get()
    }

    /// Lives on the loop's thread.
    private final class Call {
        var dial: Dial?
        var hangUp: (() -> Void)?
    }
}
