/// The part of the chat page's script that a person works with: models, settings, buttons.
enum ChatScript {
    static let text = #"""
        const chat = { models: [], conversations: new Map(), running: null };
        // For tests and curious people.
        window.skein = chat;

        function link(state, words) {
          $("link").dataset.state = state; $("link").textContent = words;
          $("reload").hidden = state !== "lost";
        }
        function say(words) { $("news").textContent = words; }
        const hasFingers = () => matchMedia("(pointer: coarse)").matches;
        function askForKey(problem) {
          $("ask-why").textContent = key === null ? "This server asks for an API key."
            : "The server refuses this API key: " + problem.message;
          $("ask").hidden = false;
          link("waiting", "an API key is needed");
          say($("ask-why").textContent);
          $("key").focus();
        }

        // The list of models; true when it is there.
        async function load() {
          link("waiting", "connecting …");
          try {
            const list = (await (await call("v1/models")).json()).data;
            chat.models = list.map(one => ({ id: String(one.id), parent: one.parent ?? null,
              sampling: one.sampling ?? {} }));
          } catch (problem) {
            if (problem.status === 401) askForKey(problem);
            else link("lost", problem instanceof Trouble ? problem.message
              : "The server does not list its models: " + problem.message);
            return false;
          }
          $("ask").hidden = true; $("forget-line").hidden = key === null;
          link("live", count(chat.models.length, "model", "models"));
          offer();
          return true;
        }
        // An adapter is what people come to try, so the first one is picked.
        function offer() {
          const before = $("model").value;
          const group = (label, models) => models.length
            ? [tag("optgroup", { label },
              ...models.map(one => tag("option", { value: one.id }, one.id)))] : [];
          const adapters = chat.models.filter(one => one.parent !== null);
          const bases = chat.models.filter(one => one.parent === null);
          $("model").replaceChildren(...group("Base models", bases),
            ...group("Adapters", adapters));
          const wanted = chat.models.find(one => one.id === before) ?? adapters[0] ?? bases[0];
          if (wanted) $("model").value = wanted.id;
          show();
        }
        const named = id => chat.models.find(one => one.id === id);
        const picked = () => named($("model").value);
        const adapterOf = base => chat.models.find(one => one.parent === base.id);
        function conversation(model) {
          if (!chat.conversations.has(model.id))
            chat.conversations.set(model.id, new Conversation(model, chat.conversations.size + 1));
          return chat.conversations.get(model.id);
        }
        // Each model has a conversation of its own, so one's words are never taken for another's.
        function shown() {
          const model = picked();
          if (!model) return [];
          const base = $("both").checked ? named(model.parent) : undefined;
          return (base ? [base, model] : [model]).map(conversation);
        }
        function show() {
          const model = picked();
          const isBase = model?.parent === null;
          const canCompare = model && (isBase ? adapterOf(model) : named(model.parent));
          $("both-label").hidden = !canCompare;
          if (!canCompare || isBase) $("both").checked = false;
          $("columns").replaceChildren(...shown().map(one => one.node));
          for (const one of shown()) one.show(true);
          tell();
          update();
        }
        // How tokens are picked: a temperature that is typed counts for both columns, what is left
        // open is the server's, which may be another one for the base model than for an adapter.
        function tell() {
          const typed = $("temperature").value;
          const words = ({ sampling }) => {
            const all = { ...sampling, ...(typed && { temperature: Number(typed) }) };
            if (all.temperature === undefined) return "";
            const parts = ["temperature " + all.temperature];
            if (all.temperature > 0 && all.top_p < 1) parts.push("top-p " + all.top_p);
            if (all.temperature > 0 && all.top_k > 0) parts.push("top-k " + all.top_k);
            if (all.temperature > 0 && all.min_p > 0) parts.push("min-p " + all.min_p);
            return parts.join(", ");
          };
          const models = shown().map(one => one.model);
          const told = [...new Set(models.map(words))];
          const uses = told.length < 2 ? told.join("")
            : models.map(model => model.id + ": " + words(model)).join(" · ");
          $("uses").textContent = uses && ": " + uses;
          const usual = picked()?.sampling.temperature;
          $("temperature").placeholder = usual === undefined ? "the server's"
            : "the server's: " + usual;
        }
        // A button that goes while it has the focus hands it to what is needed next.
        function update() {
          const isRunning = chat.running !== null;
          const isEmpty = shown().every(one => !one.turns.length);
          const had = document.activeElement;
          $("send").hidden = isRunning; $("stop").hidden = !isRunning;
          $("send").disabled = !chat.models.length;
          $("again").disabled = $("clear").disabled = isRunning || isEmpty;
          $("model").disabled = $("both").disabled = isRunning || !chat.models.length;
          for (const button of document.querySelectorAll(".trouble button"))
            button.disabled = isRunning;
          // Where fingers type, a message that has the focus would call the keyboard up.
          if (had !== document.body && (had.hidden || had.disabled || !had.isConnected))
            (isRunning ? $("stop") : hasFingers() ? $("send") : $("prompt")).focus();
        }

