import { withConstants } from '@waybell/runtime/gone-settings';
import type { Scene } from '../scene.ts';

/** Starts services again with other values of settings, one after the other. */
export async function restartWith(
  { stack: { stack } }: Scene,
  services: readonly string[],
  settings: Record<string, string>,
): Promise<void> {
  for (const name of services) {
    const service = stack.service(name);
    Object.assign(service.spec.env, withConstants(settings));
    await service.restart();
  }
}
