// A rule: names are nouns and verbs, and comments name the visitor, the page, the run; as tests/test_plain_english.py has it for Python.

const NAMES = new Set(
  "found said told asked kept shown mine one others seen beside made given taken gone what".split(" "),
);
const PEOPLE = /\b(whoever|somebody|nobody|anybody|someone|anyone)\b/i;
const RELATIVE = /^\*\s*\*?\s*(what|who|whose|whoever|those|that|which) /i; // a clause without its noun begins a docstring

/** @type {import("eslint").Rule.RuleModule} */
export default {
  meta: { type: "suggestion", schema: [], messages: { name: "“{{text}}” names nothing", comment: "say who or what: {{text}}" } },
  create: ({ sourceCode, report }) => ({
    "Program:exit"() {
      for (const { variables } of sourceCode.scopeManager.scopes) {
        for (const { name, defs: [def] } of variables) {
          if (NAMES.has(name) && def?.type !== "ImportBinding") report({ node: def.name, messageId: "name", data: { text: name } });
        }
      }
      for (const comment of sourceCode.getAllComments()) {
        const text = comment.value.replace(/\s+/g, " ");
        if (PEOPLE.test(text) || (comment.type === "Block" && RELATIVE.test(text))) report({ loc: comment.loc, messageId: "comment", data: { text } });
      }
    },
  }),
};
