import Foundation

/// A program of samples: `PROGRAM [--no-model] [NAME]...`, or `PROGRAM --list`.
public enum SampleProgram {
    /// Runs the named samples, or all, and ends the process: with 0 if all went well, with 1 and the
    /// names of those that failed, with 64 if there is no sample of a name.
    ///
    /// - Parameter samples: of this program, in their order.
    public static func run(_ samples: [Sample]) async -> Never {
        var names = Array(CommandLine.arguments.dropFirst())
        if names == ["--list"] {
            for sample in samples { print(sample.name) }
            exit(0)
        }
        let hasModel = !names.contains("--no-model")
        names.removeAll { $0 == "--no-model" }
        for name in names where !samples.contains(where: { $0.name == name }) {
            complain("there is no sample \(name); --list names all")
            exit(64)
        }
        var failed: [String] = []
        for sample in samples where names.isEmpty || names.contains(sample.name) {
            guard hasModel || !sample.needsModel else { continue }
            print("== \(sample.name)")
            let start = ContinuousClock.now
            do {
                try await sample.body()
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                print("== \(sample.name): ok, \(Int(seconds * 1000)) ms")
            } catch {
                complain("\(sample.name): \(error)")
                failed.append(sample.name)
            }
        }
        guard failed.isEmpty else {
            complain("failed: \(failed.joined(separator: " "))")
            exit(1)
        }
        exit(0)
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("error: \(text)\n".utf8))
    }
}
