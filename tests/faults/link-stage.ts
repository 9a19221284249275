import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServers } from '@waybell/stack/servers';
import { Detour } from '@waybell/runtime/testing/detour';
import { buildPlainStage, type Scale, type Settings } from './stage.ts';

/** A broker of its own, which the services reach by a way that can be bad; upstream has another. */
export async function buildLinkStage(settings: Settings, scale: Scale) {
  const beneath = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'waybell-link-'));
  beneath.defer(() => rm(home, { recursive: true, force: true }));
  const servers = await startServers({ home, only: ['rabbitmq'] });
  beneath.defer(() => servers.stop());
  const brokerUrl = servers.url('rabbitmq');
  const detour = beneath.use(await Detour.to(brokerUrl));
  const stage = await buildPlainStage({ ...settings, AMQP_URL: detour.url }, scale, { brokerUrl, beneath });
  return { ...stage, detour };
}
