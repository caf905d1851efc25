/// The chat page's own style, after `PageStyle`: for a phone and a wide screen.
enum ChatStyle {
    static let text = #"""
        html { height: 100%; }
        body { margin: 0 auto; padding: 0 1rem; max-width: 76rem; height: 100dvh; display: flex;
          flex-direction: column; }
        h1 { font-size: 1.3rem; margin: .6rem auto .4rem 0; }
        h1 span { font-weight: normal; color: var(--quiet); }
        h2 { font-size: .95rem; margin: 0; padding: .4rem .8rem; overflow-wrap: anywhere;
          border-bottom: 1px solid var(--line); }
        h2 span { font-weight: normal; color: var(--quiet); }
        main { flex: 1; min-height: 0; display: flex; flex-direction: column; gap: .6rem; }
        .link { margin: 0; overflow-wrap: anywhere; }
        .hint, #uses { color: var(--quiet); font-size: .85rem; }
        #uses { overflow-wrap: anywhere; }
        .hidden { margin: 0; white-space: nowrap; } .skip:focus { z-index: 1; }
        .log:focus-visible { outline-offset: -3px; }
        input, button, select, textarea { font: inherit; padding: .35rem .6rem; max-width: 100%;
          border: 1px solid var(--quiet); border-radius: .35rem; background: var(--card);
          color: var(--ink); }
        button { cursor: pointer; min-height: 2.3rem; }
        button:disabled { opacity: .5; cursor: default; }
        .main { background: var(--one); color: var(--on-one); border-color: var(--one);
          min-width: 5rem; }
        ::placeholder { color: var(--quiet); opacity: 1; }
        textarea { display: block; width: 100%; resize: vertical; }
        .code, code { font: .9em/1.4 ui-monospace, monospace; }
        .bar { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center; }
        .bar label { min-width: 0; max-width: 100%; }
        .check { display: flex; gap: .4rem; align-items: center; min-height: 2.3rem; }
        .check input { width: 1.1rem; height: 1.1rem; accent-color: var(--one); }
        summary { padding: .35rem 0; }
        .settings { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
          gap: .6rem; max-height: 45dvh; overflow-y: auto; padding: .3rem; background: var(--card);
          border: 1px solid var(--line); border-radius: .5rem; font-size: .9rem; }
        .settings input { width: 100%; } .settings .wide { grid-column: 1 / -1; margin: 0; }
        #ask { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center;
          padding: .6rem .8rem; background: var(--card); border: 2px solid var(--one);
          border-radius: .5rem; }
        #ask p { flex-basis: 100%; margin: 0; }
        .columns { flex: 1; min-height: 0; display: grid; gap: .6rem;
          grid-auto-rows: minmax(0, 1fr);
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); }
        .column { display: flex; flex-direction: column; min-width: 0; min-height: 0;
          background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
          overflow: hidden; }
        .log { flex: 1; overflow-y: auto; padding: .6rem .8rem; }
        .log > .empty { color: var(--quiet); margin: 0; }
        .turn { margin: 0 0 1rem; }
        .turn p { margin: 0 0 .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
        .user { background: var(--mine); border-radius: .6rem; padding: .45rem .7rem;
          width: fit-content; max-width: 92%; margin: 0 0 .5rem auto; }
        .user p { margin: 0; }
        pre { margin: 0 0 .5rem; padding: .5rem .7rem; background: var(--code);
          border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; }
        p code { background: var(--code); border-radius: .2rem; padding: 0 .2em; }
        .turn .facts { color: var(--quiet); font-size: .8rem; margin: 0;
          font-variant-numeric: tabular-nums; }
        .turn .note { font-size: .9rem; border-left: 3px solid var(--one); padding-left: .6rem; }
        .turn .trouble { border-left: 3px solid var(--bad); padding-left: .6rem;
          margin: 0 0 .5rem; }
        .trouble p { margin: 0 0 .3rem; }
        .trouble .detail { color: var(--quiet); font-size: .8rem; }
        .turn[aria-busy=true] .words > :last-child::after,
        .turn[aria-busy=true] .words:empty::after { content: "▍"; color: var(--one); }
        #compose { padding-bottom: max(.7rem, env(safe-area-inset-bottom)); }
        #prompt { margin-bottom: .4rem; max-height: 30dvh; }
        @media (max-width: 40rem) { body { padding: 0 .6rem; } .hint { display: none; } }
        /* A screen that is too low for parts that scroll on their own (a phone on its side, 400 %
           zoom) scrolls as a whole. */
        @media (max-height: 34rem) { body { height: auto; min-height: 100dvh; }
          .settings { max-height: none; } .columns { grid-auto-rows: auto; }
          .log { min-height: 8rem; } }
        """#
}
