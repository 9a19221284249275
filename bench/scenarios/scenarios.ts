import type { Scenario } from '../lib/scenario.ts';
import { counts } from './counts.ts';
import { throughput } from './f1-throughput.ts';
import { latency } from './f2-latency.ts';
import { retries } from './f3-retries.ts';
import { hungEndpoints, hungHost } from './f4-hung-endpoints.ts';
import { subscriptions } from './f5-subscriptions.ts';
import { hotAction } from './f6-hot-action.ts';
import { http } from './f7-http.ts';
import { idle } from './f8-idle.ts';
import { logCost, log } from './log.ts';
import { low } from './low.ts';
import { outbox } from './outbox.ts';
import { parking } from './parking.ts';
import { positions } from './positions.ts';

/** Every scenario, in the order of docs/performance.md. */
export const scenarios: readonly Scenario[] = [
  throughput,
  latency,
  retries,
  hungEndpoints,
  subscriptions,
  hotAction,
  http,
  idle,
  low,
  hungHost,
  parking,
  positions,
  log,
  logCost,
  outbox,
  counts,
];
