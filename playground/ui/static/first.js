// Runs before the page is there (see ui/document.py): who comes back to a run of their own doesn't get another one's picture first, and
// a dark page begins dark.
// @ts-check

(() => {
  const first = document.getElementById("pg-first"), query = new URLSearchParams(location.search);
  let own = false;
  try {
    own = localStorage.getItem("playground-own-run") !== null;
  } catch {
    // nothing is kept: a first visit each time
  }
  if (own && !query.has("run")) return first.remove();
  const theme = query.get("__theme"), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  first.classList.toggle("dark", theme === "dark" || (theme !== "light" && dark));
})();
