/// The compiler plugin for `@Generable` and `@Guide`: a program that the compiler starts once for
/// each compilation and asks, over its standard input, what each attribute expands to.
@main
struct SkeinMacros {
    static func main() {
        let wire = PluginWire(input: 0, output: 1)
        while let message = wire.receive(), let answer = PluginAnswer.reply(to: message) {
            guard wire.send(answer) else { return }
        }
    }
}
