import { parser } from '@prometheus-io/lezer-promql';

export type Expression = { text: string; metrics: string[]; labels: string[] };

/** Reads the names in a PromQL expression. Throws if it is none. */
export function readExpression(text: string): Expression {
  // Grafana's own variable stands for a duration.
  const promql = text.replaceAll('$__rate_interval', '5m');
  const metrics = new Set<string>();
  const labels = new Set<string>();
  parser.parse(promql).iterate({
    enter({ type, name, from, to, node }) {
      const named = promql.slice(from, to);
      if (type.isError) throw new SyntaxError(`not PromQL at ${from}: ${text}`);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.add(named);
      if (name === 'LabelName') labels.add(named);
    },
  });
  return { text, metrics: [...metrics], labels: [...labels] };
}
