import SkeinBasics

/// Names of calls: functions of the request's own name and the call's number.
package enum CallID {
    package enum Style: Sendable, Equatable {
        /// "call_" and 24 hexadecimal digits, as OpenAI's.
        case openAI
        /// Nine letters and digits: templates of Mistral refuse anything else.
        case mistral
    }

    package static func make(
        request: String, index: Int, style: Style = .openAI
    ) -> String {
        id(of: "skein call\n\(index)\n\(request)", style)
    }

    /// The same name in the style of a model; one that fits is kept.
    package static func restyled(_ id: String, _ style: Style) -> String {
        switch style {
        case .openAI: id
        case .mistral:
            isMistral(id) ? id : Self.id(of: "skein call id\n\(id)", style)
        }
    }

    private static func isMistral(_ id: String) -> Bool {
        id.utf8.count == 9 && id.utf8.allSatisfy { alphanumerics.contains($0) }
    }

    private static let alphanumerics = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private static func id(of text: String, _ style: Style) -> String {
        let digest = SHA256.digest(of: Array(text.utf8))
        switch style {
        case .openAI: return "call_" + digest.description.prefix(24)
        case .mistral:
            var number = digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            var id: [UInt8] = []
            for _ in 0..<9 {
                id.append(alphanumerics[Int(number % 62)])
                number /= 62
            }
            return String(decoding: id, as: UTF8.self)
        }
    }
}
