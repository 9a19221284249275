import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeMetrics } from '@waybell/cli/docs/metrics-page';
import { isSuspectsQueue, rejectedQueue, type Queue } from '@waybell/line/topology';
import { createMetrics } from '@waybell/runtime/metrics';
import { topologyOf } from '@waybell/stack/prepare';
import { nameOfRule, readRules } from '../alerts/alert-rules.ts';
import { readExpression, type Expression } from './read-expression.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

type Dashboard = { panels: { title: string; description?: string; targets?: { expr: string }[] }[] };

// Its shape is checked by the tool that reads it; a test below fails where an expected member is missing.
const { panels } = JSON.parse(read('deploy/grafana/waybell.json')) as Dashboard;
const page = read('docs/operating/metrics.md');

const alerts = readRules().groups.flatMap(({ rules }) => rules);
const expressions = [
  ...alerts.map(({ alert, expr, labels }) => ({ where: nameOfRule(alert, labels.cause), expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
];

/** The labels of each of our metrics; every series has those that Prometheus and the registry add. */
const ours = new Map(describeMetrics().map(({ name, labels }) => [name, labels]));
const ofTheRuntime = new Set(
  createMetrics('test')
    .getMetricsAsArray()
    .map(({ name }) => name),
);
const ON_ALL = ['service', 'job', 'instance', 'le', 'queue', 'rabbitmq_node', 'mountpoint', 'persistentvolumeclaim'];
/** Series that Prometheus makes of the alerts themselves, and its labels. */
const OF_ALERTS = ['alertname', 'alertstate', 'cause'];

const isKnown = (metric: string) =>
  ['up', 'ALERTS'].includes(metric) ||
  ofTheRuntime.has(metric) ||
  ours.has(familyOf(metric)) ||
  (/^(rabbitmq|node|kubelet)_/.test(metric) && page.includes(`\`${metric}\``));

function familyOf(series: string): string {
  return ours.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '');
}

function unknownLabels({ metrics, labels }: Expression): string[] {
  const known = [
    ...ON_ALL,
    ...(metrics.includes('ALERTS') ? OF_ALERTS : []),
    ...metrics.flatMap((metric) => ours.get(familyOf(metric)) ?? []),
  ];
  return labels.filter((label) => !known.includes(label));
}

describe('the alerts and the dashboard', () => {
  test.each(expressions)('$where names only metrics that exist, and labels that they have', ({ expr }) => {
    const expression = readExpression(expr);
    expect(expression.metrics).not.toEqual([]);
    expect(expression.metrics.filter((metric) => !isKnown(metric))).toEqual([]);
    expect(unknownLabels(expression)).toEqual([]);
  });

  test('leave out no metric of ours', () => {
    const shown = new Set(expressions.flatMap(({ expr }) => readExpression(expr).metrics.map(familyOf)));
    expect([...ours.keys()].filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('an alert', () => {
  test.each(alerts)(
    '$alert $labels.cause says how bad it is, what is so, and what to do',
    ({ alert, labels, annotations }) => {
      const text = expect.any(String);
      const { cause, ...others } = labels;
      expect(others).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) });
      expect(cause !== undefined).toBe(alerts.filter((each) => each.alert === alert).length > 1);
      expect(annotations).toEqual({ summary: text, action: text, runbook_url: text });
    },
  );
});

test('few alerts wake somebody, and few are for working hours', () => {
  const named = (severity: string) =>
    new Set(alerts.filter(({ labels }) => labels.severity === severity).map(({ alert }) => alert));
  expect(named('critical').size).toBeLessThanOrEqual(8);
  expect(named('warning').size).toBeLessThanOrEqual(6);
  expect([...named('critical')].filter((alert) => named('warning').has(alert))).toEqual([]);
});

test('WaybellEventsNearLimit fires at half of the limit that a queue of events has', () => {
  const events = topologyOf({}).queues.filter(({ name }) => name.startsWith('waybell.events.'));
  const limits = new Set(events.map((queue) => Number(queue.arguments['x-max-length-bytes'])));
  const { expr = '' } = alerts.find(({ alert }) => alert === 'WaybellEventsNearLimit') ?? {};
  expect(limits).toEqual(new Set([2 * Number(/> (\d+)$/.exec(expr)?.[1])]));
});

test('WaybellNotConsumed watches each queue that a service takes from all the time', () => {
  const isTakenFrom = ({ name, arguments: { 'x-message-ttl': ttl } }: Queue) =>
    ttl === undefined && name !== rejectedQueue && !isSuspectsQueue(name);
  const { expr = '' } = alerts.find(({ alert }) => alert === 'WaybellNotConsumed') ?? {};
  const watched = new RegExp(`^(${JSON.parse(`"${/queue=~"(.*?)"/.exec(expr)?.[1]}"`)})$`);
  const { queues } = topologyOf({});
  expect(queues.filter((queue) => watched.test(queue.name) !== isTakenFrom(queue)).map(({ name }) => name)).toEqual([]);
});

describe('a panel', () => {
  test.each(panels.filter(({ targets }) => targets !== undefined))('$title says what it shows', ({ description }) => {
    expect(description).toMatch(/\.$/);
  });
});
