import { expect, test } from '@jest/globals';
import { asSentence, fieldOf, problemsWithText, textOfProblem } from './problem-texts.ts';

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
