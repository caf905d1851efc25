/// Names of types as people wrote them.
enum TypeName {
    /// The name without the types and modules around it.
    ///
    /// A qualified name of a private type has an address in it, which differs from run to run.
    static func of(_ type: any Any.Type) -> String { String(describing: type) }
}
