import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinRows

/// Small files that stand for more than any machine holds.
@Suite struct EndlessParquetTests {
    private func rows(_ bytes: [UInt8]) throws -> Int {
        try bytes.withUnsafeBytes { bytes in
            var count = 0
            try ParquetTable(bytes).forEachRow(columns: nil) { _ in count += 1 }
            return count
        }
    }

    @Test("an empty row group may say that its pages are anywhere: they are not looked for")
    func emptyGroup() throws {
        let file = try #require(Data(base64Encoded: Self.emptyGroup.replacing("\n", with: "")))
        #expect(try rows(Array(file)) == 0)
    }

    @Test("more values than a file of its size may have are refused before the first row")
    func values() throws {
        let text = Self.nulls.replacing("\n", with: "")
        let file = try #require(Data(base64Encoded: text))
        let error = #expect(throws: TableProblem.self) { try rows(Array(file)) }
        guard case .tooLarge("values", _, _) = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test("rows that are together longer than a file of its size may have end the reading")
    func bytes() throws {
        let path = TestPaths.fixture("tables/flat-snappy-v1-dictionary.parquet")
        let file = try #require(FileManager.default.contents(atPath: path))
        try Array(file).withUnsafeBytes { bytes in
            let table = try ParquetTable(bytes)
            var given = 0
            let error = #expect(throws: TableProblem.self) {
                try table.forEachRow(columns: nil, budget: PageBudget(), mostBytes: 1000) { row in
                    given += try row.get().json.count
                }
            }
            guard case .tooLarge("bytes of all rows", 1000, _) = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(given > 0 && given <= 1000)
        }
        #expect(Limits.rowsBytes(of: 100) == (256 << 20) + 6400)
        #expect(Limits.rowsBytes(of: 1 << 40) == 8 << 30)
    }

    /// 101 bytes: no rows, and a page at 2^63 - 1.
    private static let emptyGroup = #"""
        UEFSMXh4eHgVBBksSAZzY2hlbWEVAgAVDCUAGAR0ZXh0JQAAFgAZHBkcJv7//////////wEcFQwZFQAZ
        GAR0ZXh0FQAWABYCFgIm/v//////////AQAAFgAWAAAAVQAAAFBBUjE=
        """#

    /// 1.3 kB: 2^31 rows of nothing.
    private static let nulls = #"""
        UEFSMRUAFRIVEiwVgICAQBUAFQYVBgAABQAAAICAgEAAFQQZLEgGc2NoZW1hFQIAFQwlAhgEdGV4dCUA
        ABaAgIDADxn8HxkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAZHCYIHBUMGRUA
        GRgEdGV4dBUAFoCAgEAWOhY6JggAABYAFoCAgEAAGRwmCBwVDBkVABkYBHRleHQVABaAgIBAFjoWOiYI
        AAAWABaAgIBAABkcJggcFQwZFQAZGAR0ZXh0FQAWgICAQBY6FjomCAAAFgAWgICAQAAA/gQAAFBBUjE=
        """#
}
