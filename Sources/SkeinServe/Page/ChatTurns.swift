/// The part of the chat page's script that holds conversations: a turn is a prompt and its answer,
/// a conversation the turns with one model and the column that shows them.
enum ChatTurns {
    static let text = #"""
        const count = (number, one, many) =>
          number.toLocaleString("en") + " " + (number === 1 ? one : many);

        class Turn {
          constructor(conversation, prompt) {
            this.conversation = conversation; this.prompt = prompt;
            this.words = new GrowingText();
            this.note = tag("p", { class: "note" });
            this.trouble = tag("div", { class: "trouble" });
            this.facts = tag("p", { class: "facts" });
            this.node = tag("article", { class: "turn" },
              tag("div", { class: "user" }, tag("h3", { class: "hidden" }, "You"),
                tag("p", { dir: "auto" }, prompt)),
              tag("h3", { class: "hidden" }, conversation.model.id),
              this.words.place, this.note, this.trouble, this.facts);
            this.reset(null);
          }
          reset(options) {
            Object.assign(this, { options, state: "waiting", text: "", finish: null, usage: null,
              pieces: 0, sentAt: null, firstAt: null, lastAt: null, problem: null, pause: null });
          }
          get isRunning() { return this.state === "waiting" || this.state === "streaming"; }
          // What later turns are told of: an answer that failed would be taken for a whole one.
          get isPart() {
            return this.text !== "" && (this.state === "done" || this.state === "stopped");
          }

          body() {
            const { system, schema, ...rest } = this.options;
            const messages = system ? [{ role: "system", content: system }] : [];
            for (const turn of this.conversation.turns) {
              if (turn === this) break;
              if (turn.isPart) messages.push({ role: "user", content: turn.prompt },
                { role: "assistant", content: turn.text });
            }
            messages.push({ role: "user", content: this.prompt });
            if (schema) rest.response_format = { type: "json_schema",
              json_schema: { name: "answer", strict: true, schema } };
            return { model: this.conversation.model.id, messages, stream: true,
              stream_options: { include_usage: true }, ...rest };
          }
          async run(options, signal) {
            this.reset(options);
            this.conversation.show(true);
            let isWhole = false;
            try {
              const answer = await callPatiently("v1/chat/completions", this.body(), signal,
                () => { this.pause = null; this.sentAt = performance.now(); this.drawSoon(); },
                (left, why) => {
                  const isNews = this.pause === null;
                  this.pause = { left, why };
                  if (isNews) say(this.conversation.model.id + ": " + this.remark());
                  this.drawSoon();
                });
              this.state = "streaming";
              for await (const data of events(answer.body)) {
                if (data === "[DONE]") { isWhole = true; break; }
                this.take(data);
              }
              if (!isWhole && this.finish === null)
                throw new Trouble("The connection ended before the answer did.");
              this.state = "done";
            } catch (problem) {
              this.state = signal.aborted ? "stopped" : "failed";
              if (!signal.aborted) this.problem = problem instanceof Trouble ? problem
                : new Trouble("The connection broke.", 0, problem.message);
            }
            this.pause = null;
            this.draw();
          }
          take(data) {
            let event = null;
            try { event = JSON.parse(data) ?? {}; } catch {
              throw new Trouble("The server sent what is not JSON.", 0, data.slice(0, 200));
            }
            if (event.error) throw Trouble.of(event.error, "", 0, "", null);
            if (event.usage) this.usage = event.usage;
            const choice = event.choices?.[0];
            if (choice?.finish_reason) this.finish = choice.finish_reason;
            const piece = choice?.delta?.content;
            if (typeof piece !== "string" || piece === "") return;
            this.lastAt = performance.now(); this.firstAt ??= this.lastAt;
            this.pieces += 1; this.text += piece;
            this.drawSoon();
          }

