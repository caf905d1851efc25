/// The status page's own style, after `PageStyle`: for a phone and a wide screen.
enum StatusStyle {
    static let text = #"""
        header { justify-content: space-between; } h1 { font-size: 1.3rem; }
        h2 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
        h1 span + span, .count { font-weight: normal; color: var(--quiet); }
        .brand { letter-spacing: .02em; }
        .hint { color: var(--quiet); font-size: .9rem; margin: 0 0 .5rem; }
        h2.quiet { position: absolute; clip-path: inset(50%); }
        .why { font-size: 1.1rem; margin: .2rem 0 .6rem; overflow-wrap: anywhere; min-height: 3em; }
        .bar { display: block; font-size: .9rem; color: var(--quiet); }
        progress { display: block; width: 100%; height: .8rem; accent-color: var(--one); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.2rem, 1fr)); gap: .5rem;
          margin: .8rem 0 0; }
        .tiles div { background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .45rem .6rem; }
        dt { font-size: .8rem; color: var(--quiet); } dd { margin: 0; font-variant-numeric: tabular-nums;
          overflow-wrap: anywhere; }
        figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
        figcaption output { color: var(--quiet); font-variant-numeric: tabular-nums; }
        svg text { font: 11px system-ui, sans-serif; } .grid { stroke-width: 1; }
        .raw { fill: none; stroke: var(--faint); stroke-width: 1.2; }
        .smooth { fill: none; stroke: var(--one); stroke-width: 2; }
        .valid { fill: none; stroke: var(--two); stroke-width: 2; }
        .dot { fill: var(--two); } .cursor { stroke: var(--focus); stroke-width: 1.5; }
        .key { font-size: .8rem; color: var(--quiet); } .key b { font-weight: 600; }
        .k1 { color: var(--one); } .k2 { color: var(--two); }
        table { width: 100%; } th { font-size: .8rem; }
        th, td { padding: .3rem .7rem .3rem 0; white-space: nowrap; vertical-align: middle; }
        td.wide { width: 100%; min-width: 14rem; }
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
        mark { background: var(--mark); color: inherit; border-radius: .15rem; }
        .warnings { color: var(--bad); padding-left: 1.2rem; }
        form { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
        input, button { font: inherit; padding: .35rem .6rem; border: 1px solid var(--quiet);
          border-radius: .3rem; background: var(--card); color: var(--ink); }
        summary { margin: .5rem 0; }
        .alone .cluster { display: none !important; }
        """#
}
