import Foundation

/// An MLflow server on loopback (`Tests/Fixtures/mlflow/fake_mlflow.py`), as long as `with` runs.
package struct MLflowOnLoopback {
    package let directory: String
    package let url: String

    package struct NotStarted: Error {}

    package static func with(_ body: (MLflowOnLoopback) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", TestPaths.fixture("mlflow/fake_mlflow.py"), directory]
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            defer {
                try? input.fileHandleForWriting.close()
                process.waitUntilExit()
            }
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw NotStarted()
            }
            try body(
                MLflowOnLoopback(directory: directory, url: "http://127.0.0.1:\(port)"))
        }
    }

    /// Switches a fault on or off.
    package func set(_ fault: String, _ isOn: Bool) throws {
        let path = directory + "/" + fault
        if isOn {
            try Data().write(to: URL(fileURLWithPath: path))
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// A script that runs `skein-fetch` with other variables.
    package func fetcher(_ variables: [String: String]) throws -> String {
        let path = directory + "/fetch-\(UUID().uuidString)"
        let exports = variables.map { "export \($0.key)='\($0.value)'\n" }.sorted().joined()
        try ShellScript.write("\(exports)exec '\(try TestPaths.fetcher)' \"$@\"\n", at: path)
        return path
    }

    package struct Run: Decodable {
        package struct Metric: Decodable {
            package var key: String
            package var value: Double
            package var step: Int
        }
        package var name: String
        package var status: String
        package var tags: [String: String]
        package var params: [String: String]
        package var metrics: [Metric]
    }

    /// What the server was told.
    package var runs: [Run] {
        get throws {
            struct Store: Decodable { var runs: [String: Run] }
            let path = directory + "/store.json"
            guard let data = FileManager.default.contents(atPath: path) else { return [] }
            return Array(try JSONDecoder().decode(Store.self, from: data).runs.values)
        }
    }
}
