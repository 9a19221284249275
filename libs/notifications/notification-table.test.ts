import { readdirSync, readFileSync } from 'node:fs';
import { actionKey, actions, findAction } from '@waybell/catalog/actions';
import { describe, expect, test } from '@jest/globals';
import { type Notification, notify, type NotificationTarget } from './notification.ts';
import { type EventReading, readEvent } from '@waybell/events/read-event';

const folder = new URL('../../tests/notifications/', import.meta.url);
const MESSAGE = 'd0d0d0d0-d0d0-5d0d-8d0d-d0d0d0d0d0d0';
const accounts: Readonly<Record<string, string>> = {
  shipper: 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1',
  broker: 'e2e2e2e2-e2e2-4e2e-8e2e-e2e2e2e2e2e2',
  carrier: 'e3e3e3e3-e3e3-4e3e-8e3e-e3e3e3e3e3e3',
};

/** Lines of a row in their order; README.md of the folder says what each means. */
type Row = { title: string; lines: readonly (readonly [key: string, value: string])[] };

const rows = readdirSync(folder)
  .filter((file) => file.endsWith('.txt'))
  .flatMap((file) => readRows(readFileSync(new URL(file, folder), 'utf8')).map((row) => ({ file, ...row })));

function readRows(text: string): Row[] {
  const blocks = text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
  return blocks
    .filter((lines) => lines.length > 0)
    .flatMap(spelledOut)
    .map((lines) => lines.map((line): [string, string] => [line.slice(0, 10).trim(), line.slice(10)]))
    .map((lines) => ({ title: lines.find(([key]) => key === 'row')?.[1] ?? '', lines }));
}

/** A row for each word of its lines `each`; the row itself where it has none. */
function spelledOut(lines: string[]): string[][] {
  const [each, others] = [true, false].map((isEach) => lines.filter((line) => line.startsWith('each ') === isEach));
  const words = (each ?? []).flatMap((line) => line.slice(10).split(' '));
  return words.length === 0
    ? [lines]
    : words.map((word) => (others ?? []).map((line) => line.replaceAll('<each>', word)));
}

function lineOf(row: Row, key: string): string | undefined {
  return row.lines.find(([each]) => each === key)?.[1];
}

const receivedBy = (row: Row): string => lineOf(row, 'receives') ?? lineOf(row, 'action')?.split(' ')[0] ?? '';

function read(row: Row): EventReading {
  const [interfaceName, name] = (lineOf(row, 'action') ?? '').split(' ');
  const parties = receivedBy(row)
    .split(' ')
    .map((party) => `"${party}":"${accounts[party]}"`);
  const members = [
    '"guid":"f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0"',
    `"interface":"${interfaceName}","action":"${name}"`,
    `"occurred_at":"${lineOf(row, 'occurred') ?? '2026-11-20T09:30:00.123456Z'}"`,
    `"parties":{${parties.join(',')}}`,
    ...['ignored', 'error'].flatMap((key) => {
      const value = lineOf(row, key);
      return value === undefined ? [] : [`"${key === 'error' ? 'error_message' : key}":${value}`];
    }),
    `"payload":${lineOf(row, 'payload')}`,
  ];
  const body = Buffer.from(`{${members.join(',')}}`);
  return readEvent({ body, routingKey: `${interfaceName}.${name}` }, { maxBytes: 1_048_576, maxDepth: 32 });
}

/** Returns the result of a row's event, in the words of the table. */
function became(row: Row): string[] {
  const reading = read(row);
  if (reading.kind === 'invalid') return [`rejected ${reading.reason} ${reading.detail}`];
  const { action, receivers, unknownMembers } = reading.event;
  const parties = receivers.map((account) => Object.keys(accounts).find((party) => accounts[party] === account));
  const sent = targetsOf(row).map((target) => shown(notify(reading.event)(target)));
  return [
    `receives ${parties.join(' ')}`,
    `gate ${action.feature ?? 'none'}`,
    `unknown ${unknownMembers.count}`,
    ...sent,
  ];
}

function expected(row: Row): string[] {
  const rejected = lineOf(row, 'rejected');
  if (rejected !== undefined) return [`rejected ${rejected}`];
  const sent = row.lines.filter(([key]) => key === 'sent' || key === 'nothing').map((line) => line.join(' '));
  const [gate, unknown] = [lineOf(row, 'gate') ?? 'none', lineOf(row, 'unknown') ?? '0'];
  return [`receives ${receivedBy(row)}`, `gate ${gate}`, `unknown ${unknown}`, ...sent];
}

function targetsOf(row: Row): NotificationTarget[] {
  let auditFieldSet: string[] | null = null;
  return row.lines.flatMap(([key, value]) => {
    if (key === 'fields') auditFieldSet = fieldsOf(value);
    return key === 'sent' || key === 'nothing' ? [{ auditFieldSet, messageGuid: MESSAGE }] : [];
  });
}

function shown(notification: Notification): string {
  if (notification.kind === 'suppressed') return `nothing ${notification.reason}`;
  return `sent ${notification.body.toString('utf8').replace(MESSAGE, '<message>')}`;
}

function fieldsOf(line: string): string[] | null {
  if (line === '(omitted)') return null;
  return line === '(none)' ? [] : line.split(' ');
}

describe('readEvent, then notify', () => {
  test.each(rows.map((row) => [row.file, row.title, row] as const))('%s: %s', (_file, _title, row) => {
    expect(became(row)).toEqual(expected(row));
  });

  test('have a row that shows each of the 72 actions as sent', () => {
    const names = rows.filter((row) => lineOf(row, 'sent') !== undefined).map((row) => lineOf(row, 'action') ?? '');
    const shownKeys = new Set(names.map((name) => name.replace(' ', '.')));
    expect(actions.map(actionKey).filter((key) => !shownKeys.has(key))).toEqual([]);
    expect(
      names.filter((name) => findAction(name.split(' ')[0] ?? '', name.split(' ')[1] ?? '') === undefined),
    ).toEqual([]);
  });
});
