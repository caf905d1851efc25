import Foundation

/// Where tests find fixtures, the fetched model and a place to write.
package enum TestPaths {
    /// A file under Tests/Fixtures.
    package static func fixture(_ name: String) -> String {
        let here = URL(fileURLWithPath: #filePath)
        return here.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures").appendingPathComponent(name).path
    }

    package struct NoBinary: Error {
        package var searched: String
    }

    /// The `skein` that was built beside the tests.
    package static var binary: String {
        get throws { try built("skein") }
    }

    /// The `skein-lab` that was built beside the tests.
    package static var lab: String {
        get throws { try built("skein-lab") }
    }

    /// The `skein-fetch` that was built beside the tests, unless SKEIN_FETCH names another.
    package static var fetcher: String {
        get throws {
            try ProcessInfo.processInfo.environment["SKEIN_FETCH"] ?? built("skein-fetch")
        }
    }

    private static func built(_ name: String) throws -> String {
        var directory = URL(fileURLWithPath: Bundle.main.executablePath ?? "")
        // The test bundle is a file beside the binary on Linux and a folder on macOS.
        for _ in 0..<4 {
            directory.deleteLastPathComponent()
            let file = directory.appendingPathComponent(name).path
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
                !isDirectory.boolValue
            {
                return file
            }
        }
        throw NoBinary(searched: Bundle.main.executablePath ?? "")
    }

    /// The real model that Scripts/fetch-model fetched, or nil if it was not fetched.
    ///
    /// Scripts/test fetches it before the tests run and passes its path in SKEIN_TEST_MODEL.
    package static var model: String? {
        ProcessInfo.processInfo.environment["SKEIN_TEST_MODEL"]
    }

    /// The real data that Scripts/fetch-data fetched (SKEIN_TEST_DATA), or nil.
    package static var data: String? {
        ProcessInfo.processInfo.environment["SKEIN_TEST_DATA"]
    }

    /// Runs `body` with a new empty directory and removes it afterwards.
    package static func withTemporaryDirectory<Result>(
        _ body: (String) throws -> Result
    ) throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }

    /// Like `withTemporaryDirectory`, for an asynchronous `body`.
    package static func inTemporaryDirectory<Result>(
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }
}
