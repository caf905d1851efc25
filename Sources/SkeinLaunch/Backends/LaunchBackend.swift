/// A place where workers run. All that differs between here and elsewhere stands in its types.
///
/// Wherever a worker computes, it is a child of launch: the worker itself, or a program that stands
/// for it, such as ssh, srun or mpirun. That child passes the worker's lines on and ends when and as
/// the worker does. So one `Supervision` and one `Launcher` serve every place.
package protocol LaunchBackend: Sendable {
    /// What starts a worker there.
    ///
    /// - Parameter words: `skein` as it is called there, the command and its options, but for the
    ///   token, which reaches the worker by a way that others on its host cannot see.
    /// - Returns: the program to start here.
    func program(_ words: [String]) -> ChildProgram

    /// Ends a worker that `program` started.
    ///
    /// - Parameters:
    ///   - child: the worker, or what stands for it here.
    ///   - isForced: whether it had its chance to leave in good order.
    func stop(_ child: ChildProcess, isForced: Bool)
}

/// A program with its arguments, and what it reads first.
package struct ChildProgram: Sendable, Equatable {
    package var words: [String]
    var input: [UInt8] = []
}
