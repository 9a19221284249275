import { describe, expect, test } from '@jest/globals';
import { chooseSources, SERVER_NAMES, type Machine, type ServerName } from './choose-sources.ts';

const aMachine = (offers: Partial<Machine> = {}): Machine => ({
  findBinary: () => undefined,
  engineTrouble: () => '',
  install: async () => false,
  ...offers,
});
const withBinaries = (...names: ServerName[]) => ({
  findBinary: (name: ServerName) => (names.includes(name) ? `/bin/${name}` : undefined),
});
const never = () => {
  throw new Error('asked');
};
const sourcesOn = async (machine: Machine, env: NodeJS.ProcessEnv = {}) => chooseSources(SERVER_NAMES, env, machine);

describe('chooseSources', () => {
  test('an address in the environment comes before a binary, an empty one does not count', async () => {
    const sources = await sourcesOn(aMachine(withBinaries('rabbitmq', 'postgres', 'redis')), {
      AMQP_URL: 'amqp://there',
      REDIS_URL: '',
    });
    expect(sources.rabbitmq).toEqual({ from: 'address', url: 'amqp://there' });
    expect(sources.redis).toEqual({ from: 'binary', path: '/bin/redis' });
  });

  test('an engine runs only what has no binary', async () => {
    const sources = await sourcesOn(aMachine({ ...withBinaries('redis'), engineTrouble: () => undefined }));
    expect(sources).toEqual({
      rabbitmq: { from: 'engine' },
      postgres: { from: 'engine' },
      redis: { from: 'binary', path: '/bin/redis' },
    });
  });

  test('without an engine the missing packages are installed, and their binaries used', async () => {
    const installed: ServerName[] = ['redis'];
    const sources = await sourcesOn(
      aMachine({
        findBinary: (name) => withBinaries(...installed).findBinary(name),
        install: async (names) => installed.push(...names) > 0,
      }),
    );
    expect(installed).toEqual(['redis', 'rabbitmq', 'postgres']);
    expect(sources.postgres).toEqual({ from: 'binary', path: '/bin/postgres' });
  });

  test('neither engine nor packages are asked for when nothing is missing', async () => {
    const sources = sourcesOn(aMachine({ ...withBinaries(...SERVER_NAMES), engineTrouble: never, install: never }));
    await expect(sources).resolves.toHaveProperty('redis');
  });

  test('says every way when there is none, and what keeps an engine from being one', async () => {
    const trouble = 'permission denied';
    await expect(sourcesOn(aMachine({ ...withBinaries('redis'), engineTrouble: () => trouble }))).rejects.toThrow(
      /no rabbitmq, no postgres[^]*AMQP_URL, DATABASE_URL[^]*install[^]*Docker.*\(now: permission denied\)/,
    );
  });
});
