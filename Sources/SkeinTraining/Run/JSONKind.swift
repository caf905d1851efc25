import Foundation

/// Names the type of a value that JSONSerialization returned, for error messages.
enum JSONKind {
    static func name(of value: Any) -> String {
        switch value {
        case is String: "a string"
        case is [Any]: "a list"
        case is [String: Any]: "an object"
        case is NSNull: "null"
        case let number as NSNumber: isBool(number) ? "true or false" : "a number"
        default: "something else"
        }
    }

    /// JSONSerialization returns booleans as numbers; only their C type tells them apart.
    static func isBool(_ number: NSNumber) -> Bool {
        number.objCType.pointee == CChar(UInt8(ascii: "c"))
    }

    /// The parser's own message about where the text stops being JSON.
    static func remark(on error: any Error) -> String {
        let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
        return (detail ?? "unexpected character").trimmingCharacters(in: ["."])
    }
}
