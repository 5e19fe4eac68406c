// Runs before anything else of the page (see ui/document.py), in browsers that are too old for the rest as well: where nothing will be
// drawn it says why in one sentence, and what to do.
// @ts-check

(() => {
  const DRAWN = 8000, CONTROLS = 20000, LOOK = 500; // milliseconds until the page and its controls must be there, and between two looks
  const words = JSON.parse(document.getElementById("pg-start").textContent);
  const spoken = [new URLSearchParams(location.search).get("lang"), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  const language = spoken.find((code) => Object.keys(words).indexOf(code) >= 0) || "en";
  const isFile = location.protocol === "file:", isSandboxed = !isFile && self.origin === "null";
  let isMissing = false, isRead = false, note = null;

  /** What the page's scripts and styles can't do without: in Chrome since 111, in Firefox since 121, in Safari since 16.4. */
  const isOld = () => {
    const { style } = document.createElement("i");
    style.cssText = "color: color-mix(in srgb, red, red)";
    try {
      return !style.color || !new RegExp("(?<=a)b").test("ab") || !CSS.supports("selector(:has(a))");
    } catch (error) {
      return Boolean(error);
    }
  };

  const reason = () => {
    if (isSandboxed) return "frame";
    if (!isMissing) return "slow";
    return isFile ? "file" : "missing";
  };

  /** What is wrong now, "" for nothing. */
  const wrong = () => {
    const { playground, knobs } = document.body.dataset, since = performance.now();
    if (isOld()) return isRead ? "" : "old"; // it may be drawn all the same, but not as it should be: the sentence stays until it is pressed
    if (playground === undefined) return since > DRAWN || (isMissing && (isFile || isSandboxed)) ? reason() : "";
    return since > CONTROLS && knobs === undefined && document.getElementById("pg-train") ? "controls" : "";
  };

  const show = (why) => {
    if (note && note.dataset.why === why) return;
    if (note) note.remove();
    note = null;
    if (!why) return;
    note = document.createElement("p");
    note.id = "pg-start-note";
    note.lang = language;
    note.dataset.why = why;
    note.setAttribute("role", "alert");
    note.style.cssText = "position: fixed; inset: auto 0 0; z-index: 999; margin: 0; padding: 12px 16px; color: #111; background: #ffe9a8";
    note.style.font = "16px/1.5 sans-serif";
    note.textContent = words[language][why].replace("{path}", location.pathname);
    if (why === "frame") {
      const link = document.createElement("a"); // its text is the address: a sandbox may open no window
      Object.assign(link, { href: location.href, target: "_blank", rel: "noopener", textContent: location.href });
      note.append(" ", link);
    }
    note.onclick = () => {
      isRead = true;
      look();
    };
    document.body.append(note);
  };

  const look = () => {
    if (!document.body) return;
    show(wrong());
    const { playground, knobs } = document.body.dataset;
    if (playground !== undefined && (knobs !== undefined || !document.getElementById("pg-train"))) clearInterval(timer);
  };
  const timer = setInterval(look, LOOK);
  addEventListener("error", ({ target }) => {
    if (target instanceof HTMLScriptElement || target instanceof HTMLLinkElement) isMissing = true;
  }, true);
})();
