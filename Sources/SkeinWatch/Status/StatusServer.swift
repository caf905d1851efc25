import SkeinBasics
import SkeinCluster
import SkeinNetwork

/// Where a run can be seen (`--status`), and with which token.
package struct StatusOptions: Sendable, Equatable {
    /// `HOST:PORT`; port 0 lets the system choose.
    package var listen: String
    /// nil: only this machine may reach the address.
    package var token: [UInt8]?

    package init(listen: String, token: [UInt8]? = nil) {
        self.listen = listen
        self.token = token
    }

    /// A token that the header of a request, and so a browser, can carry.
    ///
    /// - Parameters:
    ///   - bytes: of a token file, read and checked as every one.
    ///   - path: of the file, for errors.
    ///   - clusterToken: the one that workers have, which must be another.
    /// - Returns: the token.
    /// - Throws: `WatchError.tokenNotPrintable`, `.tokenIsClusters`.
    package static func token(
        _ bytes: [UInt8], path: String, clusterToken: [UInt8]?
    ) throws(WatchError) -> [UInt8] {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .tokenNotPrintable(path: path)
        }
        if let clusterToken, ConstantTime.areEqual(bytes, clusterToken) {
            throw .tokenIsClusters(path: path)
        }
        return bytes
    }
}

/// A run's page, metrics and status over HTTP, on a thread of its own.
package final class StatusServer: Sendable {
    private let server: HTTPServer
    /// The bound address, `HOST:PORT`.
    package let address: String

    /// Binds the port and begins to answer; the board may still be empty.
    ///
    /// - Parameters:
    ///   - board: the run.
    ///   - options: where, and who may look.
    /// - Throws: `SocketError`; `WatchError.tokenRequired` for an address that others reach.
    package init(board: RunBoard, options: StatusOptions) throws {
        let name = try NetworkAddress(parsing: options.listen)
        let addresses = try name.resolved(for: .listening)
        let access = StatusAccess(token: options.token, host: name.host)
        server = try HTTPServer(on: addresses, name: name) { clock in
            StatusSite(board: board, access: access, version: Version.text, loop: clock)
        }
        address = server.address
        guard options.token != nil || server.isLoopback else {
            server.stop()
            throw WatchError.tokenRequired(address: address)
        }
    }

    /// `http://HOST:PORT/`, as a browser takes it.
    package var url: String { "http://\(address)/" }

    /// Clients that are connected now.
    package func connectionCount() throws -> Int { try server.connectionCount() }

    /// Processor seconds of the server's thread so far.
    package func processorSeconds() throws -> Double {
        try server.call { ProcessFigures.threadProcessorSeconds ?? 0 }
    }

    /// Sends the last state to those who follow, and ends the thread.
    package func stop() { server.stop(grace: Limits.farewell) }
}
