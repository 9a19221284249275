import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';
import { readNetworks } from '@waybell/runtime/networks';
import { sharedFolder } from '@waybell/runtime/testing/shared';
import { compareTrust } from './roots.ts';

const folder = sharedFolder('roots');

const [kept, dropped] = [anAuthority('A kept authority'), anAuthority('A dropped authority')];

/** A Node that trusts these authorities beside its own. */
function aNode(name: string, authorities: { cert: string }[]): string {
  const [path, roots] = [join(folder, name), join(folder, `${name}.pem`)];
  writeFileSync(roots, authorities.map(({ cert }) => cert).join('\n'));
  writeFileSync(path, `#!/bin/sh\nNODE_EXTRA_CA_CERTS='${roots}' exec '${process.execPath}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

const terms = {
  nodes: [aNode('now', [kept, dropped]), aNode('then', [kept])] as [string, string],
  networks: readNetworks(['127.0.0.1/32']),
  deniedPorts: new Set([25]),
};

describe('compareTrust', () => {
  test('names the receivers whose chains end at a root that the other Node does not have, and no others', async () => {
    await using toDropped = await tlsServer(dropped.issue({ name: 'localhost' }), (_, response) => response.end());
    await using toKept = await tlsServer(kept.issue({ name: 'localhost' }), (_, response) => response.end());
    await using toUnknown = await tlsServer(anAuthority('Nobody').issue({ name: 'localhost' }), (_, response) =>
      response.end(),
    );
    await using otherName = await tlsServer(kept.issue({ name: 'elsewhere.example' }), (_, response) => response.end());
    const receivers = [toDropped, toKept, toUnknown, otherName].map(({ port }) => ({
      host: 'localhost',
      port,
      accounts: [],
    }));
    const { changes, compared } = await compareTrust(receivers, terms);
    expect(changes).toEqual([expect.stringMatching(/^Node .* to /), '  trusted no more: CN=A dropped authority']);
    expect(compared.map(({ kind }) => kind)).toEqual(['hit', 'good', 'bad already', 'bad already']);
    expect(compared[0]?.says).toMatch(/^ends at CN=A dropped authority: [A-Z_]+$/);
  });

  test('does not know of what callbacks must not reach, nor of what does not answer, and goes on to the next', async () => {
    await using server = await tlsServer(dropped.issue({ name: 'localhost' }), (_, response) => response.end());
    const { port } = server;
    const receivers = [
      { host: '127.0.0.2', port },
      { host: 'localhost', port: 25 },
      { host: 'nowhere.invalid', port },
      { host: 'localhost', port: 1 },
      { host: 'localhost', port },
    ].map((each) => ({ ...each, accounts: [] }));
    const { compared } = await compareTrust(receivers, terms);
    expect(compared.map(({ kind, says }) => [kind, says])).toEqual([
      ['not known', 'is at 127.0.0.2, where callbacks are not sent'],
      ['not known', 'callbacks are not sent to this port'],
      ['not known', expect.stringContaining('nowhere.invalid')],
      ['not known', 'ECONNREFUSED'],
      ['hit', expect.stringContaining('A dropped authority')],
    ]);
  });

  test('says so where the other is no Node', async () => {
    const nodes: [string, string] = [terms.nodes[0], '/none/node'];
    await expect(compareTrust([], { ...terms, nodes })).rejects.toThrow('/none/node is no Node that can say it');
    await expect(compareTrust([], { ...terms, nodes: [nodes[0], '/bin/true'] })).rejects.toThrow(
      '/bin/true is no Node',
    );
  });
});
