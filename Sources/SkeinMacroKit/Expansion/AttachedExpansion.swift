/// What an attribute expands to in one of its roles: source, or refusals.
struct AttachedExpansion: Equatable {
    var source = ""
    var refusals: [Refusal] = []

    static func of(_ request: AttachedRequest) -> AttachedExpansion {
        switch request.macro {
        // A guide is read by the type that it stands in; alone it adds nothing.
        case "GuideMacro": return AttachedExpansion()
        case "GenerableMacro": break
        default:
            return AttachedExpansion(refusals: [Refusal(.unknownMacro(request.macro), at: 0)])
        }
        do {
            let type = try type(of: request)
            switch request.role {
            case "member": return AttachedExpansion(source: type.members)
            case "extension":
                return AttachedExpansion(
                    source: type.conformance(
                        of: request.extendedType, addsProtocol: !request.conformances.isEmpty))
            default: return AttachedExpansion()
            }
        } catch let refusals as GenerableCheck.Refusals {
            return told(refusals.list, in: request.role)
        } catch let refusal as Refusal {
            return told([refusal], in: request.role)
        } catch {
            return AttachedExpansion()
        }
    }

    private static func type(of request: AttachedRequest) throws -> GenerableType {
        try GenerableCheck.type(
            of: DeclarationReader.read(request.declaration), attribute: request.attribute,
            attributeOffset: request.attributeOffset &- request.offset,
            surroundings: request.surroundings)
    }

    /// The compiler asks for each role; one of them tells what is wrong.
    private static func told(_ refusals: [Refusal], in role: String) -> AttachedExpansion {
        AttachedExpansion(refusals: role == "member" ? refusals : [])
    }
}
