import { deactivatorSettings } from '@waybell/deactivator/config';
import { delivererSettings } from '@waybell/deliverer/config';
import { deliveryLogSettings } from '@waybell/delivery-log-service/config';
import { routerSettings } from '@waybell/event-router/config';
import { scheduleSettings } from '@waybell/line/line-topology';
import { declareSettings } from '@waybell/line/operating/declare';
import { trackerSettings } from '@waybell/location-tracker/config';
import type { Per } from '@waybell/runtime/environment';
import { subscriptionApiSettings } from '@waybell/subscription-api/config';

export type Setting = {
  desc?: string | undefined;
  default?: unknown;
  example?: string | undefined;
  per?: Per;
  isConstant?: true;
  _parse?: unknown;
};

/** The settings and constants of each process or command, by its name. */
const SPECS: Record<string, Record<string, Setting>> = {
  'subscription-api': subscriptionApiSettings,
  'event-router': routerSettings,
  'location-tracker': trackerSettings,
  deliverer: delivererSettings,
  deactivator: deactivatorSettings,
  'delivery-log': deliveryLogSettings,
  '`waybell declare`': { ...declareSettings, ...scheduleSettings },
};

const part = (isWanted: (setting: Setting) => boolean) =>
  Object.fromEntries(
    Object.entries(SPECS).map(([reader, specs]) => [
      reader,
      Object.fromEntries(Object.entries(specs).filter(([, setting]) => isWanted(setting))),
    ]),
  );

/** The settings that each reads. */
export const READERS = part(({ isConstant }) => isConstant !== true);

/** Constants of all services: nobody can set them. */
export const constants: Record<string, Setting> = Object.assign(
  {},
  ...Object.values(part(({ isConstant }) => isConstant === true)),
);

/** The names of all settings. */
export const settingNames: readonly string[] = [
  ...new Set(Object.values(READERS).flatMap((specs) => Object.keys(specs))),
];
