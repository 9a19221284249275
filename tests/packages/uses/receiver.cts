import { createReceiver, keepSubscribed } from '@waybell/receiver';
import { postgresStore, receivedTable } from '@waybell/receiver/postgres';
import { redisStore } from '@waybell/receiver/redis';
import { signedRequest } from '@waybell/receiver/testing';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const stores = [postgresStore({ query: async () => ({ rows: [] }) }), redisStore({ command: async () => 'OK' })];

async function receive(): Promise<void> {
  for (const store of stores) {
    const receiver = createReceiver({
      interface: 'carrier',
      secrets: secret,
      store,
      on: { 'order.created': ({ data }) => console.log('used', data.id) },
      otherwise: ({ action }) => console.log('used', action),
    });
    const change = { data: { id: 12_345_678_901_234_567_890n, status: 'new' } };
    const request = signedRequest({ interface: 'carrier', action: 'order.created', secret, change });
    const answer = await receiver.fetch(request.to('https://receiver.example.com'));
    console.log('used', answer.status, receivedTable.length > 0);
  }
  const kept = keepSubscribed(createReceiver({ interface: 'carrier', handle: () => undefined }), {
    api: 'http://127.0.0.1:9',
    token: 'none',
    callbackUrl: 'https://receiver.example.com',
    actions: ['order.*'],
    onTrouble: ({ reason }) => console.log('used', reason),
  });
  await kept.ready;
  console.log('used', kept.state().troubles.length);
  await kept.close();
}

void receive();
