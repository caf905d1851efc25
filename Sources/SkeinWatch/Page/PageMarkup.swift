/// The status page's HTML. Text that changes is filled in by `PageScript`, never as markup.
enum PageMarkup {
    static let body = #"""
        <a class="skip" href="#main">Skip to the run</a>
        <header>
          <h1><span class="brand">Skein</span> <span id="output"></span></h1>
          <p id="link" class="link" data-state="waiting">connecting …</p>
        </header>
        <form id="ask" hidden>
          <label for="token">This page needs the status token</label>
          <input id="token" type="password" autocomplete="off" spellcheck="false">
          <button>Show the run</button>
        </form>
        <main id="main" tabindex="-1">
          <section aria-labelledby="h-now">
            <h2 id="h-now" class="quiet">Now</h2>
            <p id="why" class="why">…</p>
            <p id="news" class="hidden" role="status"></p>
            <label class="bar"><span id="phase">starting</span>
              <progress id="progress" max="1" value="0"></progress></label>
            <dl id="tiles" class="tiles"></dl>
          </section>
          <section aria-labelledby="h-curves">
            <h2 id="h-curves">Curves</h2>
            <p class="hint">A curve that has the focus is read with the arrow keys.</p>
            <div id="charts" class="charts"></div>
            <details><summary>The last steps as figures</summary>
              <div class="scroll" tabindex="0" role="region" aria-label="Figures of the last steps">
                <table><thead><tr><th>step</th><th>loss</th><th>learning rate</th><th>gradient norm</th>
                <th>tokens/s</th><th>seconds</th><th class="cluster">workers</th></tr></thead>
                <tbody id="figures"></tbody></table></div></details>
          </section>
          <section aria-labelledby="h-workers" id="s-workers">
            <h2 id="h-workers">Workers <span id="worker-count" class="count"></span></h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Table of workers">
              <table><thead><tr><th>worker</th><th>state</th><th>computes</th><th>threads</th><th>tokens/s</th>
              <th>heard</th><th>accepted</th><th>refused</th><th>lost</th><th>address</th></tr></thead>
              <tbody id="workers"></tbody></table></div>
          </section>
          <section aria-labelledby="h-timeline">
            <h2 id="h-timeline">Last steps</h2>
            <p class="hint cluster">Who computed what, from the opening of a step to its end; the last column says
              whose result came last, and how long after those of the others.</p>
            <div class="scroll" tabindex="0" role="region" aria-label="Table of the last steps">
              <table class="timeline"><thead><tr><th>step</th><th>seconds</th><th>who computed</th>
              <th class="cluster">last result</th></tr></thead><tbody id="rounds"></tbody></table></div>
          </section>
          <section aria-labelledby="h-samples" id="s-samples" hidden>
            <h2 id="h-samples">Samples</h2>
            <div id="samples"></div>
          </section>
          <section aria-labelledby="h-ledger">
            <h2 id="h-ledger">Ledger <span class="cluster">and leases</span></h2>
            <dl id="ledger" class="tiles"></dl>
          </section>
          <section aria-labelledby="h-data" id="s-data" hidden>
            <h2 id="h-data">Data</h2>
            <dl id="data" class="tiles"></dl>
            <ul id="warnings" class="warnings"></ul>
            <details open><summary>Rows as they are trained; what carries loss is marked</summary>
              <div id="rows"></div></details>
          </section>
        </main>
        <noscript><p>This page draws with JavaScript. <a href="/status.json">status.json</a> has the same facts.</p>
        </noscript>
        """#
}
