// A rule: text that people would read stands in words/, not in a script. It finds prose anywhere, and any word where text is shown.

const HOLE = "\uFFFC"; // where a value goes
const PROSE = /[A-Za-z’']{2,}[,.:;!?]? +[A-Za-z’']{2,}|[\u3400-\u9fff]|^\s*[A-Z][a-z’']+[.:!?]?\s*$/; // two words, one 字, or a Word
const WORD = /^(?!\w+_\w+$|#[0-9a-f]+$).*[A-Za-z]{2,}/s; // any word, but no key and no colour
const UNIT = new RegExp(`${HOLE} [A-Za-z]+\\b|\\b[A-Za-z]+ ${HOLE}`); // a word beside a value
const SHOWN = new Set(["title", "label", "text", "caption", "hint", "placeholder", "alt", "aria-label", "textContent", "innerText"]);
// What is written in another language: classes, styles, paths, selectors, and the names of things.
const CODE = /^(class\w*|style|cssText|d|viewBox|transform|font\w*|stroke[\w-]*|fillStyle|autocomplete|rel|media|id)$/;
const CALLS = new RegExp(
  "^(querySelector(All)?|closest|matches|matchMedia|getElementById|[sg]etProperty(Value)?|createElement(NS)?|getContext|(add|remove)EventListener" +
    "|[sg]etAttribute|(has|remove)Attribute|getItem|setItem|removeItem|RegExp|Error|add|remove|toggle|contains|read|say|h|svg|prose)$",
);

const nameOf = (node) => node?.name ?? node?.value ?? nameOf(node?.property ?? null);

/** The name of the property or the attribute that a node becomes the value of; "child" for what stands in an element; else "". */
function roleOf(node) {
  const { parent } = node;
  if (parent.type === "Property" && parent.value === node) return String(nameOf(parent.key));
  if (parent.type === "AssignmentExpression" && parent.right === node) return String(nameOf(parent.left.property ?? parent.left));
  if (parent.type === "VariableDeclarator") return String(nameOf(parent.id));
  if (parent.type === "ConditionalExpression" && parent.test !== node) return roleOf(parent);
  if (parent.type === "LogicalExpression") return roleOf(parent);
  if (parent.type !== "CallExpression" || parent.callee === node) return "";
  const called = nameOf(parent.callee.property ?? parent.callee), at = parent.arguments.indexOf(node);
  if (called === "setAttribute" && at === 1) return String(nameOf(parent.arguments[0]));
  return ["h", "svg"].includes(called) && at >= 2 ? "child" : "";
}

/** Whether a literal is never on screen: it is compared, names something, or is in another language. */
function isCode(node) {
  const { parent } = node;
  if (/^(Import|Export)/.test(parent.type)) return true;
  if (parent.type === "BinaryExpression") return /^([!=]==?|in)$/.test(parent.operator);
  if (parent.type === "ArrayExpression" && parent.parent.type === "MemberExpression") return parent.parent.property.name === "includes";
  if ((parent.type === "Property" && parent.key === node) || (parent.type === "MemberExpression" && parent.property === node)) return true;
  if (["CallExpression", "NewExpression"].includes(parent.type) && parent.callee !== node) {
    const called = String(nameOf(parent.callee.property ?? parent.callee));
    if (CALLS.test(called) && (parent.arguments[0] === node || called === "read")) return true;
  }
  return CODE.test(roleOf(node));
}

/** @type {import("eslint").Rule.RuleModule} */
export default {
  meta: {
    type: "problem",
    schema: [{ type: "object", properties: { allow: { type: "array", items: { type: "string" } } }, additionalProperties: false }],
    messages: { stray: "put “{{text}}” into words/en and words/zh" },
  },
  create(context) {
    const allowed = new Set(context.options[0]?.allow ?? []);
    const look = (node, text) => {
      if (allowed.has(text) || isCode(node)) return;
      const role = roleOf(node), isShown = role === "child" || SHOWN.has(role), pieces = text.split(HOLE);
      const stray = UNIT.test(text) || pieces.some((piece) => PROSE.test(piece) || (isShown && WORD.test(piece)));
      if (stray) context.report({ node, messageId: "stray", data: { text: text.replaceAll(HOLE, "…") } });
    };
    return {
      Literal: (node) => typeof node.value === "string" && look(node, node.value),
      TemplateLiteral: (node) => look(node, node.quasis.map((part) => part.value.cooked).join(HOLE)),
    };
  },
};
