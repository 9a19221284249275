import type { BrokerState } from '../../broker.ts';
import type { Publication } from '../../messages.ts';

/** A broker that refuses what the test says, and takes the rest. */
export class SomeBroker {
  readonly taken: Publication[] = [];
  /** Refusals by routing key; a promise delays the confirm until it resolves. */
  readonly refused = new Map<string, Error | Promise<void>>();
  readonly refusedBodies = new Map<string, Error>();
  readonly asked: string[] = [];
  readonly #listeners: ((state: BrokerState) => void)[] = [];
  #state: BrokerState;

  constructor(state: BrokerState = 'writable') {
    this.#state = state;
  }

  publish = async (publication: Publication): Promise<void> => {
    this.asked.push(bodyOf(publication));
    const refused = this.refusedBodies.get(bodyOf(publication)) ?? this.refused.get(publication.routingKey);
    if (refused instanceof Error) throw refused;
    await refused;
    this.taken.push(publication);
  };

  state = (): BrokerState => this.#state;
  onState = (listener: (state: BrokerState) => void): void => void this.#listeners.push(listener);

  become(state: BrokerState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  get bodies(): string[] {
    return this.taken.map(bodyOf);
  }
}

export function aPublication(routingKey: string, body: string, more: Partial<Publication> = {}): Publication {
  return { kind: 'publish', exchange: 'waybell.deliveries', routingKey, body: Buffer.from(body), ...more };
}

export const bodyOf = ({ body }: Publication): string => body.toString();
