import { expect, test } from '@jest/globals';
import { releasesAmong } from './other-sources.ts';

test('releases that run beside the one after them are those from 0.3.0 on', () => {
  const tags = ['v0.10.0', 'v0.3.1', 'v0.3.0', 'v0.3.0-rc.1', 'v0.2.0', 'v0.1.0', 'vintage', ''];
  expect(releasesAmong(tags)).toEqual(['v0.10.0', 'v0.3.1', 'v0.3.0']);
});
