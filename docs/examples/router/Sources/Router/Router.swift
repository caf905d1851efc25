import Foundation
import Routing
import Synchronization

@main enum Router {
    static func main() async {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            if arguments.wantsHelp { return print(Arguments.help) }
            let router = try ChatRouter(
                providers: arguments.providers, conversation: arguments.conversation,
                policy: arguments.policy, memory: arguments.memory, patience: arguments.patience,
                file: arguments.file)
            // What the options change lasts, and a file that cannot be written is no surprise after an answer.
            try await router.save()
            await chat(router)
        } catch {
            Console.complain("error: \(error)\n  see Router --help")
            exit(64)
        }
    }

    private static func chat(_ router: ChatRouter) async {
        let console = Console()
        // For scripts: whether the last question has an answer.
        let hasAnswered = Atomic(true)
        for await line in console.lines() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("/") {
                await obey(line.split(separator: " ").map(String.init), router)
                continue
            }
            await console.answering {
                let went = await show(router.ask(line))
                hasAnswered.store(went, ordering: .sequentiallyConsistent)
            }
        }
        // A stopped answer is in its file first.
        await router.settle()
        exit(hasAnswered.load(ordering: .sequentiallyConsistent) ? 0 : 1)
    }

    /// Prints an answer while it is written, and in brackets what happens on the way.
    private static func show(_ events: AsyncThrowingStream<ChatRouter.Event, any Error>) async
        -> Bool
    {
        do {
            for try await event in events {
                switch event {
                case .passedOver(let provider, let reason):
                    Console.note("[\(provider) is passed over: \(reason)]")
                case .asking(let provider, let why): Console.note("[\(provider): \(why)]")
                case .leftOut(let turns, let summary, let whyNot):
                    let told = summary.map { "they are told as: \($0)" }
                    Console.note(
                        "[\(turns) old turns have no room; "
                            + "\(told ?? "no summary: \(whyNot ?? "")")]")
                case .text(let piece): Console.say(Console.harmless(piece), end: "")
                case .failed(let provider, let reason, let shown):
                    if shown > 0 { Console.say("") }
                    Console.note(
                        "[\(shown > 0 ? "this is void; " : "")\(provider) has not answered: \(reason)]"
                    )
                case .answered: Console.say("")
                }
            }
            // The stream of a cancelled task ends without a word.
            if Task.isCancelled { Console.note("\n[stopped]") }
            return !Task.isCancelled
        } catch is CancellationError {
            Console.note("\n[stopped]")
            return false
        } catch {
            Console.say("")
            Console.complain("error: \(error)")
            return false
        }
    }

    private static func obey(_ words: [String], _ router: ChatRouter) async {
        do {
            switch (words[0], words.count) {
            case ("/use", 2): try await router.choose(words[1])
            case ("/auto", 1): try await router.choose(nil)
            case ("/private", 1): try await router.makePrivate()
            case ("/forget", 1): try await router.forget()
            case ("/routes", 1):
                for (number, route) in await router.routes.enumerated() {
                    Console.say("\(number + 1). \(route.inWords)")
                }
            case ("/help", _): Console.say(Arguments.help)
            default:
                Console.complain("there is no \(words.joined(separator: " ")); /help names all")
            }
        } catch {
            Console.complain("error: \(error)")
        }
    }
}
