import SkeinBasics

/// A data file as a run uses it: its encoded rows, and what the report says about its lines.
package struct EncodedFile: Sendable, Equatable {
    /// Of the file's bytes.
    package let digest: SHA256.Digest
    package let lines: LineFacts
    package let encoded: EncodedRows
}
