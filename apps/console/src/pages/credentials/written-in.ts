import type { GivenCredentials } from './types.ts';

/** The names of fields that may be there several times: of each header its name, then its value. */
export const HEADER_NAME = 'header-name';
export const HEADER_VALUE = 'header-value';
export const PASSWORD = '#/basic/password';

/** Returns the values of a form's fields, as the API takes them: each at the place that its name points to. */
export function writtenIn(form: HTMLFormElement | null): GivenCredentials {
  const body: Record<string, Record<string, string>> = {};
  let header = '';
  for (const [at, value] of new FormData(form ?? undefined)) {
    if (typeof value !== 'string') continue;
    const [root, kind = '', member = ''] = at.split('/');
    // A password may be empty; what else is, was left out.
    const isGiven = root === '#' && (value !== '' || at === PASSWORD);
    if (at === HEADER_NAME) header = value.trim();
    else if (at === HEADER_VALUE) (body['headers'] ??= {})[header] = value;
    else if (isGiven) (body[kind] ??= {})[member] = value;
  }
  return body;
}
