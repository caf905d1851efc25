/// The part of the chat page's script that shows what a model writes: paragraphs, code blocks, code
/// and strong words within a line, all made of text nodes.
enum ChatText {
    static let text = #"""
        // Paragraphs are parted by empty lines; code stands between fences of ``` or ~~~, the last
        // of which may be yet to come.
        function blocks(text) {
          const found = [];
          let lines = [], fence = null;
          const close = kind => {
            if (kind === "code" || lines.length) found.push({ kind, text: lines.join("\n") });
            lines = [];
          };
          for (const line of text.split("\n")) {
            const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
            if (fence !== null) {
              const ends = mark && mark[1].startsWith(fence) && mark[2].trim() === "";
              if (ends) { close("code"); fence = null; } else lines.push(line);
            } else if (mark && !mark[2].includes("`")) {
              close("words");
              fence = mark[1];
            } else if (line.trim() === "") close("words");
            else lines.push(line);
          }
          close(fence === null ? "words" : "code");
          return found;
        }
        function node(block) {
          if (block.kind === "code") return tag("pre", { dir: "ltr" }, tag("code", {}, block.text));
          const paragraph = tag("p", { dir: "auto" });
          let at = 0;
          for (const found of block.text.matchAll(/`([^`\n]+)`|\*\*(?=\S)([^*\n]+)(?<=\S)\*\*/g)) {
            paragraph.append(block.text.slice(at, found.index),
              found[1] ? tag("code", {}, found[1]) : tag("strong", {}, found[2]));
            at = found.index + found[0].length;
          }
          paragraph.append(block.text.slice(at));
          return paragraph;
        }
        // A text that grows: only blocks that have changed are made anew.
        class GrowingText {
          constructor() { this.place = tag("div", { class: "words" }); this.shown = []; }
          set(text, isCode) {
            const wanted = text === "" ? [] : isCode ? [{ kind: "code", text }] : blocks(text);
            wanted.forEach((block, k) => {
              const old = this.shown[k];
              if (old && old.kind === block.kind && old.text === block.text) return;
              const made = node(block);
              if (old) old.node.replaceWith(made); else this.place.append(made);
              this.shown[k] = { ...block, node: made };
            });
            while (this.shown.length > wanted.length) this.shown.pop().node.remove();
          }
        }
        """#
}
