import Foundation
import SkeinBasics

/// The register rates of this processor on disk, so that a start measures them once.
///
/// A file of 150 bytes for each kind of processor, level of kernels and version of Skein: a home
/// directory may be shared by different machines. Nothing in it is trusted: what is damaged is measured
/// again. It can be removed at any time.
package struct RegisterRateCache: Sendable {
    /// Raised when another loop is measured, or another text is written.
    private static let format = 1
    private static let suffix = ".rates"
    /// More kinds of processors, levels and versions than one home directory sees.
    private static let fileLimit = 64
    /// A digest and three numbers.
    private static let byteLimit = 256

    private let folder: CacheFolder
    /// nil where the processor does not say what it is: another one could say the same.
    private let key: SHA256.Digest?

    /// - Parameters:
    ///   - directory: need not exist. By default `rates` in the cache directory.
    ///   - processor: what identifies the processor.
    ///   - level: that of the kernels.
    package init(
        directory: String = FilePath.join(CacheDirectory.root, "rates"),
        processor: [String] = SystemProcessors.identity, level: ProcessorLevel = .current
    ) {
        folder = CacheFolder(directory, suffix: Self.suffix, fileLimit: Self.fileLimit)
        let parts = ["rates \(Self.format)", Version.text, level.rawValue] + processor
        key = processor.isEmpty ? nil : SHA256.digest(of: parts.joined(separator: "\n"))
    }

    /// The file of this processor.
    package var path: String? { key.map { folder.path(of: $0) } }

    /// The rates, read or else measured and written.
    ///
    /// - Parameter measure: called where no usable file is.
    /// - Returns: the rates; and why they could not be read or written, which must stop nothing.
    package func rates(
        measure: () -> RegisterRates = { .measure() }
    ) -> (rates: RegisterRates, flaw: (any Error)?) {
        guard let key else { return (measure(), nil) }
        do {
            if let rates = try read(key) { return (rates, nil) }
        } catch {
            return (measure(), error)
        }
        let rates = measure()
        do {
            try write(rates, key)
            return (rates, nil)
        } catch {
            return (rates, error)
        }
    }

    /// The rates of a file; nil if there is none, or a damaged one.
    private func read(_ key: SHA256.Digest) throws -> RegisterRates? {
        let bytes: [UInt8]
        do {
            bytes = try RegularFile.bytes(
                of: folder.path(of: key), from: 0, limit: Self.byteLimit)
        } catch FileError.failed(_, _, ENOENT) {
            return nil
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count == 4 else { return nil }
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard numbers.count == 3, numbers.allSatisfy({ $0 > 0 }) else { return nil }
        let rates = RegisterRates(fp32: numbers[0], bf16: numbers[1], int8: numbers[2])
        return Array(Self.text(of: rates, key).utf8) == bytes ? rates : nil
    }

    private func write(_ rates: RegisterRates, _ key: SHA256.Digest) throws {
        let bytes = Array(Self.text(of: rates, key).utf8)
        try folder.write(key) { output in try bytes.withUnsafeBytes { try output.append($0) } }
    }

    /// The numbers behind a digest of them and of the key.
    private static func text(of rates: RegisterRates, _ key: SHA256.Digest) -> String {
        let numbers = "\(rates.fp32) \(rates.bf16) \(rates.int8)"
        return "\(SHA256.digest(of: "\(key) \(numbers)")) \(numbers)"
    }
}
