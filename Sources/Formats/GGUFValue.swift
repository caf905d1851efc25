/// One metadata value of a GGUF file. Integer arrays of any width are `.integers`.
public enum GGUFValue: Sendable, Equatable {
    case unsigned(UInt64)
    case integer(Int64)
    case float(Double)
    case bool(Bool)
    case string(String)
    case strings([String])
    case integers([Int64])
    case floats([Float])
    case bools([Bool])
}
