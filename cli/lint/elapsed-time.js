/** Names of what is measured in time: in the gate, nothing that is measured has an upper bound. */
const ELAPSED = /(Ms|_MS|Seconds|took|elapsed|duration|latency)\b/i;
const UPPER_BOUNDS = new Set(['toBeLessThan', 'toBeLessThanOrEqual']);

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

export default { meta: { name: 'waybell' }, rules: { 'no-elapsed-time': noElapsedTime } };
