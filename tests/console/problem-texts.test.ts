import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { problemsWithText } from '../../apps/console/src/parts/problem-texts.ts';

/** Problems that the page cannot cause: its client is made from the document, and it follows no listener. */
const NOT_CAUSED = [
  'invalid-json',
  'malformed-request',
  'unknown-listener',
  'already-listening',
  'answered-too-late',
  'listener-ended',
  'no-answer',
  'method-not-allowed',
  'unsupported-media-type',
  'headers-too-large',
];

/** Problems that only the page knows. */
const OWN = ['unreachable'];

const publishedKinds = (): string[] =>
  ['openapi.json', 'admin-openapi.json'].flatMap((name) => {
    const document = readFileSync(join(repository, 'docs', name), 'utf8');
    return [...document.matchAll(/urn:waybell:problem:(?<kind>[a-z-]+)/g)].map(({ groups }) => groups?.['kind'] ?? '');
  });

test('the page has words for every problem that it can be answered with, and for no other', () => {
  const told = [...new Set(publishedKinds())].filter((kind) => !NOT_CAUSED.includes(kind));
  expect([...problemsWithText].toSorted()).toEqual([...told, ...OWN].toSorted());
});
