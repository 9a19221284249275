import { openCommandPublisher, type CommandPublisher } from '@waybell/line/operating/operator-line';
import { readEnvironment } from '@waybell/runtime/environment';
import { brokerSettings } from '@waybell/runtime/settings';
import { brokerOf } from '@waybell/stack/address-of';

/** A publisher on AMQP_URL or the running stack's broker. Throws where that has no line. */
export async function openLine(env: NodeJS.ProcessEnv): Promise<CommandPublisher> {
  const { CONFIRM_TIMEOUT } = readEnvironment({ CONFIRM_TIMEOUT: brokerSettings.CONFIRM_TIMEOUT }, env);
  return openCommandPublisher(brokerOf(env), CONFIRM_TIMEOUT);
}
