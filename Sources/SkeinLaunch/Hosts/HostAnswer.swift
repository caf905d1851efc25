import SkeinBasics

/// What a host has said to `HostScript`, read line by line. Pure.
///
/// Everything in it comes from another machine: lines have a limit, and texts are made plain.
struct HostAnswer: Sendable, Equatable {
    /// `Linux x86_64`; nil: the script did not begin.
    var system: String?
    /// The host's clock, in seconds since 1970.
    var unixTime: Int?
    /// The host has no `skein`.
    var isAbsent = false
    /// Where `skein` is there, as its shell finds it.
    var path: String?
    var report: MachineReport?
    /// What a `skein` without reports prints: `0.0.9`.
    var oldVersion: String?
    /// With which `skein --version` ended there.
    var status: Int?
    /// The release was there before.
    var isPresent = false
    /// The release is being copied.
    var isCopying = false
    /// The release arrived whole.
    var isReceived = false
    /// What went wrong with the copy: a word of the script.
    var failure: String?

    private var partial: [UInt8] = []

    /// - Parameter bytes: the next ones of the host's standard output.
    mutating func read(_ bytes: [UInt8]) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                line(partial)
                partial.removeAll(keepingCapacity: true)
            } else if partial.count <= Limits.answerLineBytes {
                partial.append(byte)
            }
        }
    }

    private mutating func line(_ bytes: [UInt8]) {
        guard bytes.count <= Limits.answerLineBytes else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(HostScript.mark + " ") else {
            // Only what comes after the path can be of skein itself.
            if path != nil, status == nil { version(bytes, text) }
            return
        }
        let words = text.dropFirst(HostScript.mark.count + 1)
        let key = words.prefix { $0 != " " }
        let value = String(words.dropFirst(key.count + 1))
        switch key {
        case "system": system = system ?? PlainText.of(value)
        case "time": unixTime = Int(value)
        case "absent": isAbsent = true
        case "path" where !value.isEmpty && !value.contains("\0"): path = value
        case "status": status = Int(value)
        case "present": isPresent = true
        case "copying": isCopying = true
        case "received": isReceived = true
        case "failed": failure = PlainText.of(value)
        default: break
        }
    }

    private mutating func version(_ bytes: [UInt8], _ text: String) {
        if text.hasPrefix("{") {
            report = report ?? MachineReport(line: bytes)
        } else if text.hasPrefix("skein ") {
            oldVersion = PlainText.of(String(text.dropFirst(6)))
        }
    }
}
