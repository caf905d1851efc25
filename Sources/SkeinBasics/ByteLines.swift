import Foundation

/// The lines of a buffer without their line ends, numbered from 1. No bytes are copied.
package struct ByteLines: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer
    private var number = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    package mutating func next() -> (number: Int, line: UnsafeRawBufferPointer)? {
        guard let base = rest.baseAddress, !rest.isEmpty else { return nil }
        number += 1
        let newline = memchr(base, 0x0A, rest.count).map { UnsafeRawPointer($0) - base }
        let end = newline ?? rest.count
        var line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
        if line.last == 0x0D { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
        return (number, line)
    }
}
