import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { until } from '@waybell/runtime/testing/until';
import { aLocationReport } from '../../testing/location-report.ts';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import type { Scene } from '../scene.ts';
import { runAsOperator } from '../show-runbook.ts';

export const rejected: Cause = {
  name: 'upstream publishes what breaks the contract',
  alerts: ['WaybellRejected'],
  async begin({ stack }) {
    await stack.upstream.publishRaw('shipper.order.paid', Buffer.from('{"guid":"nonsense"}'));
    return async () => undefined;
  },
};

export const suspects: Cause = {
  name: 'a handler fails',
  alerts: ['WaybellSuspects'],
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
  alerts: ['WaybellAddressesMissing'],
  async begin({ stack, receiver }) {
    const path = '/geocoder';
    const url = receiver.url(path);
    receiver.answer(path, 500);
    const changed = await stack.withSettings('location-tracker', { GEOCODER_URL: url });
    const { account } = await stack.client('shipper');
    let reports = 0;
    const reporting = setInterval(() => {
      reports += 1;
      const report = aLocationReport({
        shipper: account,
        vehicles: { [crypto.randomUUID()]: true },
        latitude: 50 + reports / 10,
        longitude: 13,
        recordedAt: wallClockMs(),
      });
      void stack.upstream.publishUntilConfirmed(report);
    }, 200);
    return async () => {
      clearInterval(reporting);
      await changed[Symbol.asyncDispose]();
    };
  },
};
