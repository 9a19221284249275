import { subscribed } from '../../testing/subscribers.ts';
import type { Cause } from '../cause.ts';
import { restartWith } from './restart-with.ts';

const NEW = { delays: '2s,4s,8s,16s,32s', firstMs: 2_000 };

export const changedDelays: Cause = {
  name: 'the delays between retries are changed',
  alerts: [],
  pages: ['changed-delays'],
  inWords: {
    "rabbitmqctl -q list_queues name messages | grep '^waybell.retry.shipper.order.paid' | sort": (scene) =>
      restartWith(scene, ['subscription-api', 'deliverer'], { SHIPPER_RETRY_DELAYS: NEW.delays }),
  },
  async begin(scene) {
    const { stack, receiver } = scene;
    const wanted = { interface: 'shipper', action: 'order.paid', folder: '/delays', answers: [500, 200] } as const;
    const party = await subscribed(scene, wanted);
    return async () => {
      await stack.upstream.publish(party.anEvent());
      const [first, second] = await receiver.untilReceived(party.addresses[0]?.path ?? '', 2);
      const waitedMs = (second?.at ?? 0) - (first?.at ?? 0);
      if (waitedMs < NEW.firstMs) throw new Error(`the first retry came after ${waitedMs} ms`);
    };
  },
};
