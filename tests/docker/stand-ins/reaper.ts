import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { createInterface } from 'node:readline';

/**
 * Stands for the image testcontainers/ryuk: a line for each filter (`label=a=b`), answered with ACK; when nobody is connected any
 * more, and has not been for a while, it removes all that the filters match, and ends.
 */
const PORT = 8080;
const RECONNECT_MS = 10_000;
/** A label of its image: its own container also carries that of those which it removes. */
const OWN = 'org.testcontainers.ryuk';

type Found = { Id: string; Labels?: Record<string, string> };

const labels = new Set<string>();
let connected = 0;

const server = createServer((socket) => {
  connected += 1;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    connected -= 1;
    void reap();
  });
  createInterface(socket).on('line', (line) => {
    const [name, label] = [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];
    if (name === 'label') labels.add(label);
    socket.write('ACK\n');
  });
});
server.listen(PORT, () => console.log('Started'));

async function reap(): Promise<void> {
  // oxlint-disable-next-line no-restricted-properties -- it is a program, and waits as the one that it stands for does
  await once(AbortSignal.timeout(RECONNECT_MS), 'abort');
  if (connected > 0) return;
  server.close();
  for (const label of labels) {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
    const containers = (await ask('GET', `/containers/json?all=1&filters=${filters}`)) as Found[];
    for (const { Id, Labels } of containers)
      if (Labels?.[OWN] === undefined) await ask('DELETE', `/containers/${Id}?force=1&v=1`);
    const networks = (await ask('GET', `/networks?filters=${filters}`)) as Found[];
    for (const { Id } of networks) await ask('DELETE', `/networks/${Id}`);
    const { Volumes } = (await ask('GET', `/volumes?filters=${filters}`)) as { Volumes: { Name: string }[] | null };
    for (const { Name } of Volumes ?? []) await ask('DELETE', `/volumes/${Name}?force=1`);
    console.log(`removed what is labelled ${label}`);
  }
  process.exit();
}

async function ask(method: string, path: string): Promise<unknown> {
  const asked = request({ socketPath: '/var/run/docker.sock', method, path, headers: { host: 'docker' } });
  asked.end();
  const [answer] = await once(asked, 'response');
  if (answer.statusCode >= 400) console.log(`${method} ${path}: ${answer.statusCode}`);
  return answer.statusCode === 204 ? undefined : json(answer);
}
