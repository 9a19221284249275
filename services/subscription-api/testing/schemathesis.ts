import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = '4.32.5';

const folder = join(import.meta.dirname, '../../../.waybell/schemathesis', VERSION);
const program = join(folder, 'bin/schemathesis');

/** Installs it, where it is not there yet, into a folder of this checkout. Needs Python and its registry. */
export async function installSchemathesis(): Promise<void> {
  if (existsSync(program)) return;
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
}

type Fuzzing = {
  port: number;
  token: string;
  /** Guid of one that can be sent again. */
  delivery: string;
  /** The action that it unsubscribes from: another than that of the delivery. */
  ended: string;
  seconds: number;
  /** Only operations of this tag. */
  tag?: string;
  /** An operator asks for the client of this account, by the document for operators. */
  actingFor?: string;
};

/** Requests everything in an API's OpenAPI document, for this long. Throws its findings if an answer does not match. */
export async function runSchemathesis({ port, token, seconds, tag, ...what }: Fuzzing): Promise<string> {
  await using place = await mkdtempDisposable(join(tmpdir(), 'waybell-schemathesis-'));
  const config = join(place.path, 'schemathesis.toml');
  await writeFile(config, configOf(what));
  const origin = `http://127.0.0.1:${port}`;
  const only = tag === undefined ? [] : ['--include-tag', tag];
  const asked = [
    'run',
    ...only,
    `${origin}/${what.actingFor === undefined ? '' : 'admin-'}openapi.json`,
    '--url',
    origin,
    '--header',
    `Authorization: Bearer ${token}`,
  ];
  return await run(
    program,
    ['--config-file', config, ...asked, '--max-time', String(Math.ceil(seconds)), '--no-color'],
    place.path,
  );
}

// Rules beyond a schema are answered 422: a callback URL that leads inside, since after until. A cancelled replay is still
// shown, and a listener that has ended. A text that is too long may exceed what is read.
const configOf = ({ delivery, ended, actingFor }: Pick<Fuzzing, 'delivery' | 'ended' | 'actingFor'>) => `
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "303", "401", "403", "404", "409", "410", "422"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "410", "413", "415", "422", "5xx"]

[checks.use_after_free]
enabled = false

# Their answers never end.
[[operations]]
include-operation-id = ["streamLive", "streamRequests", "streamLiveForClient"]
enabled = false

# Any value may be set in an event, and no schema says of the strings within that none has a NUL.
[[operations]]
include-operation-id = ["trigger"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]

[[operations]]
include-operation-id = ["getDelivery", "resendDelivery", "getDeliveryForClient", "resendDeliveryForClient"]
parameters = { guid = "${delivery}"${place(actingFor)} }

# Who is not subscribed to the action of that delivery is refused to have it sent again.
[[operations]]
include-operation-id = ["unsubscribeCarrier", "unsubscribeShipper", "unsubscribeCarrierForClient", "unsubscribeShipperForClient"]
parameters = { webhook_action = "${ended}"${place(actingFor)} }

[[operations]]
include-tag = ["For a client"]
parameters = { ${place(actingFor).slice(2)} }
`;

const place = (account: string | undefined): string =>
  account === undefined ? '' : `, account = "${account}", client = "default"`;

/** Returns its output. */
function run(command: string, args: string[], cwd?: string): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(text);
      else reject(new Error(`${command} ended with ${status}:\n${text}`));
    });
  });
}
