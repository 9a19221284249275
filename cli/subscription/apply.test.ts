import { expect, test } from '@jest/globals';
import { ApiProblem, type ClientApi } from '../client-api.ts';
import { keep } from './apply.ts';

test.each(['stopped', 'under-way'])('what cannot be tested (%s) stays off, and is told', async (kind) => {
  const api = { ask: () => Promise.reject(new ApiProblem(409, 'not now', kind)) } as unknown as ClientApi;
  const off = { guid: 'g', action: 'order.created', callback_url: 'https://hooks.test/a', is_active: false };
  const told: string[] = [];
  expect(await keep(api, off, (what) => told.push(what))).toBe(false);
  expect(told).toEqual(['order.created: stays off, as its test failed: not now']);
});
