// Runs before the page is there (see ui/document.py): who comes back to a run of their own doesn't get another one's picture first, a dark
// page begins dark, and Train can be pressed: its controls, which know the settings, may be seconds away.
// @ts-check

(() => {
  const first = document.getElementById("pg-first"), query = new URLSearchParams(location.search);
  let own = false;
  try {
    own = localStorage.getItem("playground-own-run") !== null;
    first.classList.toggle("toured", Boolean(JSON.parse(localStorage.getItem("playground-course") ?? "{}").done?.tour?.length));
  } catch {
    // nothing is kept: a first visit each time
  }
  if (own && !query.has("run")) return first.remove();
  const theme = query.get("__theme"), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  first.classList.toggle("dark", theme === "dark" || (theme !== "light" && dark));

  const early = first.querySelector("button"), { dataset } = document.body;
  const train = () => {
    if (!dataset.knobs || dataset.playground === undefined) return;
    watch.disconnect();
    document.getElementById("pg-train").click();
  };
  const watch = new MutationObserver(train);
  early.addEventListener("click", () => {
    early.setAttribute("aria-disabled", "true");
    early.textContent = early.dataset.pressed;
    watch.observe(document.body, { attributes: true, attributeFilter: ["data-knobs", "data-playground"] });
    train();
  }, { once: true });
})();
