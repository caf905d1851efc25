import SkeinBasics

/// Why a dialler is not let in.
package enum HandshakeError: Error, Sendable, Equatable {
    /// The coordinator does not know the token.
    case coordinatorNotAuthentic
    case rejected(Rejection)
    /// The coordinator speaks another major version.
    case majorVersion(found: UInt8)
    /// The coordinator chose a minor version that was not on offer.
    case minorVersion(offered: ClosedRange<UInt8>, chosen: UInt8)
    /// The coordinator sent this out of turn.
    case unexpected(MessageType)
}

extension HandshakeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .coordinatorNotAuthentic:
            Explanation(
                what: "the coordinator could not prove that it knows the token",
                remedy: "check the address, and that both sides read the same token file",
                status: .badData)
        case .rejected(let rejection):
            Explanation(
                what: "the coordinator refused (\(rejection.code.name)): \(rejection.reason)",
                remedy: rejection.code.remedy, status: rejection.code.exitStatus)
        case .majorVersion(let found):
            Explanation(
                what: "the coordinator speaks version \(found) of the protocol, this is version "
                    + "\(ProtocolVersion.major)",
                remedy: RejectCode.version.remedy, status: .badData)
        case .minorVersion(let offered, let chosen):
            Explanation(
                what: "the coordinator chose protocol minor version \(chosen), not one of "
                    + "\(offered.lowerBound) to \(offered.upperBound)",
                remedy: RejectCode.version.remedy, status: .badData)
        case .unexpected(let type):
            Explanation(
                what: "the coordinator sent \(type.name) out of turn",
                remedy: RejectCode.protocolViolation.remedy, status: .badData)
        }
    }
}
