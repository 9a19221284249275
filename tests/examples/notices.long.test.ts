import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { brokerUser } from '@waybell/line/line-topology';
import { asUser } from '@waybell/runtime/local-passwords';
import { until } from '@waybell/runtime/testing/until';
import { repository } from '@waybell/stack/stack-folder';
import { shared, sharedFolder } from '@waybell/runtime/testing/shared';
import { integrator } from '../testing/integrator.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { buildExample } from './build-example.ts';
import { Program } from './program.ts';

const stack = shared(() => TestStack.start({ CARRIER_RETRY_DELAYS: '100ms' }));
const receiver = shared(() => Receiver.start());
const home = sharedFolder('notices');

/** Takes mail, as much of SMTP as a program needs that sends one. */
async function mailServer() {
  const mails: string[] = [];
  const server = createServer((socket) => {
    let text = '';
    let isData = false;
    socket.write('220 mail.example\r\n');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk.toString();
      for (let end; (end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n')) >= 0;) {
        const said = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) mails.push(said);
        isData = said === 'data' && !isData;
        if (!isData && said.toUpperCase() === 'QUIT') socket.end('221 bye\r\n');
        else socket.write(isData ? '354 go on\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a port');
  return {
    mails,
    port: address.port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** The program of the page, as it stands there. */
async function programOfPage(): Promise<string> {
  const page = await readFile(join(repository, 'docs/operating/notices.md'), 'utf8');
  const [, program] = /```python\n(.*?)```/s.exec(page) ?? [];
  if (program === undefined) throw new Error('the page has no program');
  const file = join(home, 'mail.py');
  await writeFile(file, program);
  return file;
}

test('the program of the page mails a customer whose subscription is off, with the rights of the platform', async () => {
  const { publish } = await buildExample('python', home);
  await using server = await mailServer();
  const env = {
    AMQP_URL: asUser(brokerUser('upstream'), stack.brokerUrl),
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(server.port),
  };
  await using program = new Program([publish[0], await programOfPage()], env);
  const carrier = await integrator({ stack, receiver, interfaceName: 'carrier' });
  carrier.answer(500);
  await carrier.hear();
  const mail = await until('it mails', () => {
    if (program.errors !== '') throw new Error(program.errors);
    return server.mails.find((each) => each.includes('switched_off'));
  });
  expect(mail).toContain(`To: ${carrier.client.account}@customers.example`);
  expect(mail).toContain('Subject: order.created: subscription.switched_off (exhausted)');
  expect(mail.replaceAll('=\r\n', '')).toContain(receiver.url(carrier.path));
  expect(server.mails.filter((each) => each.includes('delivery.exhausted'))).toHaveLength(1);
});
