/// The status page's style: light and dark, for a phone and a wide screen.
enum PageStyle {
    static let text = #"""
        :root { color-scheme: light dark; --ground: #fbfaf8; --card: #ffffff; --ink: #1c1b19; --quiet: #5c5953;
          --line: #dcd8d0; --one: #1f5fa8; --two: #b4451f; --faint: #9db9da; --good: #2c6e3f; --bad: #a8261c;
          --mark: #fde9b0; --focus: #7a3fc4; }
        @media (prefers-color-scheme: dark) { :root { --ground: #161614; --card: #1f1e1c; --ink: #ecebe7;
          --quiet: #a9a59c; --line: #3a3834; --one: #7db4f2; --two: #f09a6c; --faint: #35506f; --good: #84cf98;
          --bad: #ff9287; --mark: #5a4a14; --focus: #c49bff; } }
        * { box-sizing: border-box; }
        html { font: 16px/1.45 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
        body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 76rem; }
        header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline;
          justify-content: space-between; }
        h1 { font-size: 1.3rem; margin: 1rem 0 .5rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
        h1 span + span, .count { font-weight: normal; color: var(--quiet); }
        .brand { letter-spacing: .02em; }
        .quiet, .hint, .link { color: var(--quiet); font-size: .9rem; }
        h2.quiet { position: absolute; clip-path: inset(50%); }
        .hint { margin: 0 0 .5rem; }
        .link::before { content: "○ "; }
        .link[data-state=live]::before { content: "● "; color: var(--good); }
        .link[data-state=lost]::before { content: "✕ "; color: var(--bad); }
        .why { font-size: 1.1rem; margin: .2rem 0 .6rem; overflow-wrap: anywhere; min-height: 3em; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .2rem;
          background: var(--card); padding: .3rem .6rem; }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        .bar { display: block; font-size: .9rem; color: var(--quiet); }
        progress { display: block; width: 100%; height: .8rem; accent-color: var(--one); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.2rem, 1fr)); gap: .5rem;
          margin: .8rem 0 0; }
        .tiles div { background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .45rem .6rem; }
        dt { font-size: .8rem; color: var(--quiet); } dd { margin: 0; font-variant-numeric: tabular-nums;
          overflow-wrap: anywhere; }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
          gap: .7rem; }
        figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .5rem .6rem .3rem; }
        figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem;
          font-size: .9rem; }
        figcaption output { color: var(--quiet); font-variant-numeric: tabular-nums; }
        svg { display: block; width: 100%; height: auto; overflow: visible; }
        svg text { font: 11px system-ui, sans-serif; fill: var(--quiet); }
        .grid { stroke: var(--line); stroke-width: 1; }
        .raw { fill: none; stroke: var(--faint); stroke-width: 1.2; }
        .smooth { fill: none; stroke: var(--one); stroke-width: 2; }
        .valid { fill: none; stroke: var(--two); stroke-width: 2; }
        .dot { fill: var(--two); } .cursor { stroke: var(--focus); stroke-width: 1.5; }
        .key { font-size: .8rem; color: var(--quiet); } .key b { font-weight: 600; }
        .k1 { color: var(--one); } .k2 { color: var(--two); }
        table { border-collapse: collapse; width: 100%; font-size: .9rem;
          font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 600; color: var(--quiet); font-size: .8rem; }
        th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap;
          vertical-align: middle; }
        td.wide { width: 100%; min-width: 14rem; }
        .scroll { overflow-x: auto; }
        .name::before { content: "■"; color: var(--worker); margin-right: .35em; }
        .state::before { content: "●"; margin-right: .35em; color: var(--quiet); }
        .state[data-state=computing]::before { color: var(--good); }
        .state[data-state=suspect]::before, .state[data-state=draining]::before { content: "◐";
          color: var(--two); }
        .state[data-state=lost]::before { content: "✕"; color: var(--bad); }
        .state[data-state=left]::before, .state[data-state=idle]::before { content: "○"; }
        .state[data-state=preparing]::before { content: "◌"; color: var(--one); }
        tr[data-state=lost] td { color: var(--bad); }
        .timeline svg { height: 1.6rem; }
        .bad rect { stroke: var(--bad); stroke-width: 1; fill-opacity: .35; }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card);
          border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; margin: .4rem 0;
          font-size: .9rem; }
        .sample b { display: block; color: var(--quiet); font-weight: 600; font-size: .85rem; }
        mark { background: var(--mark); color: inherit; border-radius: .15rem; }
        .warnings { color: var(--bad); padding-left: 1.2rem; }
        form { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
        input, button { font: inherit; padding: .35rem .6rem; border: 1px solid var(--quiet);
          border-radius: .3rem; background: var(--card); color: var(--ink); }
        summary { cursor: pointer; font-size: .9rem; color: var(--quiet); margin: .5rem 0; }
        [hidden], .alone .cluster { display: none !important; }
        @media (max-width: 40rem) { html { font-size: 15px; } body { padding: 0 .7rem 2rem; } }
        """#
}
