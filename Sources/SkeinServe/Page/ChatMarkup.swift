/// The chat page's HTML. Models, conversations and errors are filled in by the script, never as
/// markup.
enum ChatMarkup {
    static let body = #"""
        <a class="skip" href="#prompt">Skip to the message</a>
        <header>
          <h1>Skein <span>chat</span></h1>
          <p class="link" id="link" data-state="waiting">connecting …</p>
          <button type="button" id="reload" hidden>Try again</button>
        </header>
        <main>
          <form id="ask" hidden>
            <p id="ask-why">This server asks for an API key.</p>
            <label for="key">API key</label>
            <input id="key" type="password" autocomplete="off" spellcheck="false"
              aria-describedby="ask-why">
            <button>Use this key</button>
          </form>
          <form id="controls">
            <div class="bar">
              <label>Model <select id="model"></select></label>
              <label id="both-label" class="check" hidden>
                <input type="checkbox" id="both"> Side by side with the base model</label>
            </div>
            <details id="settings">
              <summary>Settings<span id="uses"></span></summary>
              <div class="settings">
                <label class="wide">System prompt
                  <textarea id="system" rows="2"></textarea></label>
                <label>Temperature
                  <input id="temperature" type="number" min="0" max="2" step="any"
                    placeholder="the server's" inputmode="decimal"></label>
                <label>Max tokens
                  <input id="max-tokens" type="number" min="1" step="1"
                    placeholder="the server's" inputmode="numeric"></label>
                <label>Seed
                  <input id="seed" type="number" min="0" max="9007199254740991" step="1"
                    placeholder="another each time" inputmode="numeric"></label>
                <label class="wide">JSON Schema that answers are held to
                  <textarea id="schema" rows="2" spellcheck="false" class="code"
                    placeholder="none: answers are free text"></textarea></label>
                <p id="forget-line" class="wide" hidden>
                  <button type="button" id="forget">Forget the API key</button></p>
              </div>
            </details>
          </form>
          <div id="columns" class="columns"></div>
          <form id="compose">
            <label for="prompt" class="hidden">Message</label>
            <textarea id="prompt" rows="2" placeholder="Message" dir="auto"
              aria-describedby="keys"></textarea>
            <div class="bar">
              <button id="send" class="main">Send</button>
              <button type="button" id="stop" class="main" hidden>Stop</button>
              <button type="button" id="again">Regenerate</button>
              <button type="button" id="clear">Clear</button>
              <span id="keys" class="hint">Enter sends, Shift+Enter starts a new line, Escape stops.
                Conversations are gone once the page is closed.</span>
            </div>
          </form>
          <p id="news" class="hidden" role="status"></p>
        </main>
        <noscript><p>This page talks to the server with JavaScript. The same server answers OpenAI's
        clients at <code>/v1</code>.</p></noscript>
        """#
}
