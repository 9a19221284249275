import { writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readInherited, requireOwnFolder } from './inherited-servers.ts';
import { makeFolders, stackFolder } from './stack-folder.ts';
import { claimPorts, portOf, readRecord } from './stack-record.ts';

/** A stack that has been there, and what `./waybell env` printed of it. */
async function aStack(home: string) {
  const folder = stackFolder(home);
  makeFolders(folder);
  const record = readRecord(folder);
  await claimPorts(folder, record, ['rabbitmq', 'redis']);
  const AMQP_URL = `amqp://waybell:${record.brokerPassword}@127.0.0.1:${portOf(record, 'rabbitmq')}`;
  const REDIS_URL = `redis://:${record.cachePassword}@127.0.0.1:${portOf(record, 'redis')}/0`;
  return { folder, addresses: { AMQP_URL, REDIS_URL } };
}

const temporary = () => mkdtempDisposable(join(tmpdir(), 'waybell-inherited-'));

describe('readInherited', () => {
  test('takes the addresses of the stack itself as not set, whether it runs or not', async () => {
    await using place = await temporary();
    const { folder, addresses } = await aStack(join(place.path, 'own'));
    const read = readInherited(folder, { ...addresses, LOG_LEVEL: 'debug' });
    expect(read).toEqual({ servers: [], env: { LOG_LEVEL: 'debug' } });
  });

  test('refuses those of another stack, and says what to do', async () => {
    await using place = await temporary();
    const [own, other] = [await aStack(join(place.path, 'own')), await aStack(join(place.path, 'other'))];
    expect(() => readInherited(own.folder, other.addresses)).toThrow(
      `AMQP_URL, REDIS_URL name another stack, the one in ${other.folder.home}: for one of this checkout, first run "unset AMQP_URL REDIS_URL"`,
    );
  });

  test('refuses the folder of another checkout, with all that is of it', async () => {
    await using place = await temporary();
    const { folder, addresses } = await aStack(join(place.path, '.waybell'));
    expect(readInherited(folder, {}).servers).toEqual([]);
    writeFileSync(join(place.path, 'waybell'), '');
    expect(() => requireOwnFolder(folder)).toThrow(/run "unset WAYBELL_HOME"$/);
    expect(() => readInherited(folder, addresses)).toThrow(/run "unset WAYBELL_HOME AMQP_URL REDIS_URL"$/);
  });

  test('uses what else is named: also at the port of a stack, where the password is another', async () => {
    await using place = await temporary();
    const [own, other] = [await aStack(join(place.path, 'own')), await aStack(join(place.path, 'other'))];
    const AMQP_URL = other.addresses.AMQP_URL.replace(/:[0-9a-f]{32}@/, ':guest@');
    const env = { AMQP_URL, REDIS_URL: 'redis://redis', DATABASE_URL: '' };
    expect(readInherited(own.folder, env)).toEqual({
      servers: [
        { variable: 'AMQP_URL', url: AMQP_URL },
        { variable: 'REDIS_URL', url: 'redis://redis' },
      ],
      env,
    });
  });
});
