import { byHand, sendingsIn, type Sendings } from '@waybell/delivery-log-service/sendings';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LogStand } from '@waybell/delivery-log/testing/log-stand';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import { isRejection, type Publication } from '@waybell/line/messages';
import { publishClaimedBy } from '@waybell/line/testing/publish-claimed-by';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from '@waybell/subscription-api/accounts';
import { silentLog } from '@waybell/runtime/testing/patience';

type Publish = (publication: Publication) => Promise<void>;

/** The log's parts, and those that send by hand. Its clock is that of Postgres, as that of claims is. */
export class ByHandStand extends LogStand {
  override now = wallClockMs();
  readonly sendings = sendingsIn(this.postgres, { claimMs: 60_000 });

  static override async start(): Promise<ByHandStand> {
    return new ByHandStand(await createTestDatabase());
  }

  /** A carrier's client, of an account that is as old as this interval. */
  async someone(age = '0'): Promise<ClientReader> {
    const { guid } = await createAccount(this.store.postgres, { interface: 'carrier' });
    await this.rows('update waybell.accounts set created_at = now() - $2::interval where guid = $1', [guid, age]);
    return { account: guid, client: 'default', interface: 'carrier' };
  }

  /** Publishes what is due. Resolves with whether all of it was. */
  send(publish: Publish, sendings: Sendings = this.sendings): Promise<boolean> {
    return publishClaimedBy(byHand({ sendings, write: this.write, log: silentLog }), publish);
  }

  /** Publishes what is due, and reads it as a deliverer would. */
  async sent(): Promise<Delivery[]> {
    const sent: Delivery[] = [];
    await this.send(async (publication) => {
      const delivery = readDelivery({ queue: '', deliveryCount: 0, failures: 0, ...publication });
      if (isRejection(delivery)) throw new Error(delivery.detail);
      sent.push(delivery);
    });
    return sent;
  }
}
