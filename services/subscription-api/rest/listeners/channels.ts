import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';

/** `begun`: messages arrive from now on; called again when the connection was away meanwhile. */
export type Taker = { heard: (text: string) => void; begun?: () => void };

export type Channels = {
  /** Passes on messages of a channel, until the returned function is called. */
  take(channel: string, taker: Taker): () => void;
  /** Finds out that Redis hangs: a connection that only hears would not. */
  look(): Promise<void>;
};

/**
 * Channels of Redis, on a connection that does nothing else. Messages are lost while that is away, and their publisher is
 * informed.
 */
export function openChannels({ hearing, log }: { hearing: Redis; log: Log }): Channels {
  const takers = new Map<string, Set<Taker>>();

  async function hear(channels: readonly string[]): Promise<void> {
    try {
      if (channels.length > 0) await hearing.subscribe(...channels);
      for (const channel of channels) takers.get(channel)?.forEach(({ begun }) => begun?.());
    } catch (error) {
      log.warn({ reason: String(error) }, 'listeners.not-heard');
    }
  }

  hearing.on('ready', () => void hear([...takers.keys()]));
  hearing.on('message', (channel, text) => takers.get(channel)?.forEach(({ heard }) => heard(text)));
  return {
    take(channel, taker) {
      const others = takers.get(channel) ?? new Set();
      takers.set(channel, others.add(taker));
      if (hearing.status === 'ready') void hear([channel]);
      return () => {
        others.delete(taker);
        if (others.size > 0) return;
        takers.delete(channel);
        void hearing.unsubscribe(channel).catch(() => undefined);
      };
    },
    look: async () => void (await hearing.ping()),
  };
}
