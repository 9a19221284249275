import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { repository } from '@waybell/stack/stack-folder';

export type Alert = {
  alert: string;
  expr: string;
  for?: string;
  /** Rules of one alert differ by their cause. */
  labels: { severity: string; cause?: string };
  annotations: { summary: string; action: string; runbook_url: string };
};
export type Rules = { groups: { name: string; rules: Alert[] }[] };

/** What one part of an expression becomes in a test, by the name of its rule: what takes a day in production takes seconds there. */
export type Instead = Readonly<Record<string, readonly [part: string, instead: string]>>;

/** The name of a rule: its alert's, and the cause where that has several. */
export function nameOfRule(alert: string, cause: string | undefined): string {
  return cause === undefined ? alert : `${alert}/${cause}`;
}

/** The alert that a rule is of, which is the name of its page. */
export function alertOf(rule: string): string {
  return rule.split('/')[0] ?? rule;
}

/** The alerts as shipped. */
export function readRules(): Rules {
  // Its shape is checked by promtool and by the tests of the repository.
  return parse(readFileSync(join(repository, 'deploy/prometheus/waybell-alerts.yml'), 'utf8')) as Rules;
}

/** The same alerts, sixty times as fast, with these limits instead of their own. Throws where there is no such limit. */
export function hastened({ groups }: Rules, instead: Instead): Rules {
  return {
    groups: groups.map((group) => ({ ...group, rules: group.rules.map((rule) => hasten(rule, instead)) })),
  };
}

function hasten(rule: Alert, instead: Instead): Alert {
  const name = nameOfRule(rule.alert, rule.labels.cause);
  const [part, value] = instead[name] ?? ['', ''];
  if (!rule.expr.includes(part)) throw new Error(`${name} has no "${part}" any more`);
  const expr = rule.expr
    .replace(part, value)
    .replaceAll(/\[(\d+)m\]/g, '[$1s]')
    .replaceAll(/\[1h\]/g, '[60s]');
  return { ...rule, expr, ...(rule.for !== undefined && { for: '1s' }) };
}
