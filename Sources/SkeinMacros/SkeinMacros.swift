import SkeinMacroKit

/// The compiler plugin for `@Generable` and `@Guide`: a program that the compiler starts once for
/// each compilation and asks, over its standard input, what each attribute expands to.
///
/// All of it is in SkeinMacroKit: what depends on a macro itself is built for the compiler's machine,
/// and tests that did were built twice with all that they test.
@main
struct SkeinMacros {
    static func main() { PluginProcess.run() }
}
