import Foundation

#if os(Linux)
    import CSkeinSystem
#endif

/// Pipes and sockets of tests that no child inherits: another test may start one at any moment, and
/// an end that it holds keeps the other end from being told.
package enum ClosingDescriptors {
    /// A pipe. The caller closes both ends.
    package static func pipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            precondition(pipe2(&ends, O_CLOEXEC) == 0, "no pipe: \(errno)")
        #else
            precondition(Foundation.pipe(&ends) == 0, "no pipe: \(errno)")
            close(ends)
        #endif
        return (ends[0], ends[1])
    }

    /// Two sockets that are connected to each other.
    package static func socketPair() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, stream, 0, &ends) == 0, "no sockets: \(errno)")
        #if !os(Linux)
            close(ends)
        #endif
        return (ends[0], ends[1])
    }

    /// A socket for TCP over IPv4.
    package static func socket() -> Int32 {
        let end = Foundation.socket(AF_INET, stream, 0)
        precondition(end >= 0, "no socket: \(errno)")
        #if !os(Linux)
            close([end])
        #endif
        return end
    }

    #if os(Linux)
        private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
        private static let stream = SOCK_STREAM

        /// Has them closed in children, where that cannot be said when they are made.
        private static func close(_ ends: [Int32]) {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
    #endif
}
