import { putPublications } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { describe, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { DEAD_ACTION, deadShipper } from '../testing/dead-shipper.ts';
import { ask } from '../testing/told.ts';
import { to } from './places.ts';
import { signedIn, signedOut } from './signed-in.ts';
import { anAccount, operatorsUrl, operatorToken, receiver, stack, subscribed } from './stand.ts';

export function operatorPages(): void {
  describe('the console of operators', () => {
    test('shows what was wrong with a rejected event, checks its correction, and publishes it', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.created');
      const { guid } = await carrier.hear('order.created', { payload: { id: 'seven', status: 'new' } });
      const token = await operatorToken();
      await until('it is rejected', async () => (await rejectedAbout(guid, token)) > 0);
      const opened = await signedIn({ token, at: 'operator' });
      const { page } = opened;
      await page.getByRole('link', { name: 'Rejected', exact: true }).click();
      await to(page, `/rejected?about=${guid}`);
      const row = page.getByRole('row').filter({ hasText: 'payload_invalid' });
      await row.getByRole('link', { name: /^Correct/ }).click();
      const editor = page.getByLabel('Event to publish');
      const publish = page.getByRole('button', { name: 'Publish' });
      await page.getByText('/payload/id').first().waitFor();
      await until('it cannot be published', () => publish.isDisabled());
      // The browser logs the answer to a check so.
      await opened.untilTrouble(/422/);
      await editor.fill((await editor.inputValue()).replace('"seven"', '7'));
      await page.getByText('Valid: it is published').waitFor();
      await publish.click();
      await page.getByText(guid).first().waitFor();
      const delivery = messageGuid(guid, subscription);
      await until('it is delivered', async () => {
        const { objects } = await ask<{ objects: { guid: string; status: string }[] }>(carrier, '/v1/deliveries');
        return objects.some((each) => each.guid === delivery && each.status === 'delivered');
      });
    });

    test('shows what waits for an endpoint and for RabbitMQ, why, and who sees to it', async () => {
      const { client, hung } = await deadShipper({ stack, receiver, waiting: 3 });
      await putPublication('x k.l');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await page.getByRole('link', { name: 'Queues', exact: true }).click();
      const endpoint = page.getByRole('row').filter({ hasText: hung.path });
      await endpoint.filter({ hasText: 'not answering' }).filter({ hasText: '3' }).waitFor();
      const destination = page
        .getByRole('region', { name: /^Buffered in Postgres/ })
        .getByRole('row')
        .filter({ hasText: 'k.l' });
      await destination.filter({ hasText: 'event-router' }).filter({ hasText: 'next try' }).waitFor();
      await stack.postgres.query('delete from waybell.router_outbox');
      await client.unsubscribe(DEAD_ACTION);
      hung.answer(500);
      await until('nothing waits any more', async () => (await endpoint.count()) === 0);
    });

    test('is closed to a token of a client', async () => {
      const { token } = await anAccount('carrier');
      const { page, untilTrouble } = await signedOut({ at: 'operator' });
      await page.getByLabel('Access token').fill(token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'needs the scope admin' }).waitFor();
      await untilTrouble(/403/);
    });
  });
}

/** One that is due in an hour. */
async function putPublication(name: string): Promise<void> {
  await putPublications(stack.postgres, 'router', name, 1, 3_600_000);
}

async function rejectedAbout(guid: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${operatorsUrl()}/v1/admin/rejected?about=${guid}`, { headers });
  // The shape is the contract's; while others look at what is rejected, there is another answer.
  return answer.ok ? ((await answer.json()) as { objects: unknown[] }).objects.length : 0;
}
