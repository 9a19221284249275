import { expect, test } from '@jest/globals';
import { judge } from './attempt-result.ts';

test('a response of 200 to 299 is a delivery, and no other', () => {
  const all = Array.from({ length: 900 }, (_, place) => 100 + place);
  const delivered = all.filter((status) => judge(status).isDelivered);
  expect(delivered).toEqual(Array.from({ length: 100 }, (_, place) => 200 + place));
});
