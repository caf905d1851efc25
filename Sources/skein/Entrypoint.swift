import Commands

@main
enum Entrypoint {
    static func main() {}
}
