import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@waybell/stack/ports';
import { until } from '@waybell/runtime/testing/until';
import { shared, sharedFolder } from '@waybell/runtime/testing/shared';
import { anEvent } from '../testing/event.ts';
import { TestStack } from '../testing/test-stack.ts';
import { untilTold } from '../testing/told.ts';
import { buildExample, languages, type Example } from './build-example.ts';
import { Program } from './program.ts';

const stack = shared(() => TestStack.start());
const home = sharedFolder('examples');

/** Makes an event of the maximum size. */
function largestEvent(carrier: string): { guid: string; text: string } {
  const event = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier } });
  const written = (status: string) => JSON.stringify({ ...event, payload: { id: 2, status } });
  return { guid: event.guid, text: written('x'.repeat(2 ** 20 - written('').length)) };
}

describe.each(languages)('the example in %s', (language) => {
  let example: Example;
  beforeAll(async () => {
    example = await buildExample(language, home);
  });

  test('publishes with confirms, and sends again what was not confirmed when its connection went', async () => {
    const client = await stack.client('carrier');
    const event = (id: number) =>
      anEvent({
        interface: 'carrier',
        action: 'order.created',
        parties: { carrier: client.account },
        payload: { id, status: 'new' },
      });
    const [first, second] = [event(Date.parse('2026-01-01')), event(Date.parse('2026-01-02'))];
    await using publisher = new Program(example.publish, { AMQP_URL: stack.brokerUrl });
    publisher.write(JSON.stringify(first));
    await publisher.untilPrinted(new RegExp(first.guid));
    await stack.rabbitmqctl('close_all_connections', '--vhost', stack.vhost, 'as a broker that restarts');
    publisher.write(JSON.stringify(second));
    await publisher.untilPrinted(new RegExp(second.guid));
    expect(publisher.errors).toContain(`${second.guid} is not confirmed`);
    const largest = largestEvent(client.account);
    publisher.write(largest.text);
    await publisher.untilPrinted(new RegExp(largest.guid));
    for (const { payload } of [first, second])
      await untilTold(client, String(payload['id']), ['suppressed no_subscription']);
  });

  test.each(['its password', 'what it may'])('stops where the broker refuses %s, and says so', async (what) => {
    const url = new URL(stack.brokerUrl);
    url.password = 'wrong';
    if (what === 'what it may') {
      url.username = `poor-${language}`;
      await stack.rabbitmqctl('add_user', url.username, url.password);
      await stack.rabbitmqctl('set_permissions', '-p', stack.vhost, url.username, '', '^$', '');
    }
    await using publisher = new Program(example.publish, { AMQP_URL: url.href });
    publisher.write(JSON.stringify(anEvent({ interface: 'carrier', action: 'order.created', parties: {} })));
    expect(await publisher.untilEnded()).not.toBe(0);
    expect(publisher.errors).toContain('refused by the broker');
    expect(publisher.lines).toEqual([]);
  });

  test('has what is too large rejected, and stops where the broker does not take it at all', async () => {
    const client = await stack.client('carrier');
    await using publisher = new Program(example.publish, { AMQP_URL: stack.brokerUrl });
    const event = (bytes: number) =>
      anEvent({
        interface: 'carrier',
        action: 'order.created',
        parties: { carrier: client.account },
        payload: { id: 3, status: 'x'.repeat(bytes) },
      });
    const [rejected, refused] = [event(2 * 2 ** 20), event(17 * 2 ** 20)];
    publisher.write(JSON.stringify(rejected));
    await publisher.untilPrinted(new RegExp(rejected.guid));
    publisher.write(JSON.stringify(refused));
    expect(await publisher.untilEnded()).not.toBe(0);
    expect(publisher.errors).toContain('refused by the broker');
    expect(publisher.lines).toEqual([rejected.guid]);
  });

  test('receives what is genuine, once, to the digit, and refuses the rest', async () => {
    const client = await stack.client('carrier');
    const port = await freePort({ taken: new Set() });
    const url = `http://127.0.0.1:${port}/`;
    const token = await client.subscribe('order.created', url);
    const [secret = ''] = await client.signingSecrets();
    await using receiver = await receiving(example, port, secret);

    const event = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: client.account } });
    const body = JSON.stringify({ ...event, payload: { id: 'ID', status: 'new' } });
    const written = body.replace('"ID"', '9007199254740993');
    await stack.upstream.publishRaw('carrier.order.created', Buffer.from(written), event.guid);
    const line = await receiver.untilPrinted(/order\.created/);
    expect(line).toContain('9007199254740993');
    const at = /^order\.created at (\S+(?:Z|\+00:00)) /.exec(line)?.[1] ?? 'no time';
    expect(Date.parse(at)).toBe(Date.parse(event.occurred_at));

    const largest = largestEvent(client.account);
    await stack.upstream.publishRaw('carrier.order.created', Buffer.from(largest.text), largest.guid);
    await receiver.untilPrinted(/order\.created.*x{1000}/);

    const headers = { 'webhook-id': 'x', 'X-Service-Verification-Token': token };
    const forged = await fetch(url, { method: 'POST', body: written, headers });
    expect(forged.status).toBe(401);

    const id = await until('it is in the log', async () => {
      const { body: page } = await client.call('GET', '/v1/deliveries?status=delivered');
      return (page as { objects: { guid: string }[] }).objects.at(-1)?.guid;
    });
    const sent = await client.call('POST', `/v1/deliveries/${id}/resend`);
    expect(sent.status).toBeLessThan(300);
    await until('it was delivered twice', async () => {
      const { body: told } = await client.call('GET', `/v1/deliveries/${id}`);
      return (told as { attempts: unknown[] }).attempts.length === 2;
    });
    expect((await client.call('POST', '/v1/triggers', { action: 'order.created' })).status).toBe(202);
    await receiver.untilPrinted(/^a test/);
    expect(receiver.lines.filter((each) => each.includes('order.created'))).toHaveLength(2);
    expect(receiver.errors).toBe('');
  });

  test('reads the time of what shippers get', async () => {
    const client = await stack.client('shipper');
    const port = await freePort({ taken: new Set() });
    await client.subscribe('order.paid', `http://127.0.0.1:${port}/`);
    const [secret = ''] = await client.signingSecrets();
    await using receiver = await receiving(example, port, secret);
    const { occurred_at: occurredAt } = await client.hear('order.paid');
    const line = await receiver.untilPrinted(/order\.paid/);
    expect(Date.parse(/ at (\S+) /.exec(line)?.[1] ?? 'no time')).toBe(Date.parse(occurredAt));
  });

  test('receives what is subscribed while it runs, and goes on through a rotation of the secret', async () => {
    const client = await stack.client('carrier');
    const port = await freePort({ taken: new Set() });
    const url = `http://127.0.0.1:${port}/`;
    await client.subscribe('order.created', url);
    const [before = ''] = await client.signingSecrets();
    {
      await using receiver = await receiving(example, port, before);
      await client.subscribe('order.assigned', url);
      for (const action of ['order.assigned', 'order.created']) {
        await client.hear(action);
        await receiver.untilPrinted(new RegExp(`^${action}`));
      }
      await client.signingSecrets('rotated');
      await client.hear('order.assigned');
      await until(
        'it is received',
        () => receiver.lines.filter((each) => each.startsWith('order.assigned')).length === 2,
      );
    }
    const [after = ''] = await client.signingSecrets();
    const [another = ''] = await (await stack.client('carrier')).signingSecrets();
    for (const secrets of [`${another},${before}`, `${another},${after}`]) {
      await using receiver = await receiving(example, port, secrets);
      await client.hear('order.assigned');
      await receiver.untilPrinted(/^order\.assigned/);
    }
  });
});

async function receiving({ receive }: Example, port: number, secrets: string): Promise<Program> {
  const receiver = new Program([...receive, String(port)], { SIGNING_SECRETS: secrets });
  await receiver.untilPrinted(/^listening/);
  return receiver;
}
