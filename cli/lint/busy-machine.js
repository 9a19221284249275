/** Names of what is measured in time: in the gate, nothing that is measured has an upper bound. */
const ELAPSED = /(Ms|_MS|Seconds|took|elapsed|duration|latency)\b/i;
const UPPER_BOUNDS = new Set(['toBeLessThan', 'toBeLessThanOrEqual']);

/** What a page shows at once, which playwright reads without waiting. */
const READ =
  /\bawait [^,]*\.(count|(inner|text|allInner|allText)(Text|Content)s?|inputValue|is[A-Z][a-z]+|getAttribute)\([^()]*\)[,\])]/;

/** What a busy machine could make fail, beyond what oxlint's own rules can be told to find. */
const noElapsedTime = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.name !== 'Date' || node.arguments.length > 0) return;
      context.report({ node, message: 'Time is an argument: `new Date()` reads the clock of the machine.' });
    },
    CallExpression(node) {
      const { object, property } = node.callee;
      if (!UPPER_BOUNDS.has(property?.name) || !ELAPSED.test(context.sourceCode.getText(object))) return;
      context.report({
        node,
        message: 'An upper bound on time fails on a busy machine: turn a clock, or wait for it.',
      });
    },
  }),
};

/** A page is drawn a moment after something was done to it. */
const noEarlyLook = {
  create: (context) => ({
    CallExpression(node) {
      if (node.callee.name !== 'expect' || !READ.test(context.sourceCode.getText(node))) return;
      context.report({ node, message: 'A page is drawn a moment later: `untilReads` or `untilGone` waits for it.' });
    },
  }),
};

export default {
  meta: { name: 'waybell' },
  rules: { 'no-elapsed-time': noElapsedTime, 'no-early-look': noEarlyLook },
};
