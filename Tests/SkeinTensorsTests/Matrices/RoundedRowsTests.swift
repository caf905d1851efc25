import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Rounding in place, and the distance between rows.
@Suite struct RoundedRowsTests {
    @Test("no rows that a product reads together are a multiple of 4 KiB apart")
    func strides() {
        for columns in Array(1...9000) + Array(stride(from: 9216, through: 262_144, by: 512)) {
            let rounded = RoundedRows.stride(columns: columns)
            #expect(rounded >= columns && rounded % 2 == 0 && rounded * 2 % 4096 != 0)
            let thin = LowRank.stride(columns: columns)
            #expect(thin >= columns && thin * 4 % 4096 != 0, "\(columns)")
        }
    }

    @Test(
        "rows rounded in place equal rows rounded elsewhere",
        arguments: [1, 2, 3, 31, 64, 65, 320, 2048, 4097])
    func replacing(columns: Int) {
        let rows = 13
        let numbers = CentralDifference.numbers(rows * columns, seed: 3, stream: 1, spread: 4)
        let source = FloatBuffer(count: rows * columns)
        let scratch = FloatBuffer(count: RoundedRows.bytes(rows: rows, columns: columns) / 4)
        for (i, number) in numbers.enumerated() { source.base[i] = number }
        let elsewhere = RoundedRows(
            rounding: source.base, stride: columns, rows: rows, columns: columns,
            in: scratch.base)
        let here = RoundedRows(replacing: source.base, rows: rows, columns: columns)
        #expect(here.stride >= columns && here.stride * 2 <= max(4, 4 * columns))
        for row in 0..<rows {
            for column in 0..<columns {
                #expect(
                    here.base[row * here.stride + column]
                        == elsewhere.base[row * elsewhere.stride + column])
            }
            if columns % 2 == 1 { #expect(here.base[row * here.stride + columns] == 0) }
        }
    }
}
