import SkeinNetwork

/// The server's chat page. It holds no facts of the server; its script asks `v1/models` and
/// `v1/chat/completions` beside it as any client does, so the page itself needs no API key.
enum ChatPage {
    /// Text can never become markup: `require-trusted-types-for` lets the browser refuse every
    /// `innerHTML`, in case that a later script has one.
    static let page = Page(
        title: "Skein chat", styles: [PageStyle.base, PageStyle.live, ChatStyle.text],
        body: ChatMarkup.body,
        scripts: [
            PageTools.text, ChatStream.text, ChatText.text, ChatTurns.text, ChatScript.text,
        ], policy: .sent(["require-trusted-types-for 'script'", "trusted-types 'none'"]))
}
