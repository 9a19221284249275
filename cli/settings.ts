import { deactivatorSettings } from '@waybell/deactivator/config';
import { delivererSettings } from '@waybell/deliverer/config';
import { routerSettings } from '@waybell/event-router/config';
import { declareSettings } from '@waybell/line/operating/declare';
import { scheduleSettings } from '@waybell/line/line-topology';
import { deliveryLogSettings } from '@waybell/delivery-log-service/config';
import type { Per } from '@waybell/runtime/environment';
import { trackerSettings } from '@waybell/location-tracker/config';
import { subscriptionApiSettings } from '@waybell/subscription-api/config';

export type Setting = {
  desc?: string | undefined;
  default?: unknown;
  example?: string | undefined;
  per?: Per;
  _parse?: unknown;
};

/** The settings that each process or command reads, by its name. */
export const READERS: Record<string, Record<string, Setting>> = {
  'subscription-api': subscriptionApiSettings,
  'event-router': routerSettings,
  'location-tracker': trackerSettings,
  deliverer: delivererSettings,
  deactivator: deactivatorSettings,
  'delivery-log': deliveryLogSettings,
  '`waybell declare`': { ...declareSettings, ...scheduleSettings },
};

/** The names of all of them. */
export const settingNames: readonly string[] = [
  ...new Set(Object.values(READERS).flatMap((specs) => Object.keys(specs))),
];
