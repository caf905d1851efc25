import Foundation

/// How fast this machine moves bytes over loopback when nobody looks at them: the physical limit of
/// a wire benchmark.
package enum LoopbackRate {
    /// Bytes per second through one TCP connection between two threads of this process.
    ///
    /// - Parameter bytes: how many are sent, in pieces of `Limits.readBytes`.
    /// - Returns: bytes per second.
    /// - Throws: `NodeError`.
    package static func measure(bytes: Int) throws -> Double {
        let name = try NetworkAddress(parsing: "127.0.0.1:0")
        let receiver = try EventLoop(name: "skein-receiver")
        defer { receiver.stop() }
        let sender = try EventLoop(name: "skein-sender")
        defer { sender.stop() }
        let seconds = Promise<Result<Double, NodeError>>()
        let sink = try Confined(to: receiver) {
            try Sink(bytes, name: name, loop: receiver, seconds: seconds)
        }
        let address = try NetworkAddress(
            parsing: sink.call { $0.listener?.address.description ?? "" })
        let addresses = try address.resolved(for: .dialling)
        let source = try Confined(to: sender) {
            Source(bytes, addresses: addresses, name: address, loop: sender, seconds: seconds)
        }
        while true {
            guard let result = seconds.value(within: 1) else { continue }
            try source.call { $0.end() }
            try sink.call { $0.end() }
            return try Double(bytes) / max(result.get(), 1e-9)
        }
    }

    /// Reads, and takes the time from the first byte to the last. On its loop's thread.
    private final class Sink {
        private(set) var listener: Listener?
        private let loop: EventLoop
        private let seconds: Promise<Result<Double, NodeError>>
        private var socket: Socket?
        private var watch: Watch?
        private var left: Int
        private var began: ContinuousClock.Instant?

        init(
            _ bytes: Int, name: NetworkAddress, loop: EventLoop,
            seconds: Promise<Result<Double, NodeError>>
        ) throws {
            left = bytes
            self.loop = loop
            self.seconds = seconds
            listener = try Listener(
                on: name.resolved(for: .listening), name: name, loop: loop
            ) { [weak self] in self?.accept($0) }
        }

        private func accept(_ socket: Socket) {
            self.socket = socket
            watch = loop.watch(socket.descriptor, for: .read) { [weak self] _ in self?.read() }
        }

        private func read() {
            guard left > 0, case .bytes(let count)? = socket?.read(into: loop.scratch) else {
                return
            }
            let start = began ?? .now
            began = start
            left -= count
            if left <= 0 { seconds.keep(.success((.now - start) / .seconds(1))) }
        }

        func end() {
            if let watch { loop.end(watch) }
            socket?.close()
            listener?.end()
        }
    }

    /// Writes. On its loop's thread.
    private final class Source {
        private let loop: EventLoop
        private var dial: Dial?
        private var socket: Socket?
        private var watch: Watch?
        private var left: Int

        init(
            _ bytes: Int, addresses: [SocketAddress], name: NetworkAddress, loop: EventLoop,
            seconds: Promise<Result<Double, NodeError>>
        ) {
            left = bytes
            self.loop = loop
            dial = Dial(addresses, name: name, patience: Limits.handshake, loop: loop) {
                [weak self] result in
                switch result {
                case .success(let socket): self?.begin(socket)
                case .failure(let error): seconds.keep(.failure(error))
                }
            }
        }

        private func begin(_ socket: Socket) {
            self.socket = socket
            watch = loop.watch(socket.descriptor, for: .write) { [weak self] _ in self?.write() }
        }

        private func write() {
            let piece = UnsafeRawBufferPointer(
                rebasing: loop.scratch[..<min(left, loop.scratch.count)])
            if piece.isEmpty {
                if let watch { loop.change(watch, to: []) }
            } else if case .bytes(let count)? = socket?.write(piece) {
                left -= count
            }
        }

        func end() {
            if let watch { loop.end(watch) }
            socket?.close()
        }
    }
}
