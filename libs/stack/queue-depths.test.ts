import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { queueDepths, readDepths } from './queue-depths.ts';

test('readDepths rejects, saying where and without the password, where the broker is silent; queueDepths is undefined', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo; // Of a server that listens on TCP.
  const address = { url: `amqp://waybell-operator:open-sesame@127.0.0.1:${port}` };
  try {
    const reason = await readDepths(address, ['waybell.rejected'], 200).catch(String);
    expect(reason).toContain(`RabbitMQ at 127.0.0.1:${port}`);
    expect(reason).not.toContain('sesame');
    expect(await queueDepths(address, ['waybell.rejected'], 200)).toBeUndefined();
  } finally {
    server.close();
  }
});
