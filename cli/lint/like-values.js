/** Values that are not mixed up: absent, yes or no, empty, and what a call makes anew. */
const NO_VALUE = /^(?:null|undefined|true|false|''|\[\]|\{\})$/;
const ANEW = /Function|CallExpression/;
/** The last word of a name is the kind of its value: `leaseMs` and `keepMs`, `CONNECT_LIMIT` and `RESPONSE_LIMIT`. */
const NAME = /^(?:[A-Za-z_]\w*?)??_?(?<kind>[A-Z]?[a-z\d]+|[A-Z\d]+)$/;
/** Kinds that their names do not say. */
const KINDS = { generation: 'attempt' };
/** Both ends of a range may be in one place. */
const END = /^(?:min|max)(?=[A-Z_])/;

/**
 * Two values of a kind that are alike hide that one was taken for the other. So what a test gives together, or has as defaults or
 * constants, has a value each. Where they are alike for a reason, the line before says so.
 */
const noLikeValues = {
  create: (context) => {
    const compare = (pairs) => {
      const seen = new Map();
      for (const { name, value } of pairs) {
        const text = context.sourceCode.getText(value);
        const kind = KINDS[name] ?? NAME.exec(name)?.groups.kind.toLowerCase();
        if (kind === undefined || NO_VALUE.test(text) || ANEW.test(value.type)) continue;
        const other = seen.get(`${kind} ${text}`);
        if (other !== undefined && other.replace(END, '') !== name.replace(END, ''))
          context.report({ node: value, message: `"${other}" is ${text} too: no test sees a mix-up of the two.` });
        seen.set(`${kind} ${text}`, name);
      }
    };
    const named = (key, value) => ({ name: String(key.name ?? key.value), value });
    return {
      ObjectExpression({ properties }) {
        const given = properties.filter(
          ({ type, computed, shorthand }) => type === 'Property' && !computed && !shorthand,
        );
        compare(given.map(({ key, value }) => named(key, value)));
      },
      ObjectPattern({ properties }) {
        const defaults = properties.filter(({ value }) => value?.type === 'AssignmentPattern');
        compare(defaults.map(({ key, value }) => named(key, value.right)));
      },
      Program({ body }) {
        const declared = body.flatMap((each) => (each.declaration ?? each).declarations ?? []);
        compare(declared.filter(({ init }) => init).map(({ id, init }) => named(id, init)));
      },
    };
  },
};

export default { meta: { name: 'fixtures' }, rules: { 'no-like-values': noLikeValues } };
