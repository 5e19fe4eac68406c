import js from "@eslint/js";
import globals from "globals";

import plain from "./lint/plain_english.js";
import strays from "./lint/strays.js";

const LANGUAGES = ["English", "EN", "中文"]; // in their own words, whatever the page's

const KEYS = ["Enter", "Escape", "Esc", "Home", "End"]; // as browsers and keyboards name them, in every language

export default [
  { ignores: ["node_modules/", "venv/", ".venv/", "build/", "**/*.d.ts"] },
  js.configs.recommended,
  { plugins: { words: { rules: { plain, strays } } }, rules: { "words/plain": "error" } },
  {
    files: ["playground/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: {
      "no-template-curly-in-string": "error",
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
      "words/strays": ["error", { allow: [...LANGUAGES, ...KEYS] }],
    },
  },
  { files: ["lint/*.js", "tests/**/*.js", "*.js"], languageOptions: { globals: globals.node } },
  {
    rules: {
      "array-callback-return": "error",
      eqeqeq: "error",
      "max-len": ["error", { code: 160 }],
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-implied-eval": "error",
      "no-self-compare": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
];