          // Once for each picture that the screen shows, however fast the tokens come.
          drawSoon() {
            if (this.frame) return;
            this.frame = requestAnimationFrame(() => this.draw());
          }
          draw() {
            cancelAnimationFrame(this.frame); this.frame = null;
            const isAtEnd = this.conversation.isAtEnd();
            this.node.setAttribute("aria-busy", this.isRunning);
            this.words.set(this.text, Boolean(this.options?.schema));
            this.note.textContent = this.remark();
            this.note.hidden = !this.note.textContent;
            this.facts.textContent = this.figures().join(" · ");
            this.drawTrouble();
            if (isAtEnd) this.conversation.scrollToEnd();
          }
          remark() {
            if (this.pause) return this.pause.why.trim().replace(/([^.!?])$/, "$1.")
              + " Trying again in " + count(this.pause.left, "second", "seconds") + ".";
            const most = this.options?.max_tokens;
            if (this.finish === "length")
              return "Cut off: the answer has reached the limit of tokens"
              + (most ? " (max tokens: " + most + ")" : "") + ".";
            if (this.finish === "content_filter") return "Cut off by a content filter.";
            if (this.state === "stopped") return this.text ? "Stopped: the answer is not whole."
              : "Stopped before there was an answer.";
            return this.state === "done" && !this.text ? "The answer is empty." : "";
          }
          figures() {
            if (this.sentAt === null) return [];
            const parts = [], tokens = this.usage?.completion_tokens ?? this.pieces;
            const cached = this.usage?.prompt_tokens_details?.cached_tokens;
            // Only the server counts tokens; the pieces of an answer are about as many.
            const isCounted = Number.isInteger(this.usage?.completion_tokens);
            if (tokens) parts.push((isCounted ? "" : "about ") + count(tokens, "token", "tokens"));
            const span = (this.lastAt - this.firstAt) / 1000;
            if (tokens > 1 && span > 0) parts.push(((tokens - 1) / span).toFixed(1) + " tokens/s");
            if (this.firstAt !== null)
              parts.push("first after " + ((this.firstAt - this.sentAt) / 1000).toFixed(2) + " s");
            const read = this.usage?.prompt_tokens;
            if (Number.isInteger(read)) parts.push("prompt " + count(read, "token", "tokens")
              + (Number.isInteger(cached) ? ", " + cached + " of them cached" : ""));
            if (this.finish) parts.push("finish_reason " + this.finish);
            parts.push("seed " + this.options.seed);
            return parts;
          }
          drawTrouble() {
            this.trouble.hidden = !this.problem;
            if (this.problem === this.shownProblem) return;
            this.shownProblem = this.problem;
            if (!this.problem) { this.trouble.replaceChildren(); return; }
            const retry = tag("button", { type: "button" }, "Try again");
            retry.addEventListener("click", () => round([this]));
            const { message, detail } = this.problem;
            this.trouble.replaceChildren(tag("p", {}, message),
              ...(detail ? [tag("p", { class: "detail" }, detail)] : []), retry);
          }
          // What a screen reader says once the turn is over.
          get spoken() {
            const name = this.conversation.model.id;
            if (this.problem) return name + " failed: " + this.problem.message;
            return name + " answered: " + this.text + " " + this.remark();
          }
        }

        class Conversation {
          constructor(model, number) {
            this.model = model; this.turns = [];
            this.empty = tag("p", { class: "empty" }, "Nothing has been said yet.");
            this.log = tag("div", { class: "log", tabindex: "0", role: "region",
              "aria-labelledby": "column-" + number }, this.empty);
            this.node = tag("div", { class: "column" },
              tag("h2", { id: "column-" + number }, model.id, " ", tag("span", {},
                model.parent === null ? "base model" : "adapter of " + model.parent)),
              this.log);
            this.node.dataset.model = model.id;
          }
          add(prompt) {
            const turn = new Turn(this, prompt);
            this.turns.push(turn); this.empty.remove(); this.log.append(turn.node);
            return turn;
          }
          clear() { this.turns = []; this.log.replaceChildren(this.empty); }
          isAtEnd() {
            return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 48;
          }
          scrollToEnd() { this.log.scrollTop = this.log.scrollHeight; }
          show(atEnd) {
            for (const turn of this.turns) turn.draw();
            if (atEnd) this.scrollToEnd();
          }
        }
        """#
}
