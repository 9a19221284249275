import { expect, test, describe } from '@jest/globals';
import { ApiProblem, type ClientApi } from '../client-api.ts';
import { keepOn, readDesired, requireDistinct } from './desired-subscriptions.ts';

const entry = { callback_url: 'https://receiver.example.com/waybell', actions: ['order.*', 'vehicle.created'] };

describe('readDesired', () => {
  test.each([
    ['YAML', `callback_url: ${entry.callback_url}\nactions: ['order.*', vehicle.created]\n`, [entry]],
    ['JSON', JSON.stringify(entry), [entry]],
    ['a list', `- callback_url: ${entry.callback_url}\n  actions:\n    - order.*\n    - vehicle.created\n`, [entry]],
    [
      'fields',
      JSON.stringify([entry, { ...entry, audit_field_set: ['price'] }]),
      [entry, { ...entry, audit_field_set: ['price'] }],
    ],
  ])('reads %s', (_what, text, entries) => {
    expect(readDesired(text, 'a.yaml')).toEqual(entries);
  });

  test.each([
    ['a: [1\nb: 2', /^a\.yaml: .*line 2/s],
    ['actions: [*]', /a\.yaml: Alias [^]*write '\*', in quotes$/],
    ['', /a\.yaml: it must be a JSON object/],
    ['[]', /a\.yaml: it is an empty list/],
    [
      JSON.stringify([entry, { action: [], callback_url: 5 }]),
      /a\.yaml: 1\.actions is required[^]*1\.action is not known here; known are: callback_url, actions, audit_field_set[^]*1\.callback_url must be a string/,
    ],
    [JSON.stringify({ ...entry, is_active: true }), /a\.yaml: is_active is not known here/],
    [JSON.stringify({ ...entry, actions: ['Order'] }), /a\.yaml: actions\.0 must be the name of an action/],
    [`${JSON.stringify(entry).slice(0, -1)}, "actions": []}`, /a\.yaml: Map keys must be unique/],
  ])('refuses %j, and says what is wrong where', (text, message) => {
    expect(() => readDesired(text, 'a.yaml')).toThrow(message);
  });
});

describe('requireDistinct', () => {
  const names = ['order.created', 'order.paid', 'vehicle.created'];
  const of = (...actions: string[]) => ({ callback_url: entry.callback_url, actions });

  test('takes entries that have no action in common', () => {
    expect(() => requireDistinct([of('order.*', 'order.paid'), of('vehicle.*')], names)).not.toThrow();
  });

  test('takes an action beside another whose name begins like it', () => {
    const entries = [of('order.picked_up'), of('order.picked_up_bol')];
    expect(() => requireDistinct(entries, ['order.picked_up', 'order.picked_up_bol'])).not.toThrow();
  });

  test('refuses an action that two choose, and says which do', () => {
    expect(() => requireDistinct([of('order.*'), of('vehicle.created'), of('*.created')], names)).toThrow(
      'order.created is chosen by 0.actions and 2.actions\nvehicle.created is chosen by 1.actions and 2.actions',
    );
  });
});

test.each(['stopped', 'under-way'])('what cannot be tested (%s) stays off, and is told', async (kind) => {
  const api = { ask: () => Promise.reject(new ApiProblem(409, 'not now', kind)) } as unknown as ClientApi;
  const off = { guid: 'g', action: 'order.created', callback_url: 'https://hooks.test/a', is_active: false };
  const told: string[] = [];
  expect(await keepOn(api, off, (what) => told.push(what))).toBe(false);
  expect(told).toEqual(['order.created: stays off, as its test failed: not now']);
});
