import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { signUp, startApi } from '@waybell/subscription-api/testing/api';
import { logDelivery } from '@waybell/subscription-api/testing/logged-delivery';
import { shared, sharedFolder } from '@waybell/runtime/testing/shared';
import { EmptyProject } from '../packages/empty-project.ts';
import { goProgram } from '../testing/go-program.ts';

const interfaces = ['carrier', 'shipper'] as const;
const uses = join(repository, 'tests/clients/uses');
const run = promisify(execFile);

const api = shared(() => startApi());
const project = shared(() => EmptyProject.make());
const home = sharedFolder('clients');

const documentOf = (name: string) => `http://127.0.0.1:${api.port}/openapi/${name}.json`;

type Client = {
  /** The output of the generator, for each interface: it names what it leaves out. */
  said: string[];
  run(args: string[]): Promise<string>;
};

/** As docs/receiving.md says, but for the versions, which are fixed here. */
const generators: Record<string, () => Promise<Client>> = {
  async python() {
    const folder = join(home, 'python');
    const bin = join(folder, 'venv/bin');
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    await run(join(bin, 'pip'), ['install', '--quiet', 'openapi-python-client==0.29.1']);
    // It formats what it wrote by a program that it looks for on the path.
    const env = { ...process.env, PATH: [bin, process.env['PATH']].join(delimiter) };
    const generate = (name: string) =>
      run('openapi-python-client', ['generate', '--url', documentOf(name), '--meta', 'none', '--output-path', name], {
        cwd: folder,
        env,
      });
    const said = await each(generate);
    for (const name of interfaces) {
      const modules = (await readdir(join(folder, name), { recursive: true })).filter((path) => path.endsWith('.py'));
      const imports = modules.map((path) => `import ${join(name, path).slice(0, -3).replaceAll('/', '.')}`);
      await run(join(bin, 'python'), ['-c', imports.join('\n')], { cwd: folder });
    }
    await cp(join(uses, 'client.py'), join(folder, 'client.py'));
    return { said, run: (args) => outputOf(join(bin, 'python'), [join(folder, 'client.py'), ...args]) };
  },

  async go() {
    const folder = join(home, 'go');
    await mkdir(folder);
    await cp(join(uses, 'client.go'), join(folder, 'client.go'));
    const generator = await goProgram('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2');
    const said = await each(async (name) => {
      const args = ['-generate', 'types,client', '-package', name, documentOf(name)];
      const { stdout, stderr } = await run(generator, args, { maxBuffer: 2 ** 26 });
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, `${name}.go`), stdout);
      return { stdout: '', stderr };
    });
    const go = (...args: string[]) => run('go', args, { cwd: folder });
    await go('mod', 'init', 'example.com/clients');
    await go('get', 'github.com/oapi-codegen/runtime@v1.9.0');
    await go('vet', './...');
    await go('build', '-o', 'client', '.');
    return { said, run: (args) => outputOf(join(folder, 'client'), args) };
  },

  async typescript() {
    await project.install('openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@^5', '@types/node');
    const generator = join(project.folder, 'node_modules/openapi-typescript/bin/cli.js');
    const said = await each((name) =>
      run(process.execPath, [generator, documentOf(name), '--output', `${name}.d.ts`], { cwd: project.folder }),
    );
    const faults = await project.compile(join(uses, 'client.mts'));
    if (faults !== '') throw new Error(faults);
    return { said, run: (args) => outputOf(process.execPath, [join(project.folder, 'out/client.mjs'), ...args]) };
  },
};

async function each(generate: (name: string) => Promise<{ stdout: string; stderr: string }>): Promise<string[]> {
  const said = [];
  for (const name of interfaces) {
    const { stdout, stderr } = await generate(name);
    said.push(`${stdout}${stderr}`);
  }
  return said;
}

async function outputOf(command: string, args: string[]): Promise<string> {
  return (await run(command, args)).stdout;
}

/** All that each generator says where it has left out nothing. */
const SAID: Record<string, RegExp> = {
  python: /^Generating (carrier|shipper)\n$/,
  go: /^$/,
  typescript: /^✨ openapi-typescript 7\.13\.0\n🚀 \S+ → (carrier|shipper)\.d\.ts \[\S+s\]\n$/,
};

describe.each(Object.keys(generators))('the client that is generated in %s', (language) => {
  let client: Client;
  beforeAll(async () => {
    client = (await generators[language]?.()) ?? { said: [], run: async () => '' };
  });

  test('has all of the document, and compiles', () => {
    expect(client.said).toEqual(interfaces.map(() => expect.stringMatching(SAID[language] ?? '')));
  });

  test.each(interfaces)('subscribes, and reads subscriptions and the delivery log, as a %s', async (interfaceName) => {
    const { guid: account, token } = await signUp(api, { interface: interfaceName });
    const { delivery } = await logDelivery(api.store.postgres, { account, interface: interfaceName, mark: 'x' });
    // The address is written by people: with a slash at its end, and without.
    for (const [action, end] of [
      ['order.picked_up', ''],
      ['order.created', '/'],
    ] as const) {
      const printed = await client.run([interfaceName, `http://127.0.0.1:${api.port}${end}`, token, action]);
      const on = action === 'order.picked_up' ? [action] : ['order.created', 'order.picked_up'];
      expect(printed.split('\n')).toEqual([
        `subscribed ${action} 43`,
        `put ${action} unchanged`,
        ...on.map((name) => `on ${name} true`),
        `delivery ${delivery} order.created exhausted reset`,
        'problem 404 urn:waybell:problem:unknown-delivery',
        '',
      ]);
    }
  });
});
