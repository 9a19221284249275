import { describe, expect, test } from '@jest/globals';
import { httpServer } from '@waybell/runtime/testing/server';
import { findAdvisories, toolchainComponents } from './dependencies.ts';

const ADVISORY = {
  id: 1,
  url: 'https://advisories.test/1',
  title: 'It was bad',
  severity: 'high',
  vulnerable_versions: '<999.0.0',
};

// Long enough that a test on a busy machine never looks like a registry that does not answer.
const PATIENT_MS = 600_000;

/** Returns the findings if the registry knows these advisories, and these versions of Node. */
async function findAt({ status = 200, advisories = {}, versions = {} }: Registry) {
  await using server = await httpServer(({ url = '' }, response) => {
    const name = url.slice(1);
    if (!name.startsWith('node-')) return response.writeHead(status).end(JSON.stringify(advisories));
    const known = Object.fromEntries((versions[name] ?? []).map((version) => [version, { name, version, dist: DIST }]));
    return response
      .writeHead(name in versions ? 200 : 404)
      .end(JSON.stringify({ name, 'dist-tags': { latest: versions[name]?.at(-1) }, versions: known }));
  });
  return await findAdvisories({ registry: `http://127.0.0.1:${server.port}/`, answerLimitMs: PATIENT_MS });
}

/** pnpm takes no version for one that does not say where it is. */
const DIST = { tarball: 'http://127.0.0.1:1/', shasum: 'a'.repeat(40) };

type Registry = { status?: number; advisories?: object; versions?: Record<string, string[]> };

const pinned = toolchainComponents().filter(({ name }) => name.startsWith('node-'));
const [node = { name: '', version: '' }] = pinned;
const versions: Record<string, string[]> = {
  // The one that runs this may be none of those.
  [`node-${process.platform}-${process.arch}`]: [process.versions.node],
  ...Object.fromEntries(pinned.map(({ name, version }) => [name, [version, process.versions.node]])),
};
/** The same line's versions, the last part raised by this. */
const later = (version: string, by: number) => version.replace(/\d+$/, (patch) => String(Number(patch) + by));

describe('findAdvisories', () => {
  test('knows of nothing where the registry does not', async () => {
    expect(await findAt({ versions })).toEqual({ found: [], unknown: [] });
  });

  test('names what the registry knows against a package of the lock file', async () => {
    expect(await findAt({ advisories: { amqplib: [ADVISORY] }, versions })).toEqual({
      found: [expect.stringContaining('high: amqplib: It was bad; fixed in')],
      unknown: [],
    });
  });

  test('names the newest Node of the line, by its number, and none of another line or before a release', async () => {
    const { name, version } = node;
    const all = [later(version, 9), later(version, 10), version, '99.0.0', `${later(version, 11)}-rc.1`];
    expect(await findAt({ versions: { ...versions, [name]: all } })).toEqual({
      found: [`Node ${version} (${name}): ${later(version, 10)} is the newest of its line`],
      unknown: [],
    });
  });

  test('does not know where the registry takes no such question, nor of a Node that it does not have', async () => {
    const { [node.name]: _, ...others } = versions;
    expect(await findAt({ status: 405, versions: { ...others, [node.name]: ['99.0.0'] } })).toEqual({
      found: [],
      unknown: [
        expect.stringMatching(/^packages: .*405/),
        expect.stringContaining(`Node ${node.version} (${node.name}): `),
      ],
    });
    expect((await findAt({ versions: others })).unknown).toEqual([expect.stringMatching(/^Node .*404/)]);
  });
});
