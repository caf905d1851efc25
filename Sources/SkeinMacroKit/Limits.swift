/// What a message of the compiler may take. The compiler is no stranger, but a mistake on either
/// side must end in an error that says so, not in a build that hangs or eats the machine.
enum MacroLimits {
    /// Bytes of one message: a declaration and the declarations around it, as JSON.
    static let messageBytes = 1 << 26
    /// Bytes that are asked of the pipe at a time, so that a wrong length allocates nothing.
    static let readBytes = 1 << 16
    /// How deep JSON may be nested; messages of protocol version 7 need eight levels.
    static let jsonDepth = 64
    /// Texts inside the interpolations of texts.
    static let textDepth = 32
    /// Tokens between `<` and `>`, so that a long row of `<` is not searched again from each of them.
    static let angleTokens = 256
    /// Refusals that are told for one declaration.
    static let refusals = 20
}
