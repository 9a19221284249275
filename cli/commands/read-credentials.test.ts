import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCredentials } from './credentials.ts';
import { sharedFolder } from '@waybell/runtime/testing/shared';

const folder = sharedFolder('credentials');

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const file = fileWith('basic.json', '{"basic":{"username":"ann","password":"p"},"certificate":{}}');
const [certificate, key] = [fileWith('chain.pem', 'CHAIN\n'), fileWith('key.pem', 'KEY\n')];
const pair = { chain: 'CHAIN\n', key: 'KEY\n' };

describe('readCredentials', () => {
  test('reads what files hold, together', () => {
    expect(JSON.parse(readCredentials({ certificate, key }))).toEqual({ certificate: pair });
    expect(JSON.parse(readCredentials({ file }))).toMatchObject({ certificate: {} });
    expect(JSON.parse(readCredentials({ file, certificate, key }))).toEqual({
      basic: { username: 'ann', password: 'p' },
      certificate: pair,
    });
  });

  test.each([
    [{}, /say what to put in/],
    [{ certificate }, /give both/],
    [{ file, key }, /give both/],
    [{ file: fileWith('list.json', '["secret"]') }, /list\.json: it must be a JSON object/],
    [{ file: fileWith('text.json', 'secret') }, /text\.json: it must be a JSON object/],
    [{ file: join(folder, 'none.json') }, /ENOENT/],
  ])('refuses %j, and does not say what it holds', (files, message) => {
    expect(() => readCredentials(files)).toThrow(message);
    expect(() => readCredentials(files)).not.toThrow(/secret/);
  });
});
