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
        do throws(GenerableCheck.Refusals) {
            let type = try type(of: request)
            switch request.role {
            case "member": return AttachedExpansion(source: type.members)
            case "extension":
                return AttachedExpansion(
                    source: type.conformance(
                        of: request.extendedType, addsProtocol: !request.conformances.isEmpty))
            default: return AttachedExpansion()
            }
        } catch {
            return told(error.list, in: request.role)
        }
    }

    private static func type(
        of request: AttachedRequest
    ) throws(GenerableCheck.Refusals) -> GenerableType {
        let declaration: Declaration
        do throws(Refusal) {
            declaration = try DeclarationReader.read(request.declaration)
        } catch {
            throw GenerableCheck.Refusals(list: [error])
        }
        return try GenerableCheck.type(
            of: declaration, attribute: request.attribute,
            attributeOffset: request.attributeOffset &- request.offset,
            surroundings: request.surroundings)
    }

    /// The compiler asks for each role; one of them tells what is wrong.
    private static func told(_ refusals: [Refusal], in role: String) -> AttachedExpansion {
        AttachedExpansion(refusals: role == "member" ? refusals : [])
    }
}
