import type { Attempted } from '@waybell/line/outcomes';
import { createToken } from '../tokens.ts';
import { LiveStand, type Us } from './live-stand.ts';

export type Pulled = { objects: PulledDelivery[]; next: string; more: boolean };
export type PulledDelivery = {
  guid: string;
  status: string;
  ended_at: string;
  attempts: { attempt: number; kind: string }[];
  body?: string | null;
  body_state?: string;
};

/** An API whose log is read on, by a carrier's client. */
export class PullStand extends LiveStand {
  static override async start(options: Parameters<typeof LiveStand.start>[0] = {}): Promise<PullStand> {
    const { api } = await LiveStand.start(options);
    return new PullStand(api);
  }

  async page(us: Pick<Us, 'token'>, query: string): Promise<Pulled> {
    const { status, body } = await this.api.ask('GET', `/v1/deliveries?${query}`, { token: us.token });
    if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Everything after a place, and the place after that. */
  async all(us: Pick<Us, 'token'>, after: string, more = ''): Promise<{ found: PulledDelivery[]; next: string }> {
    const found: PulledDelivery[] = [];
    let page: Pulled = { objects: [], next: after, more: true };
    while (page.more) {
      page = await this.page(us, `after=${page.next}${more}`);
      found.push(...page.objects);
    }
    return { found, next: page.next };
  }

  /** Returns the deliveries after a place that the client gets, by their guids. */
  async guids(us: Pick<Us, 'token'>, after: string, more = ''): Promise<string[]> {
    return (await this.all(us, after, more)).found.map(({ guid }) => guid);
  }

  async delivered(us: Us, attempts: readonly Attempted[], agoMs = 0): Promise<string> {
    return (await this.happens(us, attempts, agoMs)).delivery;
  }

  tokenOf({ account }: Us, clientId: string): Promise<string> {
    return createToken(this.api.store.postgres, { accountGuid: account, clientId });
  }
}
