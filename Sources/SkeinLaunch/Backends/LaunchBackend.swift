/// A place where workers run. All that differs between places is in the types that conform to it.
///
/// Each worker has a child of launch: the worker itself, or a program that represents it, such as
/// ssh, srun or mpirun. That child passes the worker's lines on and ends when the worker does, with
/// its status. So one `Supervision` and one `Launcher` serve every place.
package protocol LaunchBackend: Sendable {
    /// The program that starts a worker there.
    ///
    /// - Parameter words: the path of `skein` there, the command and its options. The token is not
    ///   among them: it must reach the worker in a way that others on its host cannot see.
    /// - Returns: the program to start here.
    func program(_ words: [String]) -> ChildProgram

    /// Ends a worker that `program` started.
    ///
    /// - Parameters:
    ///   - child: the worker, or the program that represents it here.
    ///   - isForced: whether to kill it; else it may leave in good order.
    func stop(_ child: ChildProcess, isForced: Bool)
}

/// A program with its arguments, and the beginning of its standard input.
package struct ChildProgram: Sendable, Equatable {
    package var words: [String]
    var input: [UInt8] = []
}
