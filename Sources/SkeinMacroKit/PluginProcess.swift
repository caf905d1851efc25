/// The life of the compiler plugin: questions on standard input, answers on standard output.
package enum PluginProcess {
    /// Answers until the compiler has no more questions.
    package static func run() {
        let wire = PluginWire(input: 0, output: 1)
        while let message = wire.receive(), let answer = PluginAnswer.reply(to: message) {
            guard wire.send(answer) else { return }
        }
    }
}
