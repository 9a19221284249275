import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { asSentence, fieldOf, problemsWithText, textOfProblem } from './problem-texts.ts';

/** What the page cannot cause: it asks by a client made from the document, and follows no listener. */
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

/** What the page alone knows. */
const OWN = ['unreachable'];

const publishedKinds = (): string[] =>
  ['openapi.json', 'admin-openapi.json'].flatMap((name) => {
    const document = readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
    return [...document.matchAll(/urn:waybell:problem:(?<kind>[a-z-]+)/g)].map(({ groups }) => groups?.['kind'] ?? '');
  });

test('the page has words for every problem that it can be answered with, and for no other', () => {
  const told = [...new Set(publishedKinds())].filter((kind) => !NOT_CAUSED.includes(kind));
  expect([...problemsWithText].toSorted()).toEqual([...told, ...OWN].toSorted());
});

test('no help is a recipe for a caller of the API', () => {
  const recipes = problemsWithText.filter((kind) =>
    /curl|PATCH|DELETE|PUT|POST|\{|\/v1\//.test(textOfProblem(kind)?.help ?? ''),
  );
  expect(recipes).toEqual([]);
});

test('a kind that the page does not know has no text, whatever it is called', () => {
  expect(['of-tomorrow', 'constructor', ''].map(textOfProblem)).toEqual([undefined, undefined, undefined]);
});

test('a field is named by the first step of its pointer, or by its parameter', () => {
  expect(['#/callback_url', '#/scopes/0', 'since', '#', '#/oauth2/token_url'].map(fieldOf)).toEqual([
    'URL',
    'Scopes',
    'From',
    undefined,
    undefined,
  ]);
});

test('a fault is a sentence', () => {
  expect(['is not https', 'names no host.', ''].map(asSentence)).toEqual(['Is not https.', 'Names no host.', '.']);
});
