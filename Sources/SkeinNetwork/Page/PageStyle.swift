/// What pages look like, light and dark: pieces that a page's own style follows.
package enum PageStyle {
    /// Colours, type and the mark of what has the focus: of every page.
    package static let base = #"""
        :root { color-scheme: light dark; --ground: #fbfaf8; --card: #ffffff; --ink: #1c1b19; --quiet: #5c5953;
          --line: #dcd8d0; --one: #1f5fa8; --two: #b4451f; --three: #2c6e3f; --four: #7a3fc4; --five: #8a6100;
          --six: #a1215f; --seven: #0d6d78; --faint: #9db9da; --bad: #a8261c; --mark: #fde9b0;
          --on-one: #ffffff; --mine: #e6eef8; --code: #f1eee8; --good: var(--three); --focus: var(--four); }
        @media (prefers-color-scheme: dark) { :root { --ground: #161614; --card: #1f1e1c; --ink: #ecebe7;
          --quiet: #a9a59c; --line: #3a3834; --one: #7db4f2; --two: #f09a6c; --three: #84cf98;
          --four: #c49bff; --five: #e0bb5b; --six: #f48fc0; --seven: #6fd0dc; --faint: #35506f; --bad: #ff9287;
          --mark: #5a4a14; --on-one: #10151b; --mine: #22303f; --code: #2a2926; } }
        * { box-sizing: border-box; }
        html { font: 16px/1.45 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        summary { cursor: pointer; color: var(--quiet); }
        """#

    /// Parts of a page that a script fills: how its server is reached, and what only some people see.
    package static let live = #"""
        header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
        .link { color: var(--quiet); font-size: .9rem; }
        .link::before { content: "○ "; }
        .link[data-state=live]::before { content: "● "; color: var(--good); }
        .link[data-state=lost]::before { content: "✕ "; color: var(--bad); }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .2rem;
          background: var(--card); padding: .3rem .6rem; }
        summary { font-size: .9rem; }
        [hidden] { display: none !important; }
        """#

    /// Pages that are read from top to bottom: charts, tables, samples of text.
    package static let document = #"""
        body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 76rem; }
        h1 { margin: 1rem 0 .5rem; overflow-wrap: anywhere; }
        .quiet { color: var(--quiet); font-size: .9rem; }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
          gap: .7rem; }
        figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .5rem .6rem .3rem; }
        figcaption { font-size: .9rem; }
        svg { display: block; width: 100%; height: auto; overflow: visible; }
        svg text { fill: var(--quiet); } .grid { stroke: var(--line); } .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 600; color: var(--quiet); }
        th, td { border-bottom: 1px solid var(--line); }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card);
          border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; margin: .4rem 0;
          font-size: .9rem; }
        .text b { display: block; color: var(--quiet); font-weight: 600; font-size: .85rem; }
        @media (max-width: 40rem) { html { font-size: 15px; } body { padding: 0 .7rem 2rem; } }
        """#
}
