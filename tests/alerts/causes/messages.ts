import { until } from '@waybell/runtime/testing/until';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import { reporting } from './reporting.ts';
import type { Scene } from '../scene.ts';
import { runAsOperator } from '../show-runbook.ts';

export const rejected: Cause = {
  name: 'upstream publishes what breaks the contract',
  alerts: ['WaybellRejected/rejected'],
  async begin({ stack }) {
    await stack.upstream.publishRaw('shipper.order.paid', Buffer.from('{"guid":"nonsense"}'));
    return async () => undefined;
  },
};

export const suspects: Cause = {
  name: 'a handler fails',
  alerts: ['WaybellRejected/suspects'],
  async begin(scene) {
    const load = await flow(scene, { folder: '/culprit' });
    // A token that cannot be opened, as after a botched restore.
    await scene.stack.postgres.query(
      "update waybell.subscriptions set verification_token_sealed = '\\x00' where guid = $1",
      [load.party.addresses[0]?.subscription],
    );
    return async () => {
      await load.stop();
      await until('nothing that it made fail is rejected', () => retryAll(scene));
    };
  },
};

const FAILED = "rabbitmqctl -q list_queues name messages | grep -E 'suspected|rejected$' | awk '$2 > 0'";

/** Resolves with whether all that failed has gone its way. */
async function retryAll(scene: Scene): Promise<boolean> {
  await runAsOperator('./waybell rejected retry --reason handler_failed', scene);
  const left = await runAsOperator(FAILED, scene);
  if (left !== '') throw new Error(left);
  return true;
}

export const addressesMissing: Cause = {
  name: 'the geocoder fails',
  alerts: ['WaybellPositions/addresses'],
  async begin(scene) {
    const { stack, receiver } = scene;
    const path = '/geocoder';
    const url = receiver.url(path);
    receiver.answer(path, 500);
    const changed = await stack.withSettings('location-tracker', { GEOCODER_URL: url });
    const reports = await reporting(scene);
    return async () => {
      reports[Symbol.dispose]();
      await changed[Symbol.asyncDispose]();
    };
  },
};