        // The settings as the request has them, or null when one of them is not valid.
        function settings() {
          const schema = $("schema").value.trim(), options = { system: $("system").value.trim() };
          let problem = "";
          if (schema) {
            try {
              options.schema = JSON.parse(schema);
              if (options.schema === null || typeof options.schema !== "object"
                || Array.isArray(options.schema)) problem = "A schema is a JSON object.";
            } catch (error) { problem = "This is not JSON: " + error.message; }
          }
          $("schema").setCustomValidity(problem);
          const fields = ["temperature", "max-tokens", "seed", "schema"].map($);
          for (const field of fields) field.setAttribute("aria-invalid", !field.checkValidity());
          const wrong = fields.find(field => !field.checkValidity());
          if (wrong) {
            $("settings").open = true;
            wrong.reportValidity();
            return null;
          }
          if ($("temperature").value) options.temperature = Number($("temperature").value);
          if ($("max-tokens").value) options.max_tokens = Number($("max-tokens").value);
          // Always one that is said: columns are compared, and an answer can be had again.
          options.seed = $("seed").value ? Number($("seed").value)
            : Math.floor(Math.random() * 2 ** 31);
          return options;
        }
        // All turns of a round run at once, with the same settings and seed. `make` gives the
        // turns, and is not called when the settings are wrong or another round runs.
        async function round(turns, make = () => turns) {
          if (chat.running) return;
          const options = settings();
          if (!options) return;
          const running = chat.running = new AbortController();
          const made = make();
          update();
          say("Waiting for the answer.");
          const ends = await Promise.allSettled(
            made.map(turn => turn.run(options, running.signal)));
          chat.running = null;
          update();
          // A turn keeps its problems to itself: these are mistakes of this script.
          for (const end of ends) if (end.status === "rejected") console.error(end.reason);
          say(made.map(turn => turn.spoken).join("\n"));
          const refused = made.find(turn => turn.problem?.status === 401);
          if (refused) askForKey(refused.problem);
        }
        function send() {
          const prompt = $("prompt").value.trim();
          if (!prompt || !chat.models.length) { $("prompt").focus(); return; }
          round([], () => { $("prompt").value = ""; return shown().map(one => one.add(prompt)); });
        }
        const lastTurns = () => shown().flatMap(one => one.turns.slice(-1));

        $("compose").addEventListener("submit", event => { event.preventDefault(); send(); });
        $("controls").addEventListener("submit", event => event.preventDefault());
        $("prompt").addEventListener("keydown", event => {
          // Where fingers type there is no Shift+Enter, and Enter in an input method picks a word.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing || hasFingers()) return;
          event.preventDefault();
          send();
        });
        addEventListener("keydown", event => {
          if (event.key === "Escape" && !event.isComposing) chat.running?.abort();
        });
        $("stop").addEventListener("click", () => chat.running?.abort());
        $("again").addEventListener("click", () => round(lastTurns()));
        $("clear").addEventListener("click", () => {
          for (const one of shown()) one.clear();
          update();
          say("The conversation is cleared.");
        });
        $("model").addEventListener("change", show);
        $("temperature").addEventListener("input", tell);
        $("both").addEventListener("change", () => {
          const model = picked();
          // The base model beside itself says nothing: its first adapter comes beside it.
          if ($("both").checked && model.parent === null) $("model").value = adapterOf(model).id;
          show();
        });
        $("schema").addEventListener("input", () => $("schema").setCustomValidity(""));
        $("reload").addEventListener("click", load);
        $("forget").addEventListener("click", () => { setKey(null); load(); });
        $("ask").addEventListener("submit", async event => {
          event.preventDefault();
          setKey($("key").value.trim() || null);
          if (!await load()) return;
          $("key").value = "";
          $("prompt").focus();
          // What was asked before the key was there is asked again.
          const refused = lastTurns().filter(turn => turn.problem?.status === 401);
          if (refused.length) round(refused);
        });
        update();
        load();
        """#
}
