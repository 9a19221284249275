import { randomUUID } from 'node:crypto';
import type { Hold } from '@waybell/deliverer/flow/endpoint';
import type { DeliveryTarget } from '@waybell/deliverer/find-target';
import type { ActiveSubscription } from '@waybell/event-router/route-event';
import type { Deactivated, DeliveryEnd, InterfaceName } from '@waybell/line/outcomes';

/** A subscription as the table has it. */
export type Row = {
  guid: string;
  interface: InterfaceName;
  action: string;
  account: string;
  client: string;
  generation: number;
  state: DeliveryTarget['state'];
  isFeatureOn: boolean;
  auditFieldSet: string[] | null;
  callbackUrl: string;
  held?: Hold;
  isGone?: true;
  /** When a rule switched it off, by the time of the record that said so. */
  offAt?: number;
};

/** Returns the signing secret of its deliveries. */
export const secretOf = (account: string): string => `whsec_${Buffer.from(account).toString('base64')}`;

/** Replaces the tables: the steps' queries and changes of subscriptions. */
export class MemorySubscriptions {
  readonly rows: Row[] = [];
  /** Subscriptions that a rule switched off, in this order. */
  readonly deactivations: Deactivated[] = [];
  offOnExhausted: readonly InterfaceName[] = [];

  add(what: Partial<Row> & Pick<Row, 'interface' | 'action' | 'account'>): Row {
    const guid = randomUUID();
    const row: Row = {
      guid,
      client: 'default',
      generation: 1,
      state: 'active',
      isFeatureOn: true,
      auditFieldSet: null,
      callbackUrl: `https://receiver.example/${guid}`,
      ...what,
    };
    this.rows.push(row);
    return row;
  }

  find(interfaceName: string, action: string, account: string): ActiveSubscription[] {
    return this.rows.filter(
      (row) =>
        row.interface === interfaceName && row.action === action && row.account === account && row.state === 'active',
    );
  }

  target(guid: string): DeliveryTarget | undefined {
    const row = this.rows.find((each) => each.guid === guid);
    const [verificationToken, signingSecrets] = [`token of ${guid}`, [secretOf(row?.account ?? '')]];
    return row && { ...row, reportsSuccess: true, verificationToken, signingSecrets };
  }

  endGone(gone: readonly DeliveryEnd[], interfaces: readonly InterfaceName[]): void {
    for (const { subscription, generation } of gone) {
      const row = this.rows.find((each) => each.guid === subscription && each.generation === generation);
      const isHeld = row?.held !== undefined;
      if (row === undefined || row.state === 'ended' || isHeld || !interfaces.includes(row.interface)) continue;
      Object.assign(row, { state: 'ended', isGone: true });
    }
  }

  /** The rule of exhausted deliveries; the other one needs the real table. */
  settle(ends: readonly DeliveryEnd[]): number {
    const before = this.deactivations.length;
    for (const { delivery, isDelivered, isUncounted, subscription, generation, at } of ends) {
      const row = this.rows.find((each) => each.guid === subscription && each.generation === generation);
      if (
        isDelivered ||
        isUncounted ||
        row?.held !== undefined ||
        row?.state !== 'active' ||
        !this.offOnExhausted.includes(row.interface)
      )
        continue;
      row.state = 'deactivated';
      row.offAt = at;
      const { interface: interfaceName, action, account, client } = row;
      const of = { interface: interfaceName, action, account, client, subscription, generation, delivery, at };
      this.deactivations.push({ kind: 'deactivated', rule: 'exhausted', ...of });
    }
    return this.deactivations.length - before;
  }
}
